/** Panning and zooming of an SVG element, by the mouse (d3-zoom) and by the page. */

import { select } from "d3-selection";
import { zoom, zoomIdentity, type ZoomTransform } from "d3-zoom";

import type { Point } from "./geometry";
import { centred, fitting, inSight, legible, type Size, type Transform } from "./transform";

const SMOOTH_MS = 350;
const SCALES = [0.05, 3] as const;

export class Viewport {
  /** What is drawn. */
  transform = $state.raw<Transform>({ x: 0, y: 0, scale: 1 });
  /** Whether changes of `transform` are animated now. */
  smooth = $state(false);
  /** Whether the graph was moved since it was fitted. */
  moved = false;

  // Read outside of effects, which must not run again with each frame of a movement.
  #present: Transform = { x: 0, y: 0, scale: 1 };
  #size: Size = { width: 0, height: 0 };
  /** The size of the element, for what is drawn. */
  size = $state.raw<Size>({ width: 0, height: 0 });
  /** The point that was brought into the middle, until the graph is moved again. */
  #middle: Point | null = null;
  #svg: SVGSVGElement | null = null;
  readonly #zoom = zoom<SVGSVGElement, unknown>()
    .scaleExtent([...SCALES])
    .filter((event: Event & { button?: number }) => !event.button)
    .on("zoom", (event: { transform: ZoomTransform; sourceEvent: unknown }) => {
      const { x, y, k } = event.transform;
      this.#present = this.transform = { x, y, scale: k };
      if (!event.sourceEvent) return;
      this.moved = true;
      this.#middle = null;
    });

  /** Takes the element; `resized` is called when its size is known, and when it changes. */
  attach(svg: SVGSVGElement, resized: () => void): () => void {
    this.#svg = svg;
    select(svg).call(this.#zoom).on("dblclick.zoom", null);
    const observer = new ResizeObserver(([entry]) => {
      if (!entry) return;
      this.#size = { width: entry.contentRect.width, height: entry.contentRect.height };
      this.size = this.#size;
      resized();
    });
    observer.observe(svg);
    return () => observer.disconnect();
  }

  /** Shows the whole graph. */
  fit(graph: Size, smooth = true): void {
    const to = fitting(this.#size, graph);
    if (!to) return;
    this.#go(to, smooth);
    this.moved = false;
  }

  /** Shows a graph large enough to be read, if need be only what is around a point. */
  read(graph: Size, top: Point, smooth = true): void {
    const to = legible(this.#size, graph, top);
    if (!to) return;
    this.#go(to, smooth);
    this.moved = false;
  }

  /** Brings a point into the middle. `moved` is false where the page does it for a new size. */
  centre(point: Point, smooth = true, moved = true): void {
    this.#go(centred(this.#size, point, this.#present), smooth);
    this.moved = moved;
    this.#middle = point;
  }

  /** Brings a point into sight, unless it is; one in the middle stays there when the size changes. */
  reveal(point: Point, moved = true): void {
    if (this.hasInMiddle(point) || !inSight(this.#size, point, this.#present))
      this.centre(point, true, moved);
  }

  /** Whether a point was brought into the middle, and the graph was not moved since. */
  hasInMiddle(point: Point): boolean {
    return point === this.#middle;
  }

  scaleBy(factor: number): void {
    if (!this.#svg) return;
    this.moved = true;
    this.#middle = null;
    this.#animate();
    select(this.#svg).call(this.#zoom.scaleBy, factor);
  }

  #go({ x, y, scale }: Transform, smooth: boolean): void {
    if (!this.#svg) return;
    if (smooth) this.#animate();
    else this.smooth = false;
    this.#middle = null;
    select(this.#svg).call(this.#zoom.transform, zoomIdentity.translate(x, y).scale(scale));
  }

  #animate(): void {
    this.smooth = true;
    setTimeout(() => (this.smooth = false), SMOOTH_MS);
  }
}

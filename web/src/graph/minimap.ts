/** A small picture of a whole graph, with the part that is in view. */

import type { Point } from "./geometry";
import type { Size, Transform } from "./transform";

const WIDEST = 168;
const HIGHEST = 116;
/** In a small view the map takes this part of its width and of its height at most. */
const LARGEST_PART = 0.3;
/** In a view that is narrower than this a map would cover boxes, and stands below it. */
const NARROW = 560;
const HIGHEST_BELOW = 64;

export interface Minimap extends Size {
  /** The size of the graph in the map, as a part of its own. */
  readonly scale: number;
  /** The part of the graph that is in view, in pixels of the map. */
  readonly frame: Size & Point;
  /** Whether the map stands below the view, and not in its corner. */
  readonly below: boolean;
}

/** The map of a graph; null if the whole graph is in view, or nothing is known of the view. */
export function minimapOf(graph: Size, view: Size, { x, y, scale }: Transform): Minimap | null {
  if (!view.width || !graph.width || !graph.height) return null;
  const inView =
    x >= -1 &&
    y >= -1 &&
    x + graph.width * scale <= view.width + 1 &&
    y + graph.height * scale <= view.height + 1;
  if (inView) return null;
  const below = view.width < NARROW;
  const highest = below ? HIGHEST_BELOW : Math.min(HIGHEST, LARGEST_PART * view.height);
  const small = Math.min(
    Math.min(WIDEST, LARGEST_PART * view.width) / graph.width,
    highest / graph.height,
  );
  const [width, height] = [graph.width * small, graph.height * small];
  const clipped = (value: number, most: number) => Math.min(Math.max(value, 0), most);
  const left = clipped((-x / scale) * small, width);
  const top = clipped((-y / scale) * small, height);
  const right = clipped(((view.width - x) / scale) * small, width);
  const bottom = clipped(((view.height - y) / scale) * small, height);
  return {
    width,
    height,
    scale: small,
    below,
    frame: { x: left, y: top, width: right - left, height: bottom - top },
  };
}

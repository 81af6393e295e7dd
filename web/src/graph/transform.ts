/** How a graph is moved and scaled to be seen; sizes and places are in pixels. */

import type { Point } from "./geometry";

export interface Size {
  readonly width: number;
  readonly height: number;
}

/** A point of the graph is seen at `(x, y)` plus `scale` times its place. */
export interface Transform {
  readonly x: number;
  readonly y: number;
  readonly scale: number;
}

/** Left free below, where legends are. */
const FOOT = 24;
const WIDEST_MARGIN = 28;
/** A small graph is not made larger than this. */
const LARGEST_SCALE = 1.1;
/** Boxes can be read from this scale on. */
const READABLE_SCALE = 0.7;
/** The least scale of a graph that is made for reading. */
const LEGIBLE_SCALE = 0.85;
/** A box nearer to the edge of the view than this is not in sight. */
const EDGE = 40;

/** Shows the whole graph in the middle; null if there is no room. */
export function fitting(view: Size, graph: Size): Transform | null {
  if (!view.width || !view.height) return null;
  const margin = Math.min(WIDEST_MARGIN, view.width * 0.04);
  const room = { width: view.width - 2 * margin, height: view.height - 2 * margin - FOOT };
  const scale = Math.min(room.width / graph.width, room.height / graph.height, LARGEST_SCALE);
  return {
    x: (view.width - graph.width * scale) / 2,
    y: (view.height - FOOT - graph.height * scale) / 2,
    scale,
  };
}

/**
 * Shows a graph large enough to be read: the whole graph if there is room for it, or else what is
 * around a point, which stands in the middle of the upper end. Null if there is no room.
 */
export function legible(view: Size, graph: Size, top: Point): Transform | null {
  const whole = fitting(view, graph);
  if (!whole || whole.scale >= LEGIBLE_SCALE) return whole;
  const scale = LEGIBLE_SCALE;
  // No side of the view is empty while the graph reaches beyond the other one.
  const within = (start: number, room: number, length: number) =>
    length <= room - 2 * WIDEST_MARGIN
      ? (room - length) / 2
      : Math.min(WIDEST_MARGIN, Math.max(start, room - WIDEST_MARGIN - length));
  return {
    x: within(view.width / 2 - top.x * scale, view.width, graph.width * scale),
    y: within(WIDEST_MARGIN, view.height - FOOT, graph.height * scale),
    scale,
  };
}

/** Shows a point in the middle, large enough to be read. */
export function centred(view: Size, point: Point, present: Transform): Transform {
  const scale = Math.max(present.scale, READABLE_SCALE);
  return { x: view.width / 2 - point.x * scale, y: view.height / 2 - point.y * scale, scale };
}

export function inSight(view: Size, point: Point, present: Transform): boolean {
  const x = present.x + point.x * present.scale;
  const y = present.y + point.y * present.scale;
  return x > EDGE && y > EDGE && x < view.width - EDGE && y < view.height - EDGE;
}

/** The boxes and lines of a graph as `GraphView` draws them. */

import type { Box, Direction, Line, Placed, Point } from "./geometry";
import { curve, loop } from "./layout";

export interface GraphBox extends Box {
  /** What a screen reader says. */
  readonly label: string;
  /** The text that `Find` looks in; by default the label. */
  readonly text?: string;
}

export const TONES = ["plain", "moved", "faint", "lit"] as const;
export type Tone = (typeof TONES)[number];

export interface GraphLine extends Line {
  /** In pixels; 1.5 by default. */
  readonly width?: number;
  readonly text?: string;
  readonly tone?: Tone;
}

/** Boxes and lines with the layout that was made of them. */
export interface PlacedGraph<B extends GraphBox> {
  readonly boxes: readonly B[];
  readonly lines: readonly GraphLine[];
  readonly at: Placed;
}

/** The ids of the boxes in whose text all words occur; null if there are no words. */
export function matchingBoxes(
  boxes: readonly GraphBox[],
  sought: string,
): ReadonlySet<string> | null {
  const words = sought.toLowerCase().split(/\s+/).filter(Boolean);
  if (!words.length) return null;
  const matches = ({ text, label }: GraphBox) => {
    const own = (text ?? label).toLowerCase();
    return words.every((word) => own.includes(word));
  };
  return new Set(boxes.filter(matches).map(({ id }) => id));
}

/** The path of a line as the `d` of an SVG path, and the middle of its text. */
export interface LineShape {
  readonly d: string;
  readonly label: Point;
}

export function lineShape(
  line: GraphLine,
  at: Placed,
  heightOf: (id: string) => number,
  direction: Direction,
): LineShape {
  const box = at.boxes[line.to];
  if (line.from === line.to && box) {
    const height = heightOf(line.to);
    return { d: loop(box, height), label: { x: box.x, y: box.y - height / 2 - 26 } };
  }
  const points = at.lines[line.id] ?? [];
  return { d: curve(points, direction), label: at.labels?.[line.id] ?? middle(points) };
}

function middle(points: readonly Point[]): Point {
  const k = (points.length - 1) / 2;
  const [a, b] = [points[Math.floor(k)], points[Math.ceil(k)]];
  return a && b ? { x: (a.x + b.x) / 2, y: (a.y + b.y) / 2 } : { x: 0, y: 0 };
}

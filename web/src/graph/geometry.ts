/** Boxes and lines of a graph, and where they are. Sizes are in pixels. */

export interface Box {
  readonly id: string;
  readonly width: number;
  readonly height: number;
}

export interface Line {
  readonly id: string;
  readonly from: string;
  readonly to: string;
  /** The width of the text on the line, for which room is left. */
  readonly label?: number;
}

/** Which way lines go: up, down, or to the right. */
export type Direction = "up" | "down" | "right";

export interface Point {
  readonly x: number;
  readonly y: number;
}

/** Centres of boxes and the points of lines, by their ids. */
export interface Placed {
  readonly width: number;
  readonly height: number;
  readonly boxes: Readonly<Record<string, Point>>;
  readonly lines: Readonly<Record<string, readonly Point[]>>;
  /** The middle of the texts on lines; by default that of the line. */
  readonly labels?: Readonly<Record<string, Point>>;
}

export interface Spacing {
  /** Between boxes of a layer. */
  readonly between: number;
  /** Between layers. */
  readonly layers: number;
}

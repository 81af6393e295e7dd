/** Lays graphs out beside the page, which stays quick however large they are. */

import { placed, type Box, type Direction, type Line, type Placed, type Spacing } from "./layout";

export interface Task {
  readonly number: number;
  readonly boxes: readonly Box[];
  readonly lines: readonly Line[];
  readonly direction: Direction;
  readonly spacing: Spacing;
}

export type Done = { readonly number: number } & (
  | { readonly placed: Placed }
  | { readonly error: string }
);

addEventListener("message", ({ data }: MessageEvent<Task>) => {
  const { number, boxes, lines, direction, spacing } = data;
  let done: Done;
  try {
    done = { number, placed: placed(boxes, lines, direction, spacing) };
  } catch (error) {
    done = { number, error: String(error) };
  }
  postMessage(done);
});

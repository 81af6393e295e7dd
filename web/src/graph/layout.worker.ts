/** Lays graphs out in a worker, so that the page answers however large a graph is. */

import type { Box, Direction, Line, Placed, Spacing } from "./geometry";
import { placed } from "./layout";

export interface LayoutRequest {
  readonly number: number;
  readonly boxes: readonly Box[];
  readonly lines: readonly Line[];
  readonly direction: Direction;
  readonly spacing: Spacing;
}

export type LayoutAnswer = { readonly number: number } & (
  | { readonly placed: Placed }
  | { readonly error: string }
);

addEventListener("message", ({ data }: MessageEvent<LayoutRequest>) => {
  const { number, boxes, lines, direction, spacing } = data;
  let answer: LayoutAnswer;
  try {
    answer = { number, placed: placed(boxes, lines, direction, spacing) };
  } catch (error) {
    answer = { number, error: String(error) };
  }
  postMessage(answer);
});

/** Layouts from the worker, in the order in which they are asked for. */

import { lineTextWidth } from "./fit";
import type { GraphLine } from "./elements";
import type { Box, Direction, Placed, Spacing } from "./geometry";
import type { LayoutAnswer, LayoutRequest } from "./layout.worker";
import LayoutWorker from "./layout.worker?worker";

interface Pending {
  readonly resolve: (placed: Placed) => void;
  readonly reject: (error: Error) => void;
}

let worker: Worker | null = null;
let count = 0;
const pending = new Map<number, Pending>();

function started(): Worker {
  if (worker !== null) return worker;
  worker = new LayoutWorker();
  worker.addEventListener("message", ({ data }: MessageEvent<LayoutAnswer>) => {
    const { number } = data;
    if ("placed" in data) pending.get(number)?.resolve(data.placed);
    else pending.get(number)?.reject(new Error(data.error));
    pending.delete(number);
  });
  return worker;
}

/** Starts the worker, so that the first layout need not wait for it. */
export const warm = (): void => void started();

/** Places boxes in layers, with room for the texts of lines. */
export function layoutOf(
  boxes: readonly Box[],
  lines: readonly GraphLine[],
  direction: Direction,
  spacing: Spacing,
): Promise<Placed> {
  const number = (count += 1);
  const request: LayoutRequest = {
    number,
    boxes: boxes.map(({ id, width, height }) => ({ id, width, height })),
    lines: lines.map(({ id, from, to, text }) => ({
      id,
      from,
      to,
      ...(text && { label: lineTextWidth(text) + 14 }),
    })),
    direction,
    spacing,
  };
  return new Promise((resolve, reject) => {
    pending.set(number, { resolve, reject });
    started().postMessage(request);
  });
}

/** Layouts from the worker, one after the other. */

import type { Box, Direction, Line, Placed, Spacing } from "./layout";
import type { Done, Task } from "./layout.worker";
import LayoutWorker from "./layout.worker?worker";

interface Waiting {
  readonly resolve: (placed: Placed) => void;
  readonly reject: (error: Error) => void;
}

let worker: Worker | null = null;
let count = 0;
const waiting = new Map<number, Waiting>();

function started(): Worker {
  if (worker !== null) return worker;
  worker = new LayoutWorker();
  worker.addEventListener("message", ({ data }: MessageEvent<Done>) => {
    const who = waiting.get(data.number);
    waiting.delete(data.number);
    if ("placed" in data) who?.resolve(data.placed);
    else who?.reject(new Error(data.error));
  });
  return worker;
}

/** Starts the worker, so that the first layout need not wait for it. */
export const warm = (): void => void started();

export function layoutOf(
  boxes: readonly Box[],
  lines: readonly Line[],
  direction: Direction,
  spacing: Spacing,
): Promise<Placed> {
  const number = (count += 1);
  const task: Task = {
    number,
    boxes: boxes.map(({ id, width, height }) => ({ id, width, height })),
    lines: lines.map(({ id, from, to, label }) => ({
      id,
      from,
      to,
      ...(label === undefined ? {} : { label }),
    })),
    direction,
    spacing,
  };
  return new Promise((resolve, reject) => {
    waiting.set(number, { resolve, reject });
    started().postMessage(task);
  });
}

/** Plans that the user keeps to compare others with, until the page is closed. */

import type { Explanation } from "../api/schema";
import { cost, duration } from "../text/numbers";
import type { DrawnPlan } from "./drawn";

export interface Pin {
  /** The id of the question: of a query, its catalog and its options. */
  readonly id: string;
  readonly name: string;
  readonly drawn: DrawnPlan;
}

/** The name of a pinned plan: what it was planned for, and its cost. */
export function pinName(explanation: Explanation): string {
  const { asked, catalog, cost_model, plan, picture, minimised } = explanation;
  const length = (ticks: number) => duration(ticks, picture.seconds);
  const windows = plan.windows.map(({ range, slide }) =>
    slide > 1 ? `${length(range)} slide ${length(slide)}` : length(range),
  );
  const options = asked.options as { parallelism?: number };
  return [
    cost(explanation[minimised], picture.per),
    Object.keys((catalog["streams"] ?? {}) as object).join(", "),
    windows.length && `window ${[...new Set(windows)].join(", ")}`,
    `${cost_model} model`,
    (options.parallelism ?? 1) > 1 ? `${options.parallelism} partitions` : "",
  ]
    .filter(Boolean)
    .join(" · ");
}

class Pins {
  all = $state.raw<readonly Pin[]>([]);

  has(id: string): boolean {
    return this.all.some((one) => one.id === id);
  }

  /** Pins a plan, or unpins it. */
  toggle(explanation: Explanation): void {
    const { id, plan, picture } = explanation;
    this.all = this.has(id)
      ? this.all.filter((one) => one.id !== id)
      : [...this.all, { id, name: pinName(explanation), drawn: { plan, picture } }];
  }
}

export const pins = new Pins();

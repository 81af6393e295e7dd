/** The newest run of a plan in the service that has measured its operators. */

import type { OperatorDocument, QueryDocument, QueryLine } from "../api/schema";
import type { Measurement } from "./figures";
import { measurementOf } from "./measurement";

/** Runs of the same question that are looked at: measured figures may have changed its plan since. */
export const MOST_RUNS = 5;

type Line = Pick<QueryLine, "id" | "plan_id"> & { readonly progress: unknown };
type Run = Pick<QueryDocument, "state"> & {
  readonly plan: { readonly digest: string };
  readonly operators: readonly OperatorDocument[];
};

export interface FiguresOfRun {
  /** Null if no run of the plan has figures. */
  readonly measurement: Measurement | null;
  /** Whether a run of the plan is active, so that there may be newer figures soon. */
  readonly active: boolean;
}

/** The runs of a question that may have figures, the newest first. */
export const measuredRuns = (runs: readonly Line[], planId: string): readonly string[] =>
  runs
    .filter((one) => one.plan_id === planId && one.progress)
    .slice(-MOST_RUNS)
    .map(({ id }) => id)
    .reverse();

/**
 * Looks for the figures of a plan among the runs of its question.
 *
 * @param ids the runs, the newest first.
 * @param digest the plan; a question may have had another one before.
 * @param active the states of runs that go on.
 * @param fetch gets a run.
 */
export async function figuresOfRuns(
  ids: readonly string[],
  digest: string,
  active: ReadonlySet<Run["state"]>,
  fetch: (id: string) => Promise<Run>,
): Promise<FiguresOfRun> {
  let anyActive = false;
  for (const id of ids) {
    const { plan, operators, state } = await fetch(id);
    if (plan.digest !== digest) continue;
    anyActive ||= active.has(state);
    if (operators.length) return { measurement: measurementOf(operators), active: anyActive };
  }
  return { measurement: null, active: anyActive };
}

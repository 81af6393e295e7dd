/** The course of a run, as far as it was watched. */

import type { ProgressDocument } from "../api/schema";

export interface Moment {
  /** Seconds that it ran, over pauses. */
  readonly seconds: number;
  /** Seconds since it was taken up last, as it tells. */
  readonly told: number;
  readonly edges: number;
  readonly results: number;
  readonly lag: number | null;
  readonly state: number;
  readonly entries: number;
}

const MOST = 240;

/** The moments with another one, if it is a later one; every other one goes when there are many. */
export function longer(
  moments: readonly Moment[],
  progress: ProgressDocument,
): readonly Moment[] {
  const last = moments.at(-1);
  const told = progress.seconds;
  if (last?.told === told) return moments;
  // After a pause it counts anew.
  const since = last && told > last.told ? told - last.told : told;
  const moment = {
    seconds: (last?.seconds ?? 0) + since,
    told,
    edges: progress.edges_per_second,
    results: progress.results_per_second,
    lag: progress.lag,
    state: progress.state_bytes,
    entries: progress.state_entries,
  };
  const all = [...moments, moment];
  return all.length > MOST ? all.filter((_, k) => k % 2 === 0 || k === all.length - 1) : all;
}

/** A line through values, as the `d` of a path in a box of a size; and the same with its ground. */
export function sparkline(
  points: readonly { readonly x: number; readonly y: number }[],
  width: number,
  height: number,
): { readonly line: string; readonly area: string } {
  const first = points[0];
  const last = points.at(-1);
  if (!first || !last || points.length < 2) return { line: "", area: "" };
  const most = Math.max(...points.map(({ y }) => y));
  if (most <= 0) return { line: "", area: "" };
  const x = (value: number) => ((value - first.x) / (last.x - first.x || 1)) * width;
  const y = (value: number) => height - 2 - (value / most) * (height - 4);
  const line = points
    .map((p, k) => `${k ? "L" : "M"}${x(p.x).toFixed(1)},${y(p.y).toFixed(1)}`)
    .join("");
  return { line, area: `${line}L${width},${height}L0,${height}Z` };
}

/** Measurements of a running query over the time that it was watched. */

import type { ProgressDocument } from "../api/schema";

export interface Sample {
  /** Seconds that the query ran, without pauses. */
  readonly seconds: number;
  /** Seconds since the last start or resume, as the service reports them. */
  readonly reported: number;
  readonly edges: number;
  readonly results: number;
  readonly lag: number | null;
  readonly state: number;
  readonly entries: number;
}

const MOST_SAMPLES = 240;

/** The samples with a new one, if the service reports later seconds than before; thinned to every
 * other one when there are many. */
export function withSample(
  samples: readonly Sample[],
  progress: ProgressDocument,
): readonly Sample[] {
  const last = samples.at(-1);
  const reported = progress.seconds;
  if (last?.reported === reported) return samples;
  // After a pause the service counts from 0.
  const since = last && reported > last.reported ? reported - last.reported : reported;
  const sample = {
    seconds: (last?.seconds ?? 0) + since,
    reported,
    edges: progress.edges_per_second,
    results: progress.results_per_second,
    lag: progress.lag,
    state: progress.state_bytes,
    entries: progress.state_entries,
  };
  const all = [...samples, sample];
  return all.length > MOST_SAMPLES ? all.filter((_, k) => k % 2 === 0 || k === all.length - 1) : all;
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

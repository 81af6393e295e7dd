/** The routes of the service that the page uses. */

import { ask, type Asking } from "./client";
import type {
  Alternatives,
  ExampleDocument,
  Explanation,
  Memo,
  OptimizeBody,
  Optimized,
  StreamDocument,
  Traced,
} from "./schema";

type Signal = Pick<Asking, "signal">;

/** What may be left out of the options; OpenAPI tells defaults of ours as if they had to be there. */
export type Question = Omit<OptimizeBody, "options" | "explain"> & {
  readonly options: Partial<NonNullable<OptimizeBody["options"]>>;
};

export const optimize = (question: Question, signal?: AbortSignal) =>
  ask<Optimized>("optimize", { method: "POST", body: { ...question, explain: true }, signal });

const about = <T>(path: (id: string) => string) =>
  (id: string, signal: Signal = {}) => ask<T>(path(id), signal);

export const explanation = about<Explanation>((id) => `plans/${id}/explanation`);
export const memo = about<Memo>((id) => `plans/${id}/memo`);
export const trace = about<Traced>((id) => `plans/${id}/trace?steps=50000&tried=true`);
export const alternatives = about<Alternatives>((id) => `plans/${id}/alternatives?limit=20`);

export const examples = () => ask<readonly ExampleDocument[]>("examples");
export const streams = () => ask<readonly StreamDocument[]>("streams");
export const health = () => ask<{ status: string; version: string }>("healthz");

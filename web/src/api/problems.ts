/** Problem details (RFC 9457) as the service answers them, and the errors that carry them. */

import type { Problem } from "./schema";

export type { Problem };

/** The service currentPlan with a problem document. */
export class ProblemError extends Error {
  constructor(readonly problem: Problem) {
    super(problem.detail);
  }
}

/** The service did not answer at all. */
export class UnreachableError extends Error {}

/** The problem document in the body of a failed response; one made of its status if it has none. */
export function problemOf(body: unknown, response: Response): Problem {
  if (typeof body === "object" && body !== null && "detail" in body) return body as Problem;
  const title = response.statusText || `Status ${response.status}`;
  return { type: "about:blank", title, status: response.status, detail: title };
}

/** Whether a request ended because nobody waits for it any more. */
export const isCancelled = (error: unknown): boolean =>
  error instanceof DOMException && error.name === "AbortError";

/** The problem to show for an error; null if the request was only cancelled. */
export function problemToShow(error: unknown): Problem | null {
  if (error instanceof ProblemError)
    return error.problem.code === "E-CANCELLED" ? null : error.problem;
  if (isCancelled(error)) return null;
  const detail = error instanceof Error ? error.message : String(error);
  return { type: "about:blank", title: "No answer", status: 0, detail };
}

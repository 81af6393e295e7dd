/** Asks the service. Every answer that is none is a `ProblemError` with its problem document. */

import type { paths } from "./schema";

export type Problem =
  paths["/optimize"]["post"]["responses"][422]["content"]["application/problem+json"];

export class ProblemError extends Error {
  constructor(readonly problem: Problem) {
    super(problem.detail);
  }
}

/** The service did not answer at all. */
export class LostError extends Error {}

export interface Asking {
  readonly method?: "GET" | "POST" | "PUT" | "DELETE";
  readonly body?: unknown;
  readonly signal?: AbortSignal | undefined;
  readonly headers?: Readonly<Record<string, string>>;
}

/** What the page around this does when there is no answer, and who it says it is. */
export interface Host {
  token(): string | null;
  /** Resolves with another token, or null if there is none. */
  refused(): Promise<string | null>;
  lost(): void;
  back(): void;
}

let host: Host = {
  token: () => null,
  refused: () => Promise.resolve(null),
  lost: () => undefined,
  back: () => undefined,
};

export function setHost(given: Host): void {
  host = given;
}

/** Sends a request; asks for a token and tries again where one is needed. */
export async function send(path: string, asking: Asking = {}): Promise<Response> {
  for (let token = host.token(); ; ) {
    const response = await once(path, asking, token);
    if (response.status !== 401) return response;
    token = await host.refused();
    if (token === null) return response;
  }
}

async function once(path: string, asking: Asking, token: string | null): Promise<Response> {
  const headers: Record<string, string> = { Accept: "application/json", ...asking.headers };
  if (asking.body !== undefined) headers["Content-Type"] = "application/json";
  if (token !== null) headers["Authorization"] = `Bearer ${token}`;
  try {
    const response = await fetch(`./${path.replace(/^\//, "")}`, {
      method: asking.method ?? "GET",
      headers,
      ...(asking.body === undefined ? {} : { body: JSON.stringify(asking.body) }),
      ...(asking.signal === undefined ? {} : { signal: asking.signal }),
    });
    host.back();
    return response;
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    host.lost();
    throw new LostError("The service does not answer.");
  }
}

/** The JSON of an answer. */
export async function ask<T>(path: string, asking: Asking = {}): Promise<T> {
  const response = await send(path, asking);
  if (!response.ok) throw new ProblemError(await problemOf(response));
  return (response.status === 204 ? undefined : await response.json()) as T;
}

export async function problemOf(response: Response): Promise<Problem> {
  try {
    const document: unknown = await response.json();
    if (typeof document === "object" && document !== null && "detail" in document)
      return document as Problem;
  } catch {
    // It says nothing that we can read.
  }
  const title = response.statusText || `Status ${response.status}`;
  return { type: "about:blank", title, status: response.status, detail: title };
}

/** What to show of an error; null if it is only that nobody waits for the answer any more. */
export function shownProblem(error: unknown): Problem | null {
  if (error instanceof ProblemError) return error.problem;
  if (error instanceof DOMException && error.name === "AbortError") return null;
  const detail = error instanceof Error ? error.message : String(error);
  return { type: "about:blank", title: "No answer", status: 0, detail };
}

/**
 * The client of the service: openapi-fetch, with tokens and problem details.
 *
 * openapi-fetch stays at 0.16: the types of 0.17 turn readonly arrays into objects
 * (openapi-typescript issue 2615).
 */

import createClient, { type Middleware } from "openapi-fetch";

import { isCancelled, problemOf, ProblemError, UnreachableError } from "./problems";
import type { paths } from "./schema";

/** The token of this tab, and what happens when the service refuses it or does not answer. */
export interface Session {
  token(): string | null;
  /** Resolves with whether there is another token now. */
  requestToken(): Promise<boolean>;
  unreachable(): void;
  reachable(): void;
}

let session: Session = {
  token: () => null,
  requestToken: () => Promise.resolve(false),
  unreachable: () => undefined,
  reachable: () => undefined,
};

export function setSession(next: Session): void {
  session = next;
}

const middleware: Middleware = {
  onRequest({ request }) {
    const token = session.token();
    if (token !== null) request.headers.set("Authorization", `Bearer ${token}`);
  },
  onResponse() {
    session.reachable();
  },
  onError({ error }) {
    if (isCancelled(error)) return;
    session.unreachable();
    return new UnreachableError("The service does not answer.");
  },
};

/** A client of the service at `baseUrl`. */
export function clientOf(baseUrl: string) {
  const client = createClient<paths>({ baseUrl, headers: { Accept: "application/json" } });
  client.use(middleware);
  return client;
}

interface Answer<T> {
  readonly data?: T;
  readonly error?: unknown;
  readonly response: Response;
}

/**
 * The body of the answer to a request of a client. The request is made again with another token
 * where the service wants one: at once if the token changed after it was sent.
 *
 * @throws ProblemError if the answer is a problem.
 * @throws UnreachableError if there is no answer.
 */
export async function bodyOf<T>(request: () => Promise<Answer<T>>): Promise<T> {
  let sent = session.token();
  let answer = await request();
  while (
    answer.response.status === 401 &&
    (session.token() !== sent || (await session.requestToken()))
  ) {
    sent = session.token();
    answer = await request();
  }
  if (!answer.response.ok) throw new ProblemError(problemOf(answer.error, answer.response));
  return answer.data as T;
}

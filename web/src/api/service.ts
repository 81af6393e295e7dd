/** The routes of the service that the page uses; types and paths are those of its OpenAPI. */

import { bodyOf, clientOf } from "./client";
import type { OptimizeBody, QueryBody } from "./schema";

/** The page lies beside the routes of the service, wherever the service is mounted. */
const BASE = ".";
const client = clientOf(BASE);

type Signal = AbortSignal | null;

const of = (id: string, signal: Signal = null) => ({ params: { path: { id } }, signal });

export const optimize = (body: OptimizeBody, signal: Signal = null) =>
  bodyOf(() => client.POST("/optimize", { body: { ...body, explain: true }, signal }));

/** Parses a query without planning it. */
export const parse = (body: OptimizeBody, signal: Signal = null) =>
  bodyOf(() => client.POST("/explain", { body: { ...body, stage: "query" }, signal }));

export const getExplanation = (id: string, signal: Signal = null) =>
  bodyOf(() => client.GET("/plans/{id}/explanation", of(id, signal)));

export const getMemo = (id: string, signal: Signal = null) =>
  bodyOf(() => client.GET("/plans/{id}/memo", of(id, signal)));

export const getTrace = (id: string, signal: Signal = null) =>
  bodyOf(() =>
    client.GET("/plans/{id}/trace", {
      params: { path: { id }, query: { steps: 50_000, tried: true } },
      signal,
    }),
  );

export const getAlternatives = (id: string, signal: Signal = null) =>
  bodyOf(() =>
    client.GET("/plans/{id}/alternatives", { params: { path: { id }, query: { limit: 20 } }, signal }),
  );

export const listExamples = () => bodyOf(() => client.GET("/examples"));
export const listLanguages = () => bodyOf(() => client.GET("/languages"));

export const listQueries = () => bodyOf(() => client.GET("/queries"));
export const getQuery = (id: string) => bodyOf(() => client.GET("/queries/{id}", of(id)));
export const getQueryPicture = (id: string) =>
  bodyOf(() => client.GET("/queries/{id}/picture", of(id)));
export const startQuery = (body: QueryBody) => bodyOf(() => client.POST("/queries", { body }));
export const pauseQuery = (id: string) =>
  bodyOf(() => client.POST("/queries/{id}/pause", of(id)));
export const resumeQuery = (id: string) =>
  bodyOf(() => client.POST("/queries/{id}/resume", of(id)));
export const stopQuery = (id: string) => bodyOf(() => client.POST("/queries/{id}/stop", of(id)));
export const deleteQuery = (id: string) => bodyOf(() => client.DELETE("/queries/{id}", of(id)));

/** The results of a running query as a stream of server-sent events: those after an event, or the
 * newest `tail` and all later ones. */
export const streamResults = (
  id: string,
  from: { readonly lastEvent: string } | { readonly tail: number },
  signal: AbortSignal,
) =>
  bodyOf(() =>
    client.GET("/queries/{id}/results", {
      params: {
        path: { id },
        ...("tail" in from
          ? { query: { tail: from.tail } }
          : { header: { "last-event-id": from.lastEvent } }),
      },
      headers: { Accept: "text/event-stream" },
      parseAs: "stream",
      signal,
    }),
  );

/** Whether the service is ready; asked without a token, and without telling the session. */
export async function ready(): Promise<boolean> {
  try {
    return (await fetch(`${BASE}/readyz`, { cache: "no-store" })).ok;
  } catch {
    return false;
  }
}

/** The routes of the service that the page uses; types and paths are those of its OpenAPI. */

import { bodyOf, clientOf } from "./client";
import type { OptimizeBody, QueryBody, SearchDocument } from "./schema";

/** The page lies beside the routes of the service, wherever the service is mounted. */
const BASE = ".";
const client = clientOf(BASE);

type Signal = AbortSignal | null;

const of = (id: string, signal: Signal = null) => ({ params: { path: { id } }, signal });

/** A request that waits for a search: how to abort it, and its id for `getSearch`, `endSearch`. */
export interface Asking {
  readonly signal: AbortSignal;
  readonly id: string;
}

const asked = ({ id, signal }: Asking) => ({ headers: { "X-Request-Id": id }, signal });

export const optimize = (body: OptimizeBody, asking: Asking) =>
  bodyOf(() => client.POST("/optimize", { body: { ...body, explain: true }, ...asked(asking) }));

/** Parses a query without planning it. */
export const parse = (body: OptimizeBody, signal: Signal = null) =>
  bodyOf(() => client.POST("/explain", { body: { ...body, stage: "query" }, signal }));

export const getExplanation = (id: string, asking: Asking) =>
  bodyOf(() => client.GET("/plans/{id}/explanation", { ...of(id), ...asked(asking) }));

export const getMemo = (id: string, asking: Asking) =>
  bodyOf(() => client.GET("/plans/{id}/memo", { ...of(id), ...asked(asking) }));

export const getTrace = (id: string, asking: Asking) =>
  bodyOf(() =>
    client.GET("/plans/{id}/trace", {
      params: { path: { id }, query: { steps: 50_000, tried: true } },
      ...asked(asking),
    }),
  );

export const getAlternatives = (id: string, asking: Asking) =>
  bodyOf(() =>
    client.GET("/plans/{id}/alternatives", {
      params: { path: { id }, query: { limit: 20 } },
      ...asked(asking),
    }),
  );

const bySearch = (id: string) => ({ params: { path: { request_id: id } } });

/** The search that a request waits for; null if it is not known. */
export async function getSearch(id: string, signal: AbortSignal): Promise<SearchDocument | null> {
  try {
    const answer = await client.GET("/searches/{request_id}", { ...bySearch(id), signal });
    return answer.data ?? null;
  } catch {
    return null; // The request itself says that the service is away.
  }
}

/** Ends a search; its request gets the best plan, or the plans, so far. */
export const endSearch = (id: string) =>
  bodyOf(() => client.DELETE("/searches/{request_id}", bySearch(id)));

export const listExamples = () => bodyOf(() => client.GET("/examples"));
/** The streams of the service: those of its catalog, and those that were put. */
export const listStreams = () => bodyOf(() => client.GET("/streams"));
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

export const RESULT_FORMATS = [
  { format: "csv", name: "CSV" },
  { format: "jsonl", name: "JSON lines" },
  { format: "parquet", name: "Parquet" },
] as const;
export type ResultFormat = (typeof RESULT_FORMATS)[number]["format"];

/** All results of a query that the service keeps, as a file. */
export const downloadResults = (id: string, format: ResultFormat): Promise<Blob> =>
  bodyOf(() =>
    client.GET("/queries/{id}/results/file", {
      params: { path: { id }, query: { format } },
      headers: { Accept: "*/*" },
      parseAs: "blob",
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

/** The queries that run in the service, and the one that is shown. */

import { ProblemError, problemToShow, UnreachableError, type Problem } from "../api/problems";
import type { QueryBody, QueryDocument, QueryLine, RunningPicture } from "../api/schema";
import * as service from "../api/service";
import { withSample, type Sample } from "./history";
import { ResultFeed } from "./resultFeed.svelte";

const POLL_MS = 1000;
export const ACTIVE: ReadonlySet<QueryLine["state"]> = new Set([
  "starting",
  "running",
  "pausing",
  "stopping",
]);

const CHANGES = {
  pause: service.pauseQuery,
  resume: service.resumeQuery,
  stop: service.stopQuery,
};
export type Change = keyof typeof CHANGES;

class RunningQueries {
  /** All queries, the oldest first; null until they are known. */
  all = $state.raw<readonly QueryLine[] | null>(null);
  selected = $state.raw<QueryDocument | null>(null);
  /** How the plan of the selected query is drawn. */
  picture = $state.raw<RunningPicture | null>(null);
  results = $state.raw<ResultFeed | null>(null);
  samples = $state.raw<readonly Sample[]>([]);
  problem = $state.raw<Problem | null>(null);

  #id: string | null = null;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #watchers = 0;

  /** Polls the service until the function that it returns is called. */
  watch(): () => void {
    this.#watchers += 1;
    if (this.#watchers === 1) void this.#poll();
    return () => {
      this.#watchers -= 1;
      if (this.#watchers) return;
      clearTimeout(this.#timer);
      this.select(null);
    };
  }

  select(id: string | null): void {
    if (id === this.#id) return;
    this.#id = id;
    this.results?.close();
    this.selected = null;
    this.picture = null;
    this.samples = [];
    this.results = id === null ? null : new ResultFeed(id);
    if (id !== null) void this.#fetch(id);
  }

  /** Starts a query and returns its id; null if there was a problem. */
  start(body: QueryBody): Promise<string | null> {
    return this.#attempt(async () => {
      const { id } = await service.startQuery(body);
      await this.#list();
      return id;
    });
  }

  async change(id: string, change: Change): Promise<void> {
    await this.#attempt(async () => {
      const query = await CHANGES[change](id);
      if (this.#id !== id) return;
      this.selected = query;
      // Results after the pause follow those that are kept.
      if (change === "resume" && this.results?.ended) this.results = new ResultFeed(id);
    });
  }

  async delete(id: string): Promise<void> {
    await this.#attempt(() => service.deleteQuery(id));
    await this.#attempt(() => this.#list());
  }

  async #attempt<T>(act: () => Promise<T>): Promise<T | null> {
    try {
      const result = await act();
      this.problem = null;
      return result;
    } catch (error) {
      // The banner of the page tells of a service that is away.
      if (!(error instanceof UnreachableError)) this.problem = problemToShow(error);
      return null;
    }
  }

  async #poll(): Promise<void> {
    const id = this.#id;
    try {
      if (document.hidden) return;
      await this.#list();
      if (id !== null && (this.selected === null || ACTIVE.has(this.selected.state)))
        await this.#fetch(id);
    } catch (error) {
      if (error instanceof ProblemError) this.problem = error.problem;
    } finally {
      if (this.#watchers) this.#timer = setTimeout(() => void this.#poll(), POLL_MS);
    }
  }

  async #list(): Promise<void> {
    this.all = await service.listQueries();
  }

  async #fetch(id: string): Promise<void> {
    try {
      const query = await service.getQuery(id);
      const picture = this.picture ?? (await service.getQueryPicture(id));
      if (this.#id !== id) return;
      this.selected = query;
      this.picture = picture;
      if (query.progress) this.samples = withSample(this.samples, query.progress);
    } catch (error) {
      if (this.#id === id && !(error instanceof UnreachableError))
        this.problem = problemToShow(error);
    }
  }
}

export const queries = new RunningQueries();

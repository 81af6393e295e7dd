/** The newest results of a running query, as they arrive. */

import { ProblemError, problemToShow, UnreachableError, type Problem } from "../api/problems";
import { streamResults } from "../api/service";
import { eventsOf } from "./events";
import type { Result } from "./match";

const MOST_RESULTS = 400;
/** How many results are fetched that were there before. */
const TAIL = 100;
const RECONNECT_MS = 1000;

export class ResultFeed {
  /** The newest first. */
  results = $state.raw<readonly Result[]>([]);
  /** How many results the service dropped before they could be read. */
  lost = $state(0);
  ended = $state(false);
  problem = $state.raw<Problem | null>(null);

  #lastEvent: string | null = null;
  #request = new AbortController();
  #unshown: Result[] = [];
  #frame = 0;

  constructor(query: string) {
    void this.#run(query);
  }

  close(): void {
    this.#request.abort();
    cancelAnimationFrame(this.#frame);
  }

  async #run(query: string): Promise<void> {
    while (!this.ended && !this.#request.signal.aborted) {
      try {
        await this.#read(query);
        this.problem = null;
      } catch (error) {
        if (this.#request.signal.aborted) return;
        // The banner of the page tells of a service that is away.
        if (!(error instanceof UnreachableError)) this.problem = problemToShow(error);
        if (error instanceof ProblemError && error.problem.status === 404) return;
      }
      if (!this.ended) await new Promise((resolve) => setTimeout(resolve, RECONNECT_MS));
    }
  }

  async #read(query: string): Promise<void> {
    const from = this.#lastEvent === null ? { tail: TAIL } : { lastEvent: this.#lastEvent };
    const body = await streamResults(query, from, this.#request.signal);
    if (body === null) return;
    for await (const { event, id, data } of eventsOf(body)) {
      if (id !== null) this.#lastEvent = id;
      if (event === "result") this.#add({ number: Number(id), ...JSON.parse(data) } as Result);
      else if (event === "gap") this.lost += (JSON.parse(data) as { lost: number }).lost;
      else if (event === "end") this.ended = true;
    }
  }

  /** Adds a result with the next frame, as thousands may arrive at once. */
  #add(result: Result): void {
    this.#unshown.push(result);
    if (this.#unshown.length > MOST_RESULTS) this.#unshown.shift();
    if (this.#frame) return;
    this.#frame = requestAnimationFrame(() => {
      this.#frame = 0;
      this.results = [...this.#unshown.reverse(), ...this.results].slice(0, MOST_RESULTS);
      this.#unshown = [];
    });
  }
}

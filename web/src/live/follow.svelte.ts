/** The newest results of a running query, as they come. */

import { LostError, problemOf, ProblemError, send, shownProblem, type Problem } from "../api/client";
import { eventsOf } from "./events";
import type { Result } from "./match";

const MOST = 400;
const TAIL = 100;
const AGAIN_MS = 1000;

export class Follow {
  /** The newest first. */
  results = $state.raw<readonly Result[]>([]);
  /** How many were gone before they could be shown. */
  lost = $state(0);
  ended = $state(false);
  problem = $state.raw<Problem | null>(null);

  #last: string | null = null;
  #stop = new AbortController();
  #new: Result[] = [];
  #frame = 0;

  constructor(id: string) {
    void this.#run(id);
  }

  stop(): void {
    this.#stop.abort();
    cancelAnimationFrame(this.#frame);
  }

  async #run(id: string): Promise<void> {
    while (!this.ended && !this.#stop.signal.aborted) {
      try {
        await this.#connect(id);
        this.problem = null;
      } catch (error) {
        if (this.#stop.signal.aborted) return;
        // The banner of the page tells of a service that is away.
        if (!(error instanceof LostError)) this.problem = shownProblem(error);
        if (error instanceof ProblemError && error.problem.status === 404) return;
      }
      if (!this.ended) await new Promise((go) => setTimeout(go, AGAIN_MS));
    }
  }

  async #connect(id: string): Promise<void> {
    const from = this.#last === null ? `?tail=${TAIL}` : "";
    const response = await send(`queries/${id}/results${from}`, {
      signal: this.#stop.signal,
      headers: {
        Accept: "text/event-stream",
        ...(this.#last === null ? {} : { "Last-Event-ID": this.#last }),
      },
    });
    if (!response.ok || response.body === null) throw new ProblemError(await problemOf(response));
    for await (const { event, id: number, data } of eventsOf(response.body)) {
      if (number !== null) this.#last = number;
      if (event === "result") this.#take({ number: Number(number), ...JSON.parse(data) } as Result);
      else if (event === "gap") this.lost += (JSON.parse(data) as { lost: number }).lost;
      else if (event === "end") this.ended = true;
    }
  }

  /** Thousands may come at once: they are shown together. */
  #take(result: Result): void {
    this.#new.push(result);
    if (this.#new.length > MOST) this.#new.shift();
    if (this.#frame) return;
    this.#frame = requestAnimationFrame(() => {
      this.#frame = 0;
      this.results = [...this.#new.reverse(), ...this.results].slice(0, MOST);
      this.#new = [];
    });
  }
}

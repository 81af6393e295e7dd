/** The wait for a search of the service: its time, its progress, and how to end it. */

import type { SearchDocument } from "../api/schema";
import * as service from "../api/service";

/** Shorter waits have no progress. */
const FIRST_AFTER_MS = 300;
const EVERY_MS = 400;
const SHOWN_AFTER_S = 0.3;
/** The time for the service to answer with the plan so far. */
const PATIENCE_MS = 8_000;

/** An id that nobody guesses: who knows it can end the search. */
const freshId = () =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) =>
    byte.toString(16).padStart(2, "0"),
  ).join("");

export class Wait {
  /** The id of the request. */
  readonly id = freshId();
  readonly signal: AbortSignal;
  /** Since the request was sent. */
  seconds = $state(0);
  /** Whether the wait is long enough to be shown. */
  readonly long = $derived(this.seconds >= SHOWN_AFTER_S);
  /** The search; null before it is known. */
  search = $state.raw<SearchDocument | null>(null);
  /** Whether the user has ended it. */
  ending = $state(false);
  readonly #controller = new AbortController();
  readonly #started = performance.now();
  readonly #clock: ReturnType<typeof setInterval>;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor() {
    this.signal = this.#controller.signal;
    this.#clock = setInterval(() => {
      this.seconds = (performance.now() - this.#started) / 1000;
    }, 100);
    this.#pollIn(FIRST_AFTER_MS);
  }

  /** Stops the clock; call it when there is an answer. */
  done(): void {
    clearInterval(this.#clock);
    clearTimeout(this.#timer);
  }

  /** Sends nothing any more, and takes no answer. */
  abort(): void {
    this.done();
    this.#controller.abort();
  }

  /** Ends the search; the service answers with the best plan, or the plans, so far. */
  async end(): Promise<void> {
    if (this.ending) return;
    this.ending = true;
    clearTimeout(this.#timer);
    try {
      await service.endSearch(this.id);
      this.#timer = setTimeout(() => this.abort(), PATIENCE_MS);
    } catch {
      // The search has ended, or cannot be ended: the answer is not waited for.
      this.abort();
    }
  }

  #pollIn(milliseconds: number): void {
    this.#timer = setTimeout(() => void this.#poll(), milliseconds);
  }

  async #poll(): Promise<void> {
    const search = await service.getSearch(this.id, this.signal);
    if (this.signal.aborted || this.ending) return;
    if (search) this.search = search;
    this.#pollIn(EVERY_MS);
  }
}

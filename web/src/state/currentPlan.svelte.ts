/**
 * The plan that all views show.
 *
 * Its id is that of the address: `route` decides, and `App.svelte` has the plan of the address
 * opened. A query that was planned is shown by going to the address of its plan.
 */

import { ProblemError, problemToShow, UnreachableError, type Problem } from "../api/problems";
import type { Alternatives, Explanation, Memo, OptimizeBody, Traced } from "../api/schema";
import * as service from "../api/service";
import { route } from "./route.svelte";
import { Wait } from "./wait.svelte";

/**
 * A document about the plan that is fetched when a view first needs it, beside the plan if that is
 * being fetched too. It is not shown before the plan.
 */
class LazyDocument<T> {
  value = $state.raw<T | null>(null);
  /** The id of the plan that `value` is about. */
  of = $state<string | null>(null);
  problem = $state.raw<Problem | null>(null);
  /** The wait for the document; null if nothing is fetched. */
  wait = $state.raw<Wait | null>(null);
  #id: string | null = null;
  readonly #fetch: (id: string, asking: service.Asking) => Promise<T>;
  readonly #planShown: () => Promise<unknown>;

  /** With how to fetch the document, and a promise that the plan is shown, or cannot be. */
  constructor(
    fetch: (id: string, asking: service.Asking) => Promise<T>,
    planShown: () => Promise<unknown>,
  ) {
    this.#fetch = fetch;
    this.#planShown = planShown;
  }

  get busy(): boolean {
    return this.wait !== null;
  }

  /** Whether there is neither a value nor a problem, since the user ended the wait. */
  get ended(): boolean {
    return !this.wait && !this.problem && this.of !== this.#id;
  }

  /** Fetches the document of a plan unless that was done; an effect may call it each time. */
  load(id: string | null): void {
    if (id === this.#id) return;
    this.#id = id;
    this.wait?.abort();
    this.problem = null;
    if (id === null) this.value = this.of = null;
    else if (id !== this.of) void this.#load(id);
  }

  /** Fetches the document again, after a problem or for one that was cut. */
  retry(): void {
    this.wait?.abort();
    this.problem = null;
    if (this.#id !== null) void this.#load(this.#id);
  }

  async #load(id: string): Promise<void> {
    const wait = (this.wait = new Wait());
    try {
      const [value] = await Promise.all([this.#fetch(id, wait), this.#planShown()]);
      if (this.#id === id) [this.value, this.of] = [value, id];
    } catch (error) {
      if (this.#id !== id) return;
      this.value = this.of = null;
      this.problem = problemToShow(error);
    } finally {
      wait.done();
      if (this.wait === wait) this.wait = null;
    }
  }
}

class CurrentPlan {
  id = $state<string | null>(null);
  /** The plan, the plan of the query as written, pictures, formulas and reasons. */
  explanation = $state.raw<Explanation | null>(null);
  /** Why the last request failed. */
  problem = $state.raw<Problem | null>(null);
  /** The query text that `problem` is about; empty if a link was opened. */
  problemQuery = $state("");
  /** The wait for a plan; null if none is requested. */
  wait = $state.raw<Wait | null>(null);

  /** The id of the plan that is being opened by its address. */
  #opening = $state<string | null>(null);
  #opened: Promise<unknown> = Promise.resolve();
  readonly #shown = () => this.#opened;

  readonly memo = new LazyDocument<Memo>(service.getMemo, this.#shown);
  readonly trace = new LazyDocument<Traced>(service.getTrace, this.#shown);
  readonly alternatives = new LazyDocument<Alternatives>(service.getAlternatives, this.#shown);

  /** The plan that is shown or being fetched; null while a query is planned. */
  #requestedId: string | null = null;
  /** The query to plan again once the service is back, or knows the token. */
  #unanswered: OptimizeBody | null = null;

  /** The id of the plan that is shown, or will be once it is fetched. */
  get openedId(): string | null {
    return this.#opening ?? this.id;
  }

  get busy(): boolean {
    return this.wait !== null;
  }

  /** The wait for a plan, once it is long enough to be shown. */
  get longWait(): Wait | null {
    return this.wait?.long ? this.wait : null;
  }

  /** Plans a query and goes to the address of its plan; cancels a request that is not answered. */
  async optimize(body: OptimizeBody): Promise<void> {
    const previous = this.explanation?.query;
    this.#requestedId = null;
    const explanation = await this.#fetch(body.query, body, async (asking) => {
      const { id } = await service.optimize(body, asking);
      return service.getExplanation(id, asking);
    });
    const { view, id } = route.place;
    if (explanation === null || view === "live") return;
    // Back leads to the query before, not to each position of a slider.
    const replace = id === null || explanation.query === previous;
    route.go({ view, id: explanation.id }, replace);
  }

  /**
   * Shows a plan that the service keeps, unless it is shown already; an effect may call it each
   * time.
   *
   * @returns its explanation if it was fetched now.
   */
  async open(id: string): Promise<Explanation | null> {
    if (id === this.#requestedId) return null;
    this.#requestedId = this.#opening = id;
    const opened = this.#fetch("", null, (asking) => service.getExplanation(id, asking));
    this.#opened = opened;
    return opened;
  }

  /** Plans the query and fetches the documents again that failed. */
  async retry(): Promise<void> {
    if (this.#unanswered) await this.optimize(this.#unanswered);
    for (const part of [this.memo, this.trace, this.alternatives]) if (part.problem) part.retry();
  }

  async #fetch(
    query: string,
    body: OptimizeBody | null,
    get: (asking: service.Asking) => Promise<Explanation>,
  ): Promise<Explanation | null> {
    this.wait?.abort();
    const wait = (this.wait = new Wait());
    this.#unanswered = null;
    if (body) this.#opening = null;
    try {
      const explanation = await get(wait);
      if (this.wait !== wait) return null;
      this.explanation = explanation;
      this.#requestedId = this.id = explanation.id;
      this.problem = null;
      return explanation;
    } catch (error) {
      if (this.wait !== wait) return null;
      const refused = error instanceof ProblemError && error.problem.status === 401;
      const unanswered = refused || error instanceof UnreachableError;
      if (body) this.#requestedId = this.id;
      else if (unanswered) this.#requestedId = null;
      this.#unanswered = unanswered ? body : null;
      this.problem = problemToShow(error);
      this.problemQuery = query;
      return null;
    } finally {
      wait.done();
      if (this.wait === wait) this.wait = this.#opening = null;
    }
  }
}

export const currentPlan = new CurrentPlan();

/** What was asked and what was answered: the one thing that all views share. */

import { LostError, ProblemError, shownProblem, type Problem } from "../api/client";
import type { Alternatives, Explanation, Memo, Traced } from "../api/schema";
import * as service from "../api/service";
import type { Question } from "../api/service";

/** A part of the answer that is asked for when a view first needs it. */
class Lazy<T> {
  value = $state.raw<T | null>(null);
  problem = $state.raw<Problem | null>(null);
  busy = $state(false);
  #of: string | null = null;
  #stop: AbortController | undefined;
  readonly #load: (id: string, signal: { signal: AbortSignal }) => Promise<T>;

  constructor(load: (id: string, signal: { signal: AbortSignal }) => Promise<T>) {
    this.#load = load;
  }

  /** Has it loaded for a plan, unless it is; safe to call from an effect each time. */
  want(id: string | null): void {
    if (id === this.#of) return;
    this.#of = id;
    this.#stop?.abort();
    this.problem = null;
    if (id === null) this.value = null;
    else void this.#fetch(id);
  }

  /** Tries again what failed. */
  again(): void {
    const id = this.#of;
    this.#of = null;
    this.want(id);
  }

  async #fetch(id: string): Promise<void> {
    const stop = (this.#stop = new AbortController());
    this.busy = true;
    try {
      const value = await this.#load(id, { signal: stop.signal });
      if (this.#of === id) this.value = value;
    } catch (error) {
      if (this.#of !== id) return;
      this.value = null;
      this.problem = shownProblem(error);
    } finally {
      if (this.#stop === stop) this.busy = false;
    }
  }
}

class Answered {
  /** The id of the plan that is shown. */
  id = $state<string | null>(null);
  /** The plan, the plan of the query as written, pictures, formulas and reasons. */
  explanation = $state.raw<Explanation | null>(null);
  /** What is wrong with what was asked last. */
  problem = $state.raw<Problem | null>(null);
  /** The text that `problem` is about. */
  problemOf = $state("");
  busy = $state(false);

  readonly memo = new Lazy<Memo>(service.memo);
  readonly trace = new Lazy<Traced>(service.trace);
  readonly alternatives = new Lazy<Alternatives>(service.alternatives);

  #stop: AbortController | undefined;
  #last: (() => Promise<void>) | null = null;

  /** Plans a question; what was asked before and is not answered yet is forgotten. */
  ask(question: Question): Promise<void> {
    return this.#do(question.query, async (signal) => {
      const found = await service.optimize(question, signal);
      return service.explanation(found.id, { signal });
    });
  }

  /** Shows a plan that is kept. */
  open(id: string): Promise<void> {
    return this.#do("", (signal) => service.explanation(id, { signal }));
  }

  /** Tries again what was not answered because the service was away. */
  async again(): Promise<void> {
    await this.#last?.();
    for (const part of [this.memo, this.trace, this.alternatives]) if (part.problem) part.again();
  }

  async #do(query: string, get: (signal: AbortSignal) => Promise<Explanation>): Promise<void> {
    this.#stop?.abort();
    const stop = (this.#stop = new AbortController());
    this.#last = null;
    this.busy = true;
    try {
      const found = await get(stop.signal);
      this.explanation = found;
      this.id = found.id;
      this.problem = null;
    } catch (error) {
      if (this.#stop !== stop) return;
      const refused = error instanceof ProblemError && error.problem.status === 401;
      if (refused || error instanceof LostError) this.#last = () => this.#do(query, get);
      this.problem = shownProblem(error);
      this.problemOf = query;
    } finally {
      if (this.#stop === stop) this.busy = false;
    }
  }
}

export const answered = new Answered();

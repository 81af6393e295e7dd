/** The queries that run in the service, and the one that is looked at. */

import { ask, LostError, ProblemError, shownProblem, type Problem } from "../api/client";
import type { QueryDocument, QueryLine, RunningPicture } from "../api/schema";
import { Follow } from "./follow.svelte";
import { longer, type Moment } from "./history";

const EVERY_MS = 1000;
export const GOING: ReadonlySet<QueryLine["state"]> = new Set([
  "starting",
  "running",
  "pausing",
  "stopping",
]);

export type Change = "pause" | "resume" | "stop";

class Running {
  all = $state.raw<readonly QueryLine[] | null>(null);
  one = $state.raw<QueryDocument | null>(null);
  drawn = $state.raw<RunningPicture | null>(null);
  follow = $state.raw<Follow | null>(null);
  moments = $state.raw<readonly Moment[]>([]);
  problem = $state.raw<Problem | null>(null);

  #id: string | null = null;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #watching = 0;

  /** Keeps up with what runs until the function that it returns is called. */
  watch(): () => void {
    this.#watching += 1;
    if (this.#watching === 1) void this.#look();
    return () => {
      this.#watching -= 1;
      if (!this.#watching) {
        clearTimeout(this.#timer);
        this.select(null);
      }
    };
  }

  select(id: string | null): void {
    if (id === this.#id) return;
    this.#id = id;
    this.follow?.stop();
    this.one = null;
    this.drawn = null;
    this.moments = [];
    this.follow = id === null ? null : new Follow(id);
    if (id !== null) void this.#lookAt(id);
  }

  /** Starts a query; the id of it. */
  async start(body: Readonly<Record<string, unknown>>): Promise<string | null> {
    return this.#tried(async () => {
      const made = await ask<QueryDocument>("queries", { method: "POST", body });
      await this.#list();
      return made.id;
    });
  }

  async change(id: string, change: Change): Promise<void> {
    await this.#tried(async () => {
      const one = await ask<QueryDocument>(`queries/${id}/${change}`, { method: "POST" });
      if (this.#id !== id) return;
      this.one = one;
      // Results of a query that goes on come after those that there are.
      if (change === "resume" && this.follow?.ended) this.follow = new Follow(id);
    });
  }

  async forget(id: string): Promise<void> {
    await this.#tried(() => ask<undefined>(`queries/${id}`, { method: "DELETE" }));
    await this.#tried(() => this.#list());
  }

  async #tried<T>(act: () => Promise<T>): Promise<T | null> {
    try {
      const done = await act();
      this.problem = null;
      return done;
    } catch (error) {
      if (!(error instanceof LostError)) this.problem = shownProblem(error);
      return null;
    }
  }

  async #look(): Promise<void> {
    const id = this.#id;
    try {
      if (document.hidden) return; // nobody sees it now
      await this.#list();
      if (id !== null && (this.one === null || GOING.has(this.one.state))) await this.#lookAt(id);
    } catch (error) {
      if (error instanceof ProblemError) this.problem = error.problem;
    } finally {
      if (this.#watching) this.#timer = setTimeout(() => void this.#look(), EVERY_MS);
    }
  }

  async #list(): Promise<void> {
    this.all = await ask<readonly QueryLine[]>("queries");
  }

  async #lookAt(id: string): Promise<void> {
    try {
      const one = await ask<QueryDocument>(`queries/${id}`);
      const drawn = this.drawn ?? (await ask<RunningPicture>(`queries/${id}/picture`));
      if (this.#id !== id) return;
      this.one = one;
      this.drawn = drawn;
      if (one.progress) this.moments = longer(this.moments, one.progress);
    } catch (error) {
      if (this.#id === id && !(error instanceof LostError)) this.problem = shownProblem(error);
    }
  }
}

export const running = new Running();

/** The question that is being written: what `Optimize` and the sliders ask. */

import type { Problem } from "../api/client";
import { shownProblem, ask } from "../api/client";
import type { ExampleDocument, Explanation } from "../api/schema";
import type { Question } from "../api/service";
import { labelsOf, turned, type Catalog } from "../query/catalog";
import { looksLike, type LanguageName } from "../query/languages";
import { answered } from "./question.svelte";

export interface Options {
  window: string;
  slide: string;
  cost_model: "saturating" | "thesis";
  parallelism: number;
  path_semantics: "arbitrary" | "simple";
  evaluate: "eager" | "slide";
  disabled_rules: readonly string[];
  constants: Readonly<Record<string, number>>;
}

const DEFAULTS: Options = {
  window: "",
  slide: "",
  cost_model: "saturating",
  parallelism: 1,
  path_semantics: "arbitrary",
  evaluate: "eager",
  disabled_rules: [],
  constants: {},
};

const SOON_MS = 120;
const TYPED_MS = 350;

class Draft {
  query = $state("");
  /** null: what the text looks like. */
  language = $state<LanguageName | null>(null);
  options = $state<Options>({ ...DEFAULTS });
  /** What is known of the streams; null: what the service knows. */
  catalog = $state.raw<Catalog | null>(null);
  /** The example that it began with. */
  example = $state("");
  /** By what the numbers of the catalog are multiplied (keys of `keyOf`). */
  factors = $state.raw<Readonly<Record<string, number>>>({});
  /** What is wrong with the text as it is typed. */
  typed = $state.raw<{ text: string; problem: Problem } | null>(null);

  /** The catalog that `factors` are of. */
  base = $state.raw<Catalog | null>(null);

  #timer: ReturnType<typeof setTimeout> | undefined;
  #checking: AbortController | undefined;

  readonly spoken = $derived<LanguageName>(this.language ?? looksLike(this.query));
  readonly labels = $derived(labelsOf(this.catalog ?? this.base));
  readonly turned = $derived(
    Object.values(this.factors).some((f) => f !== 1) ||
      Object.keys(this.options.constants).length > 0 ||
      this.options.disabled_rules.length > 0,
  );
  /** What is wrong with the text that is there; null where it was changed since. */
  readonly problem = $derived.by<Problem | null>(() => {
    if (this.typed?.text === this.query) return this.typed.problem;
    return answered.problemOf === this.query ? answered.problem : null;
  });

  get question(): Question {
    const { window, slide, constants, ...rest } = this.options;
    const known = this.#known();
    return {
      query: this.query,
      ...(this.language && { language: this.language }),
      ...(known && { catalog: known as unknown as Record<string, unknown> }),
      options: {
        ...rest,
        ...(window.trim() && { window: window.trim() }),
        ...(slide.trim() && { slide: slide.trim() }),
        ...(Object.keys(constants).length && { constants }),
      },
    };
  }

  optimize(): void {
    clearTimeout(this.#timer);
    this.typed = null;
    if (this.query.trim()) void answered.ask(this.question);
  }

  /** Asks once nothing has changed for a moment. */
  soon(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.optimize(), SOON_MS);
  }

  take(example: ExampleDocument): void {
    this.query = example.query.trimEnd();
    this.language = null;
    this.catalog = example.catalog as unknown as Catalog;
    this.example = example.name;
    this.options = { ...DEFAULTS };
    this.reset();
    this.optimize();
  }

  /** Takes over the question of a plan that was opened. */
  takeAsked(found: Explanation): void {
    const { query, language, catalog, options } = found.asked;
    this.query = query;
    this.language = language === "rq" || language === "gcore" ? language : null;
    this.catalog = catalog as unknown as Catalog | null;
    this.factors = {};
    this.base = found.catalog as unknown as Catalog;
    const given = Object.fromEntries(
      Object.entries(options).filter(([name, value]) => name in DEFAULTS && value !== null),
    );
    this.options = { ...DEFAULTS, ...given };
  }

  /** Takes over a query that runs, over the streams of the service, and its plan. */
  async takeRunning(query: string, language: string | null, plan: string): Promise<void> {
    this.query = query.trimEnd();
    this.language = language === "rq" || language === "gcore" ? language : null;
    await answered.open(plan);
    if (answered.id === plan && answered.explanation && this.query === query.trimEnd())
      this.takeAsked(answered.explanation);
  }

  turn(key: string, factor: number): void {
    const { [key]: _, ...others } = this.factors;
    this.factors = factor === 1 ? others : { ...others, [key]: factor };
    this.soon();
  }

  /** Back to what is known. */
  reset(): void {
    this.factors = {};
    this.base = null;
    this.options.disabled_rules = [];
    this.options.constants = {};
  }

  /** Has the text checked while it is typed. */
  check(): void {
    this.example = "";
    clearTimeout(this.#timer);
    this.#checking?.abort();
    if (!this.query.trim()) return;
    const stop = (this.#checking = new AbortController());
    const text = this.query;
    this.#timer = setTimeout(() => {
      const body = { ...this.question, stage: "query" };
      ask("explain", { method: "POST", body, signal: stop.signal }).then(
        () => {
          if (this.query === text) this.typed = null;
        },
        (error: unknown) => {
          const problem = shownProblem(error);
          if (problem?.position && this.query === text) this.typed = { text, problem };
        },
      );
    }, TYPED_MS);
  }

  /** The catalog to plan over: turned numbers are sent along, and so is all else then. */
  #known(): Catalog | null {
    const turns = Object.values(this.factors).some((factor) => factor !== 1);
    if (!turns) return this.catalog;
    const base = this.catalog ?? this.base;
    return base && turned(base, this.factors);
  }
}

export const draft = new Draft();

/** The query and the options that are being written: what `Optimize` and the sliders send. */

import { problemToShow, type Problem } from "../api/problems";
import type { ExampleDocument, Explanation, OptimizeBody, OptionsBody } from "../api/schema";
import * as service from "../api/service";
import { labelsOf, scaledCatalog, type Catalog } from "../query/catalog";
import { guessedLanguage } from "../query/languages";
import { currentPlan } from "./currentPlan.svelte";
import { languages } from "./languages.svelte";

type Chosen = "cost_model" | "parallelism" | "path_semantics" | "evaluate" | "disabled_rules";
/** The options of the page; a window or slide that is empty is that of the query. */
export type Options = Readonly<
  Required<Pick<OptionsBody, Chosen>> & {
    window: string;
    slide: string;
    constants: Readonly<Record<string, number>>;
  }
>;

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

/** After a slider or an option has moved. */
const OPTIMIZE_AFTER_MS = 120;
/** After the last key. */
const VALIDATE_AFTER_MS = 350;

class Draft {
  query = $state("");
  /** The name of the language that was chosen; null: the detected one. */
  chosenLanguage = $state<string | null>(null);
  options = $state.raw<Options>(DEFAULTS);
  /** The catalog to plan over; null: that of the service. */
  catalog = $state.raw<Catalog | null>(null);
  /** The name of the example that is in the editor, while nothing of it is changed. */
  example = $state("");
  /** Factors that the sliders put on numbers of the catalog, by `keyOf` of the number. */
  factors = $state.raw<Readonly<Record<string, number>>>({});
  /** The catalog that `factors` apply to. */
  baseCatalog = $state.raw<Catalog | null>(null);
  /** What the service found wrong with a text while it was typed. */
  #validation = $state.raw<{ text: string; problem: Problem } | null>(null);

  /** The language that the service detected for a text. */
  #detected = $state.raw<{ text: string; language: string } | null>(null);

  #timer: ReturnType<typeof setTimeout> | undefined;
  #request: AbortController | undefined;

  /** The name of the language to edit the text in. */
  readonly language = $derived(this.chosenLanguage ?? this.#detectedLanguage());
  readonly labels = $derived(labelsOf(this.catalog ?? this.baseCatalog));
  /** Whether any slider or rule of `What if` differs from what is known. */
  readonly modified = $derived(
    Object.values(this.factors).some((factor) => factor !== 1) ||
      Object.keys(this.options.constants).length > 0 ||
      this.options.disabled_rules.length > 0,
  );
  /** What is wrong with the present text; null if it changed since. */
  readonly problem = $derived.by<Problem | null>(() => {
    if (this.#validation?.text === this.query) return this.#validation.problem;
    return currentPlan.problemQuery === this.query ? currentPlan.problem : null;
  });

  /** The body of the plan that is shown; null before there is one. */
  #planned = $state<string | null>(null);
  /** Whether the plan that is shown is that of another text, or of other options. */
  readonly stale = $derived(
    this.#planned !== null &&
      (!currentPlan.busy || currentPlan.longWait !== null) &&
      this.#planned !== JSON.stringify(this.body),
  );

  /** The body to ask for a plan with. */
  get body(): OptimizeBody & { readonly options: OptionsBody } {
    const { window, slide, constants, ...rest } = this.options;
    const catalog = this.#catalogWithFactors();
    return {
      query: this.query,
      ...(this.chosenLanguage && { language: this.chosenLanguage }),
      ...(catalog && { catalog: catalog as unknown as Record<string, unknown> }),
      options: {
        ...rest,
        ...(window.trim() && { window: window.trim() }),
        ...(slide.trim() && { slide: slide.trim() }),
        ...(Object.keys(constants).length && { constants }),
      },
    };
  }

  /** Plans the query, unless it is empty; ends when its plan is shown, or what is wrong with it. */
  async optimize(): Promise<void> {
    clearTimeout(this.#timer);
    this.#validation = null;
    if (this.query.trim()) await this.#optimize(this.body);
  }

  async #optimize(body: OptimizeBody): Promise<void> {
    const sent = JSON.stringify(body);
    const before = currentPlan.explanation;
    await currentPlan.optimize(body);
    if (currentPlan.explanation !== before && currentPlan.explanation?.asked.query === body.query)
      this.#planned = sent;
  }

  /** Puts back the query and the options of the plan that is shown. */
  restore(): void {
    clearTimeout(this.#timer);
    if (currentPlan.explanation) this.#restore(currentPlan.explanation);
  }

  /** Optimizes once nothing has changed for a moment. */
  optimizeSoon(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.optimize(), OPTIMIZE_AFTER_MS);
  }

  setOptions(change: Partial<Options>): void {
    this.options = { ...this.options, ...change };
    this.optimizeSoon();
  }

  /** Opens an example over its own catalog, or over the streams of the service. */
  openExample(example: ExampleDocument, overService = false): void {
    this.query = example.query.trimEnd();
    this.chosenLanguage = null;
    this.#detected = { text: this.query, language: example.language };
    this.catalog = overService ? null : (example.catalog as unknown as Catalog);
    this.example = example.name;
    this.options = DEFAULTS;
    this.forgetFactors();
    void this.optimize();
  }

  /** Opens a query over the streams of the service. */
  openQuery(query: string): void {
    this.query = query;
    this.catalog = null;
    void this.optimize();
  }

  /** Shows a plan that the service keeps, with its query and options. */
  async openPlan(id: string): Promise<void> {
    const explanation = await currentPlan.open(id);
    if (explanation) this.#restore(explanation);
  }

  /** Shows a running query, which runs over the streams of the service, and its plan. */
  async openRunning(query: string, language: string | null, planId: string): Promise<void> {
    const text = (this.query = query.trimEnd());
    this.chosenLanguage = language;
    await currentPlan.open(planId);
    if (currentPlan.id === planId && currentPlan.explanation && this.query === text)
      this.#restore(currentPlan.explanation);
  }

  /** Scales a number of the catalog; a factor of 1 puts it back. */
  setFactor(key: string, factor: number): void {
    const { [key]: _, ...others } = this.factors;
    this.factors = factor === 1 ? others : { ...others, [key]: factor };
    this.optimizeSoon();
  }

  /** Puts back whatever `modified` is about, and optimizes. */
  reset(): void {
    this.factors = {};
    this.setOptions({ disabled_rules: [], constants: {} });
  }

  /** Puts back whatever `modified` is about, for another catalog. */
  forgetFactors(): void {
    this.factors = {};
    this.baseCatalog = null;
    this.options = { ...this.options, disabled_rules: [], constants: {} };
  }

  /** Has the service parse the text once nobody types for a moment. */
  validateSoon(): void {
    this.example = "";
    clearTimeout(this.#timer);
    this.#request?.abort();
    if (!this.query.trim()) return;
    const request = (this.#request = new AbortController());
    this.#timer = setTimeout(() => void this.#validate(request.signal), VALIDATE_AFTER_MS);
  }

  async #validate(signal: AbortSignal): Promise<void> {
    const text = this.query;
    try {
      const { language } = (await service.parse(this.body, signal)) as { language: string };
      if (this.query !== text) return;
      this.#validation = null;
      this.#detected = { text, language };
    } catch (error) {
      const problem = problemToShow(error);
      if (problem?.position && this.query === text) this.#validation = { text, problem };
    }
  }

  #restore({ asked, catalog, language }: Explanation): void {
    this.query = asked.query;
    this.chosenLanguage = asked.language;
    this.#detected = { text: asked.query, language };
    this.catalog = asked.catalog as unknown as Catalog | null;
    this.factors = {};
    this.baseCatalog = catalog as unknown as Catalog;
    const chosen = Object.entries(asked.options).filter(
      ([name, value]) => name in DEFAULTS && value !== null,
    );
    this.options = { ...DEFAULTS, ...Object.fromEntries(chosen) };
    this.#planned = JSON.stringify(this.body);
  }

  #detectedLanguage(): string {
    if (this.#detected?.text === this.query) return this.#detected.language;
    return guessedLanguage(this.query, languages.all);
  }

  /** The catalog to send: numbers with factors are sent along with all others. */
  #catalogWithFactors(): Catalog | null {
    if (Object.values(this.factors).every((factor) => factor === 1)) return this.catalog;
    const base = this.catalog ?? this.baseCatalog;
    return base && scaledCatalog(base, this.factors);
  }
}

export const draft = new Draft();

/** What the memo and the search point at together: a group, an expression of it. */

import { answered } from "../state/question.svelte";
import { route } from "../state/route.svelte";

class Pointed {
  group = $state<number | null>(null);
  expression = $state<number | null>(null);
  /** The expression whose birth the search is to show next. */
  born = $state<number | null>(null);

  at(group: number | null, expression: number | null = null): void {
    this.group = group;
    this.expression = expression;
  }

  /** Shows a group in the memo. */
  inMemo(group: number, expression: number | null = null): void {
    this.at(group, expression);
    route.go({ view: "memo", id: answered.id });
  }

  /** Shows the step of the search that an expression came of. */
  inSearch(expression: number): void {
    this.born = expression;
    route.go({ view: "search", id: answered.id });
  }
}

export const pointed = new Pointed();

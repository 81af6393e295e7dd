/** The group and the expression that the memo and the search show together. */

import { currentPlan } from "../state/currentPlan.svelte";
import { route } from "../state/route.svelte";

class Selection {
  group = $state<number | null>(null);
  expression = $state<number | null>(null);
  /** The expression with whose creation the search of a plan begins; null: with its first step. */
  creation = $state.raw<{ readonly plan: string | null; readonly expression: number } | null>(null);

  select(group: number | null, expression: number | null = null): void {
    this.group = group;
    this.expression = expression;
  }

  /** Goes to a group in the memo. */
  showInMemo(group: number, expression: number | null = null): void {
    this.select(group, expression);
    route.go({ view: "memo", id: currentPlan.id });
  }

  /** Goes to the step of the search that created an expression. */
  showCreation(expression: number): void {
    this.creation = { plan: currentPlan.id, expression };
    route.go({ view: "search", id: currentPlan.id });
  }
}

export const selection = new Selection();

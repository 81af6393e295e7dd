/** How often each rule was tried and what came of it, as a table that can be sorted. */

import type { RuleMeaning, RuleStatistics } from "../api/schema";

export interface RuleRow {
  readonly rule: string;
  readonly number: number | null;
  readonly algebra: string;
  readonly bindings: number;
  readonly fired: number;
  /** Results that were new. */
  readonly added: number;
  readonly duplicates: number;
  readonly ms: number;
}

export type Column = "rule" | "bindings" | "fired" | "added" | "duplicates" | "ms";

/** The rules that were tried. */
export function ruleRows(
  statistics: Readonly<Record<string, RuleStatistics>>,
  meanings: Readonly<Record<string, RuleMeaning>>,
): readonly RuleRow[] {
  return Object.entries(statistics)
    .filter(([, did]) => did.bindings > 0)
    .map(([rule, { bindings, fired, duplicates, ms }]) => ({
      rule,
      number: meanings[rule]?.number ?? null,
      algebra: meanings[rule]?.algebra ?? "",
      bindings,
      fired,
      added: fired - duplicates,
      duplicates,
      ms,
    }));
}

/** The rows by a column, then by the names of the rules. */
export function sorted(
  rows: readonly RuleRow[],
  column: Column,
  upwards: boolean,
): readonly RuleRow[] {
  const sign = upwards ? 1 : -1;
  return [...rows].sort(
    (a, b) =>
      sign * (column === "rule" ? a.rule.localeCompare(b.rule) : a[column] - b[column]) ||
      a.rule.localeCompare(b.rule),
  );
}

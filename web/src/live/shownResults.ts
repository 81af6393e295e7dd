/** The results that are shown of those that were received: found, sorted, around a vertex. */

import type { Match } from "../api/schema";
import { bindingsText, type Result } from "./match";

/** By which the list is sorted: as results came, by their time, or by a column. */
export type Order = { readonly by: "arrival" | "time" } | { readonly by: "column"; readonly name: string };

/** The columns of results, in their order. */
export const columnsOf = (results: readonly Result[]): readonly string[] => [
  ...new Set(results.flatMap(({ bindings }) => Object.keys(bindings))),
];

/**
 * The results that have all words of a text.
 *
 * `x=461` is found where the column x is 461, another word where it occurs in any value or name.
 */
export function matchingResults(results: readonly Result[], sought: string): readonly Result[] {
  const words = sought.toLowerCase().split(/\s+/).filter(Boolean);
  if (!words.length) return results;
  return results.filter((result) => {
    const text = bindingsText(result).toLowerCase();
    const equals = new Set(
      Object.entries(result.bindings).map(([name, value]) => `${name}=${String(value ?? "none")}`.toLowerCase()),
    );
    const names = Object.keys(result.bindings).map((name) => `${name.toLowerCase()}=`);
    return words.every((word) =>
      names.some((name) => word.startsWith(name)) ? equals.has(word) : text.includes(word),
    );
  });
}

/** Results in an order; `descending` turns it around. Numbers are compared as numbers. */
export function sortedResults(
  results: readonly Result[],
  order: Order,
  descending: boolean,
): readonly Result[] {
  const keyOf = (result: Result): unknown =>
    "name" in order
      ? result.bindings[order.name]
      : order.by === "time"
        ? (result.ts ?? result.at)
        : result.number;
  const sign = descending ? -1 : 1;
  return [...results].sort((a, b) => sign * compared(keyOf(a), keyOf(b)) || b.number - a.number);
}

function compared(a: unknown, b: unknown): number {
  // What is missing stands last.
  if (a == null || b == null) return Number(a == null) - Number(b == null);
  const [x, y] = [Number(a), Number(b)];
  if (a !== "" && b !== "" && !Number.isNaN(x) && !Number.isNaN(y)) return x - y;
  return String(a).localeCompare(String(b));
}

/** The results in which any of some vertices occurs, bound to a column or on a path. */
export function resultsAround(
  results: readonly Result[],
  vertices: ReadonlySet<string>,
  match: Match,
): readonly Result[] {
  return results.filter(({ bindings, paths }) => {
    const bound = match.vertices.some((name) => vertices.has(String(bindings[name])));
    const passed = Object.values(paths ?? {}).some((steps) =>
      steps.some(([from, , to]) => vertices.has(String(from)) || vertices.has(String(to))),
    );
    return bound || passed;
  });
}

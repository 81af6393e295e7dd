/** The steps of a search as a timeline: their names, which of them are shown, and which of them
 * created an expression. */

import type { ChosenNode, Steps } from "../api/schema";
import { digits } from "../text/numbers";
import type { Step } from "./replay";

export type Kind = Step["kind"];

export const KINDS: readonly { kind: Kind; name: string; title: string }[] = [
  { kind: "query", name: "Query", title: "The query enters the memo" },
  { kind: "rule", name: "Rule", title: "A rule adds equal expressions" },
  { kind: "known", name: "Duplicate", title: "A rule finds only expressions that are in the memo" },
  { kind: "plan", name: "Plan", title: "A group has a cheaper plan" },
  { kind: "left", name: "Pruned", title: "An alternative costs too much to be searched further" },
];

/** Which steps are shown; null: of every rule, of every group. */
export interface StepFilter {
  readonly kinds: ReadonlySet<Kind>;
  readonly rule: string | null;
  readonly group: number | null;
}

/** The kinds that are shown at first: all that change the memo. */
export const CHANGES: ReadonlySet<Kind> = new Set<Kind>(["query", "rule", "plan", "forget"]);

/** The kinds with one more, or one less. Costing all plans anew is shown with the plans. */
export function toggledKind(kinds: ReadonlySet<Kind>, kind: Kind): ReadonlySet<Kind> {
  const next = new Set(kinds);
  for (const one of kind === "plan" ? (["plan", "forget"] as const) : [kind])
    if (kinds.has(kind)) next.delete(one);
    else next.add(one);
  return next;
}

/** The group in a text such as `G12` or `12`; null if it names none. */
export function groupIn(text: string): number | null {
  const id = /^\s*[gG]?(\d+)\s*$/.exec(text)?.[1];
  return id === undefined ? null : Number(id);
}

/** The positions of the steps that a filter lets through, counted from 0. */
export function filteredPositions(steps: readonly Step[], filter: StepFilter): Uint32Array {
  const names = filter.group === null ? null : namesOf(steps, filter.group);
  const found = new Uint32Array(steps.length);
  let count = 0;
  steps.forEach((step, k) => {
    if (!filter.kinds.has(step.kind)) return;
    if (filter.rule !== null && ruleOf(step) !== filter.rule) return;
    if (names !== null && !groupsOf(step).some((group) => names.has(group))) return;
    found[count] = k;
    count += 1;
  });
  return found.slice(0, count);
}

/** The numbers that a group ever had: its own, and those of the groups merged into it. */
function namesOf(steps: readonly Step[], group: number): ReadonlySet<number> {
  const names = new Set([group]);
  for (let k = steps.length - 1; k >= 0; k -= 1) {
    const step = steps[k]!;
    if (step.kind !== "rule" && step.kind !== "query") continue;
    for (const merged of step.merged) if (names.has(merged.into)) names.add(merged.group);
  }
  return names;
}

/** The rule that a step applies, or that proposed its alternative. */
export function ruleOf(step: Step): string | null {
  switch (step.kind) {
    case "plan":
      return step.plan.rule;
    case "left":
      return step.left.rule;
    case "forget":
      return null;
    default:
      return step.rule;
  }
}

/** The groups that a step is about. */
export function groupsOf(step: Step): readonly number[] {
  switch (step.kind) {
    case "plan":
      return [step.plan.group];
    case "left":
      return [step.left.group];
    case "forget":
      return [];
    case "known":
      return [step.group];
    default:
      return [
        ...step.matched.map(({ group }) => group),
        ...step.added.map(({ group }) => group),
        ...step.merged.flatMap(({ into, group }) => [into, group]),
      ];
  }
}

/** The index of the first position that is not before `at`; their count if there is none. */
export function lowerBound(positions: Uint32Array, at: number): number {
  let [low, high] = [0, positions.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (positions[middle]! < at) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The position that is `by` positions after `at`, or the last one; `at` itself if there is none. */
export function moved(positions: Uint32Array, at: number, by: number): number {
  if (!positions.length) return at;
  const here = lowerBound(positions, at);
  const on = positions[here] === at;
  const to = by > 0 ? here + by - (on ? 0 : 1) : here + by;
  if (to < 0) return positions[0]! < at ? positions[0]! : at;
  const last = positions[positions.length - 1]!;
  if (to >= positions.length) return last > at ? last : at;
  return positions[to]!;
}

/** The position of the step that added an expression, by the id of the expression. */
export function creationSteps(steps: readonly Step[]): ReadonlyMap<number, number> {
  const created = new Map<number, number>();
  steps.forEach((step, k) => {
    if (step.kind === "query" || step.kind === "rule")
      for (const { id } of step.added) created.set(id, k);
  });
  return created;
}

/** A node of the chosen plan, and the position of the step that created its expression. */
export interface Origin {
  readonly node: number;
  readonly group: number;
  readonly expression: number;
  readonly at: number;
}

/** The origins of the chosen plan in the order of the search; enforcers have none. */
export function originsOf(
  chosen: readonly Pick<ChosenNode, "node" | "group" | "expression">[],
  created: ReadonlyMap<number, number>,
): readonly Origin[] {
  return chosen
    .flatMap(({ node, group, expression }) => {
      const at = expression === null ? undefined : created.get(expression);
      return expression === null || at === undefined ? [] : [{ node, group, expression, at }];
    })
    .sort((a, b) => a.at - b.at || a.node - b.node);
}

/** Expressions of rules before those of the query, the root of the plan before its inputs. */
export const rulesFirst = (origins: readonly Origin[], steps: readonly Step[]): readonly Origin[] =>
  [...origins].sort(
    (a, b) =>
      Number(steps[a.at]?.kind === "query") - Number(steps[b.at]?.kind === "query") ||
      b.node - a.node,
  );

/** How many steps of each kind lie in each of `parts` equal parts of the search. */
export function density(
  steps: readonly Step[],
  positions: Uint32Array,
  parts: number,
): readonly Readonly<Record<Kind, number>>[] {
  const found = Array.from({ length: parts }, () => ({
    query: 0,
    rule: 0,
    known: 0,
    plan: 0,
    left: 0,
    forget: 0,
  }));
  for (const at of positions) {
    const part = found[Math.min(parts - 1, Math.floor((at * parts) / steps.length))];
    if (part) part[steps[at]!.kind] += 1;
  }
  return found;
}

const goal = (group: number, required: string): string =>
  `G${group}${required ? ` [${required}]` : ""}`;

/** A step in two short texts: its rule or goal, and what it did. */
export function stepTexts(step: Step, cost: (value: number) => string): { head: string; text: string } {
  switch (step.kind) {
    case "query":
      return { head: "query", text: step.added.map((e) => `G${e.group} = ${e.text}`).join("; ") };
    case "rule": {
      const merged = step.merged.map(({ into, group }) => `G${group} is G${into}`);
      const added = step.added.map((e) => `G${e.group} = ${e.text}`);
      return { head: step.rule ?? "", text: [...merged, ...added].join("; ") };
    }
    case "known":
      return { head: step.rule, text: `nothing new in G${step.group}` };
    case "plan": {
      const { plan } = step;
      return { head: goal(plan.group, plan.required), text: `${cost(plan.cost)} ${plan.text}` };
    }
    case "left": {
      const { left } = step;
      const least = left.exact ? "" : "≥ ";
      return {
        head: goal(left.group, left.required),
        text: `${least}${cost(left.cost)} ${left.text}`,
      };
    }
    case "forget":
      return { head: "all plans", text: "costed anew, as groups were merged" };
  }
}

/** A sentence about the steps that a trace leaves out; empty if it is whole. */
export function truncationNote({ steps, more, known, left }: Steps): string {
  const kept = { known: 0, left: 0 };
  for (const { kind } of steps) if (kind === "known" || kind === "left") kept[kind] += 1;
  const parts = [
    [more, "steps"],
    [known - kept.known, "duplicates"],
    [left - kept.left, "pruned alternatives"],
  ] as const;
  const texts = parts.flatMap(([count, name]) =>
    count > 0 ? [`${digits(count)} ${name}`] : [],
  );
  return texts.length ? `The search was longer. Left out here: ${texts.join(", ")}.` : "";
}

/** The steps of a search as a line to go along: what each is called, which are looked at, where an
 * expression came to be. */

import type { ChosenNode, Steps } from "../api/schema";
import type { Step } from "./replay";

export type Kind = Step["kind"];

export const KINDS: readonly { kind: Kind; name: string; title: string }[] = [
  { kind: "query", name: "Query", title: "The query enters the memo" },
  { kind: "rule", name: "Rule", title: "A rule adds what is equal" },
  { kind: "known", name: "Duplicate", title: "A rule finds only what is there already" },
  { kind: "plan", name: "Plan", title: "A group has a cheaper plan" },
  { kind: "left", name: "Pruned", title: "A way costs too much to be followed" },
];

/** Which steps are looked at. */
export interface Wanted {
  readonly kinds: ReadonlySet<Kind>;
  readonly rule: string | null;
  readonly group: number | null;
}

/** What is in a timeline at first: all that changes the memo. */
export const CHANGES: ReadonlySet<Kind> = new Set<Kind>(["query", "rule", "plan", "forget"]);

/** The positions of the wanted steps, from 0. */
export function wanted(steps: readonly Step[], want: Wanted): Uint32Array {
  const names = want.group === null ? null : namesOf(steps, want.group);
  const found = new Uint32Array(steps.length);
  let count = 0;
  steps.forEach((step, k) => {
    if (!want.kinds.has(step.kind)) return;
    if (want.rule !== null && ruleOf(step) !== want.rule) return;
    if (names !== null && !groupsOf(step).some((group) => names.has(group))) return;
    found[count] = k;
    count += 1;
  });
  return found.slice(0, count);
}

/** The numbers under which a group was ever known: its own, and those that were merged into it. */
function namesOf(steps: readonly Step[], group: number): ReadonlySet<number> {
  const names = new Set([group]);
  for (let k = steps.length - 1; k >= 0; k -= 1) {
    const step = steps[k]!;
    if (step.kind !== "rule" && step.kind !== "query") continue;
    for (const merged of step.merged) if (names.has(merged.into)) names.add(merged.group);
  }
  return names;
}

/** The rule that a step applies; of a plan or a way that which proposed it. */
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

/** Where the first wanted position is that is not before `at`; as many as there are if none is. */
export function lowerBound(positions: Uint32Array, at: number): number {
  let [low, high] = [0, positions.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (positions[middle]! < at) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The wanted position that is `by` steps further than `at`; `at` itself if there is none. */
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

/** By id of an expression the position of the step that added it. */
export function births(steps: readonly Step[]): ReadonlyMap<number, number> {
  const found = new Map<number, number>();
  steps.forEach((step, k) => {
    if (step.kind === "query" || step.kind === "rule")
      for (const { id } of step.added) found.set(id, k);
  });
  return found;
}

/** A node of the chosen plan, and the step in which the expression that it runs came to be. */
export interface Birth {
  readonly node: number;
  readonly group: number;
  readonly expression: number;
  readonly at: number;
}

export function birthsOf(
  chosen: readonly Pick<ChosenNode, "node" | "group" | "expression">[],
  born: ReadonlyMap<number, number>,
): readonly Birth[] {
  return chosen
    .flatMap(({ node, group, expression }) => {
      const at = expression === null ? undefined : born.get(expression);
      return expression === null || at === undefined ? [] : [{ node, group, expression, at }];
    })
    .sort((a, b) => a.at - b.at || a.node - b.node);
}

/** What rules made comes before what the query had, the root of the plan before what it reads. */
export const ruleMadeFirst = (births: readonly Birth[], steps: readonly Step[]): readonly Birth[] =>
  [...births].sort(
    (a, b) =>
      Number(steps[a.at]?.kind === "query") - Number(steps[b.at]?.kind === "query") ||
      b.node - a.node,
  );

/** How many steps of each kind are in each of so many equal parts of the search. */
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

/** A step in a line: what it is, and what of. */
export function lineOf(step: Step, cost: (value: number) => string): { head: string; text: string } {
  switch (step.kind) {
    case "query":
      return { head: "query", text: step.added.map((e) => `G${e.group} = ${e.text}`).join("; ") };
    case "rule": {
      const merged = step.merged.map(({ into, group }) => `G${group} is G${into}`);
      const added = step.added.map((e) => `G${e.group} = ${e.text}`);
      return { head: step.rule ?? "", text: [...merged, ...added].join("; ") };
    }
    case "known":
      return { head: step.rule, text: `of G${step.group}, nothing new` };
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
      return { head: "all plans", text: "costed anew, as groups became one" };
  }
}

/** What is said of a trace that is not whole; empty if it is. */
export function missing({ steps, more, known, left }: Steps): string {
  const kept = { known: 0, left: 0 };
  for (const { kind } of steps) if (kind === "known" || kind === "left") kept[kind] += 1;
  const parts = [
    [more, "steps"],
    [known - kept.known, "duplicates"],
    [left - kept.left, "pruned ways"],
  ] as const;
  const said = parts.flatMap(([count, what]) =>
    count > 0 ? [`${count.toLocaleString("en")} ${what}`] : [],
  );
  return said.length ? `The search is longer than what is told here, by ${said.join(", ")}.` : "";
}

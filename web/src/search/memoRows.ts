/** The rows of the memo at a step: its groups, and the expressions of those that the step is about. */

import type { SeenMember } from "../api/schema";
import type { GroupSnapshot, MemoSnapshot, Step } from "./replay";
import { groupsOf } from "./timeline";

export type Row =
  | { readonly kind: "group"; readonly group: GroupSnapshot; readonly open: boolean }
  | { readonly kind: "expression"; readonly expression: SeenMember }
  | { readonly kind: "more"; readonly count: number };

/** The groups and expressions that a step is about, by their ids. */
export interface Effects {
  readonly groups: ReadonlySet<number>;
  readonly added: ReadonlySet<number>;
  readonly changed: ReadonlySet<number>;
  readonly matched: ReadonlySet<number>;
}

export function effectsOf(step: Step | undefined): Effects {
  const idOf = (one: number | SeenMember) => (typeof one === "number" ? one : one.id);
  return {
    groups: new Set(step ? groupsOf(step) : []),
    added: new Set(step && "added" in step ? step.added.map(idOf) : []),
    changed: new Set(step && "changed" in step ? step.changed.map(idOf) : []),
    matched: new Set(step && "matched" in step ? step.matched.map(idOf) : []),
  };
}

/**
 * All groups: first those with new expressions, then others that the step is about, then the rest
 * by their numbers. Of the first all expressions are listed, of the second those that were matched.
 *
 * @param open a group of which all expressions are listed too.
 * @param most how many expressions of a group are listed, the newest ones.
 */
export function memoRows(
  memo: MemoSnapshot,
  { groups, added, matched }: Omit<Effects, "changed">,
  open: number | null,
  most: number,
): readonly Row[] {
  const withNew = new Set([...added].map((id) => memo.expressions.get(id)?.group));
  const rank = (id: number) => (withNew.has(id) ? 0 : groups.has(id) ? 1 : 2);
  const ordered = [...memo.groups.values()].sort(
    (a, b) => rank(a.id) - rank(b.id) || a.id - b.id,
  );
  const rows: Row[] = [];
  for (const group of ordered) {
    const { id, expressions } = group;
    const whole = withNew.has(id) || id === open || (groups.has(id) && !matched.size);
    const ids = whole
      ? [...expressions].sort((a, b) => Number(added.has(b)) - Number(added.has(a)) || b - a)
      : expressions.filter((one) => matched.has(one));
    rows.push({ kind: "group", group, open: whole || ids.length > 0 });
    for (const one of ids.slice(0, most)) {
      const expression = memo.expressions.get(one);
      if (expression) rows.push({ kind: "expression", expression });
    }
    const left = expressions.length - Math.min(ids.length, most);
    if (left && ids.length) rows.push({ kind: "more", count: left });
  }
  return rows;
}

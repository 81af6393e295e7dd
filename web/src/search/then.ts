/** The rows of a memo at a step: its groups, and below those that the step is about their
 * expressions. */

import type { SeenMember } from "../api/schema";
import type { Replay, ReplayedGroup } from "./replay";

export type Row =
  | { readonly kind: "group"; readonly group: ReplayedGroup; readonly open: boolean }
  | { readonly kind: "expression"; readonly member: SeenMember }
  | { readonly kind: "more"; readonly count: number };

/** What a step is about. */
export interface Looking {
  readonly touched: ReadonlySet<number>;
  /** The expressions that it added, and those that it matched. */
  readonly fresh: ReadonlySet<number>;
  readonly matched: ReadonlySet<number>;
  /** A group that was opened by hand. */
  readonly open: number | null;
  /** As many expressions of a group as are listed; the newest stay. */
  readonly most: number;
}

/** The groups by their numbers, but first those with something new, then others that the step is
 * about: of the former all expressions are listed, of the latter those matched. */
export function rowsThen(replay: Replay, looking: Looking): readonly Row[] {
  const { touched, fresh, matched, open, most } = looking;
  const added = new Set([...fresh].map((id) => replay.members.get(id)?.group));
  const rank = (id: number) => (added.has(id) ? 0 : touched.has(id) ? 1 : 2);
  const groups = [...replay.groups.values()].sort(
    (a, b) => rank(a.id) - rank(b.id) || a.id - b.id,
  );
  const rows: Row[] = [];
  for (const group of groups) {
    const whole = added.has(group.id) || group.id === open || (touched.has(group.id) && !matched.size);
    const ids = whole
      ? [...group.members].sort((a, b) => Number(fresh.has(b)) - Number(fresh.has(a)) || b - a)
      : [...group.members].filter((id) => matched.has(id));
    rows.push({ kind: "group", group, open: whole || ids.length > 0 });
    for (const id of ids.slice(0, most)) {
      const member = replay.members.get(id);
      if (member) rows.push({ kind: "expression", member });
    }
    const left = group.members.size - Math.min(ids.length, most);
    if (left && ids.length) rows.push({ kind: "more", count: left });
  }
  return rows;
}

/** The rows of a memo at a step: its groups, and below those that the step is about their
 * expressions. */

import type { SeenMember } from "../api/schema";
import type { Replay, ReplayedGroup } from "./replay";

export type Row =
  | { readonly kind: "group"; readonly group: ReplayedGroup; readonly open: boolean }
  | { readonly kind: "expression"; readonly member: SeenMember }
  | { readonly kind: "more"; readonly count: number };

export interface Looking {
  readonly touched: ReadonlySet<number>;
  readonly fresh: ReadonlySet<number>;
  readonly open: number | null;
  /** As many expressions of a group as are listed; the newest stay. */
  readonly most: number;
}

/** The groups by their numbers; those touched first, so that they are in sight. */
export function rowsThen(replay: Replay, { touched, fresh, open, most }: Looking): readonly Row[] {
  const groups = [...replay.groups.values()].sort(
    (a, b) => Number(touched.has(b.id)) - Number(touched.has(a.id)) || a.id - b.id,
  );
  const rows: Row[] = [];
  for (const group of groups) {
    const unfolded = touched.has(group.id) || group.id === open;
    rows.push({ kind: "group", group, open: unfolded });
    if (!unfolded) continue;
    const ids = [...group.members].sort(
      (a, b) => Number(fresh.has(b)) - Number(fresh.has(a)) || b - a,
    );
    for (const id of ids.slice(0, most)) {
      const member = replay.members.get(id);
      if (member) rows.push({ kind: "expression", member });
    }
    if (ids.length > most) rows.push({ kind: "more", count: ids.length - most });
  }
  return rows;
}

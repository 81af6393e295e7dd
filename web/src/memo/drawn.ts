/** The groups of a memo that are drawn, and those of them that are open. Changes give new values. */

import { around, type MemoIndex } from "./memo";

export interface DrawnGroups {
  readonly groups: ReadonlySet<number>;
  readonly open: ReadonlySet<number>;
}

/** No picture can be read with more groups. */
export const MOST_DRAWN = 400;
/** More groups stand in rows and are not laid out by their lines. */
export const MOST_LAYERED = 60;
const SMALL = 24;
const MOST_OPEN = 9;

/** The whole memo if it is small, else the chosen plan; open if there is room. */
export function atFirst(index: MemoIndex): DrawnGroups {
  return index.places.size <= SMALL ? everything(index) : chosenPlan(index);
}

/** The groups of the chosen plan; the root alone if the plan is costed outside the memo. */
export function chosenPlan(index: MemoIndex): DrawnGroups {
  const groups = capped(index.chosenGroups.size ? index.chosenGroups : [index.memo.root]);
  return { groups, open: groups.size <= MOST_OPEN ? groups : new Set([index.memo.root]) };
}

export function everything(index: MemoIndex): DrawnGroups {
  const groups = capped(index.places.keys());
  return { groups, open: groups.size <= MOST_OPEN ? groups : chosenIn(index, groups) };
}

/** A group, which is open, and the groups that are at most `hops` steps away. */
export function focused(index: MemoIndex, group: number, hops: number): DrawnGroups {
  return { groups: capped(around(index, [group], hops)), open: new Set([group]) };
}

export function withGroups(drawn: DrawnGroups, groups: Iterable<number>): DrawnGroups {
  return { groups: capped([...drawn.groups, ...groups]), open: drawn.open };
}

export function without(drawn: DrawnGroups, group: number): DrawnGroups {
  return { groups: less(drawn.groups, group), open: less(drawn.open, group) };
}

export function withToggled(drawn: DrawnGroups, group: number): DrawnGroups {
  const open = drawn.open.has(group)
    ? less(drawn.open, group)
    : new Set([...drawn.open, group]);
  return { groups: drawn.groups, open };
}

export const allFolded = (drawn: DrawnGroups): DrawnGroups => ({ groups: drawn.groups, open: new Set() });
export const allOpen = (drawn: DrawnGroups): DrawnGroups => ({ groups: drawn.groups, open: drawn.groups });

function chosenIn(index: MemoIndex, groups: ReadonlySet<number>): ReadonlySet<number> {
  const chosen = [...index.chosenGroups].filter((id) => groups.has(id));
  return chosen.length <= MOST_OPEN ? new Set(chosen) : new Set();
}

function capped(groups: Iterable<number>): ReadonlySet<number> {
  const found = new Set<number>();
  for (const id of groups) {
    if (found.size === MOST_DRAWN) break;
    found.add(id);
  }
  return found;
}

function less(from: ReadonlySet<number>, one: number): ReadonlySet<number> {
  const rest = new Set(from);
  rest.delete(one);
  return rest;
}

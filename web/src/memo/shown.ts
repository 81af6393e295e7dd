/** Which groups of a memo are drawn, and which of them are open. Values: changes give new ones. */

import { around, type MemoIndex } from "./memo";

export interface Shown {
  readonly groups: ReadonlySet<number>;
  readonly open: ReadonlySet<number>;
}

/** As many groups as a picture can have and be read. */
export const MOST_DRAWN = 400;
/** As many as are laid out by their lines; more stand in rows. */
export const MOST_LAYERED = 60;
const SMALL = 24;
const MOST_OPEN = 9;

/** The whole memo if it is small, else the chosen plan; open as far as there is room. */
export function atFirst(index: MemoIndex): Shown {
  return index.places.size <= SMALL ? everything(index) : chosenPlan(index);
}

export function chosenPlan(index: MemoIndex): Shown {
  const groups = capped(index.chosenGroups);
  return { groups, open: groups.size <= MOST_OPEN ? groups : new Set([index.memo.root]) };
}

export function everything(index: MemoIndex): Shown {
  const groups = capped(index.places.keys());
  return { groups, open: groups.size <= MOST_OPEN ? groups : chosenIn(index, groups) };
}

/** A group, and what is at most so many steps away from it; itself open. */
export function focused(index: MemoIndex, group: number, hops: number): Shown {
  return { groups: capped(around(index, [group], hops)), open: new Set([group]) };
}

export function withGroups(shown: Shown, groups: Iterable<number>): Shown {
  return { groups: capped([...shown.groups, ...groups]), open: shown.open };
}

export function without(shown: Shown, group: number): Shown {
  return { groups: less(shown.groups, group), open: less(shown.open, group) };
}

export function toggled(shown: Shown, group: number): Shown {
  const open = shown.open.has(group)
    ? less(shown.open, group)
    : new Set([...shown.open, group]);
  return { groups: shown.groups, open };
}

export const allFolded = (shown: Shown): Shown => ({ groups: shown.groups, open: new Set() });
export const allOpen = (shown: Shown): Shown => ({ groups: shown.groups, open: shown.groups });

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

/** The ways to a goal, the winner first, then by what they cost. */

import type { Asked, Group, Way } from "../api/schema";

export interface ShownWay extends Way {
  readonly won: boolean;
  /** What it costs, by the dearest of those that are not too far off to be compared. */
  readonly part: number;
}

/** Dearer by more than this all look the same. */
const FAR = 20;

export function waysOf(group: Group, goal: Asked): readonly ShownWay[] {
  const winner = group.winners.find(({ required }) => required === goal.required);
  const won = (way: Way) =>
    winner !== undefined &&
    way.exact &&
    way.text === winner.text &&
    way.rule === winner.rule &&
    way.at_least === winner.cost &&
    way.source === winner.source;
  const cost = (way: Way) => way.at_least ?? Infinity;
  const ways = goal.ways.map((way) => ({ ...way, won: won(way) }));
  ways.sort((a, b) => Number(b.won) - Number(a.won) || cost(a) - cost(b));
  const least = Math.min(...ways.map(cost));
  const most = Math.max(...ways.map(cost).filter((c) => c <= least * FAR), least);
  return ways.map((way) => ({ ...way, part: most > 0 ? Math.min(1, cost(way) / most) : 0 }));
}

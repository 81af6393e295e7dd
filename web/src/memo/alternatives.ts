/** The alternatives for a goal, the winner first, then by their costs. */

import type { MemoGoal, Group, GoalAlternative } from "../api/schema";

export interface RankedAlternative extends GoalAlternative {
  readonly winner: boolean;
  /** Its cost as a part of the dearest one that is not too dear to be compared: 0 to 1. */
  readonly part: number;
}

/** What costs more than this many times the cheapest one is too dear to be compared. */
const COMPARABLE = 20;

export function rankedAlternatives(group: Group, goal: MemoGoal): readonly RankedAlternative[] {
  const best = group.winners.find(({ required }) => required === goal.required);
  const isBest = (one: GoalAlternative) =>
    best !== undefined &&
    one.exact &&
    one.text === best.text &&
    one.rule === best.rule &&
    one.at_least === best.cost &&
    one.source === best.source;
  const cost = (one: GoalAlternative) => one.at_least ?? Infinity;
  const ranked = goal.ways.map((one) => ({ ...one, winner: isBest(one) }));
  ranked.sort((a, b) => Number(b.winner) - Number(a.winner) || cost(a) - cost(b));
  const least = Math.min(...ranked.map(cost));
  const most = Math.max(...ranked.map(cost).filter((c) => c <= least * COMPARABLE), least);
  return ranked.map((one) => ({ ...one, part: most > 0 ? Math.min(1, cost(one) / most) : 0 }));
}

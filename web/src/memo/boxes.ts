/** The groups that are drawn as boxes and lines. */

import type { MemoExpression } from "../api/schema";
import { fitted, font, widthOf } from "../graph/fit";
import type { GraphBox, GraphLine } from "../graph/GraphView.svelte";
import { lineKey, type MemoIndex, type Place } from "./memo";
import type { Shown } from "./shown";

export interface Row {
  readonly expression: number;
  readonly text: string;
  /** Whether the chosen plan runs it, or it is the best of its group for something. */
  readonly chosen: boolean;
  readonly winner: boolean;
}

export interface GroupBox extends GraphBox {
  readonly group: number;
  readonly head: string;
  readonly name: string;
  /** Beside the head: how many expressions, or what its cheapest plan costs. */
  readonly note: string;
  readonly open: boolean;
  readonly chosen: boolean;
  readonly root: boolean;
  readonly rows: readonly Row[];
  /** How many expressions have no row. */
  readonly more: number;
}

export const HEAD = 30;
export const ROW = 19;
const MOST_ROWS = 6;
const WIDEST = 330;
const NARROWEST = 96;

export type Measure = (text: string, font: string) => number;

export function boxesOf(
  index: MemoIndex,
  shown: Shown,
  cost: (value: number) => string,
  width: Measure = widthOf,
): readonly GroupBox[] {
  return [...shown.groups].flatMap((id) => {
    const place = index.places.get(id);
    return place ? [boxOf(index, place, shown.open.has(id), cost, width)] : [];
  });
}

/** One line from each group to each one that reads it, thicker and lit where the plan goes; of
 * the plan alone no others. */
export function linesOf(index: MemoIndex, shown: Shown, planOnly = false): readonly GraphLine[] {
  const lines: GraphLine[] = [];
  for (const to of shown.groups)
    for (const from of index.places.get(to)?.inputs ?? []) {
      if (from === to || !shown.groups.has(from)) continue;
      const id = lineKey(from, to);
      const lit = index.chosenLines.has(id);
      if (planOnly && !lit) continue;
      lines.push({
        id,
        from: String(from),
        to: String(to),
        width: lit ? 2.5 : 1,
        tone: lit ? "lit" : "faint",
      });
    }
  // What is drawn last lies on top.
  return lines.sort((a, b) => Number(a.tone === "lit") - Number(b.tone === "lit"));
}

function boxOf(
  index: MemoIndex,
  place: Place,
  open: boolean,
  cost: (value: number) => string,
  width: Measure,
): GroupBox {
  const { group, name } = place;
  const chosen = index.chosenGroups.has(group.id);
  const best = Math.min(...group.winners.map((winner) => winner.cost));
  const count = group.expressions.length;
  const expressions = `${count} expression${count === 1 ? "" : "s"}`;
  const note = open && Number.isFinite(best) ? cost(best) : String(count);
  const head = `G${group.id}`;
  const [bold, small, mono] = [font("font", 12, 650), font("font", 11), font("mono", 11)];
  const rows = open ? rowsOf(index, group.expressions) : [];
  const heading = width(head, bold) + width(name, small) + width(note, small) + 52;
  const widest = Math.max(heading, ...rows.map(({ text }) => width(text, mono) + 34), NARROWEST);
  const wide = Math.min(WIDEST, Math.ceil(widest));
  const more = open ? count - rows.length : 0;
  return {
    id: String(group.id),
    group: group.id,
    head,
    name: fitted(name, small, wide - (heading - width(name, small)), width),
    note,
    open,
    chosen,
    root: group.id === index.memo.root,
    rows: rows.map((row) => ({ ...row, text: fitted(row.text, mono, wide - 34, width) })),
    more,
    width: wide,
    height: HEAD + (open ? rows.length * ROW + (more ? ROW : 0) + 6 : 0),
    label: `Group ${group.id}, ${name}, ${expressions}${chosen ? ", in the chosen plan" : ""}${
      open ? ", open" : ""
    }`,
    text: `G${group.id} ${name}`,
  };
}

/** The expressions that there is room for: those of the plan, then other winners, then the rest. */
function rowsOf(index: MemoIndex, expressions: readonly MemoExpression[]): readonly Row[] {
  const rank = (id: number) =>
    index.chosenExpressions.has(id) ? 0 : index.winners.has(id) ? 1 : 2;
  return [...expressions]
    .sort((a, b) => rank(a.id) - rank(b.id) || a.id - b.id)
    .slice(0, expressions.length === MOST_ROWS + 1 ? MOST_ROWS + 1 : MOST_ROWS)
    .map(({ id, text }) => ({
      expression: id,
      text,
      chosen: index.chosenExpressions.has(id),
      winner: index.winners.has(id),
    }));
}

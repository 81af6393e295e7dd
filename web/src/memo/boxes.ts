/** The drawn groups as boxes and lines of a graph. */

import type { MemoExpression } from "../api/schema";
import { fitted, font, widthOf } from "../graph/fit";
import { counted } from "../text/numbers";
import type { GraphBox, GraphLine } from "../graph/elements";
import { lineKey, type MemoIndex, type Place } from "./memo";
import type { DrawnGroups } from "./drawn";

export interface Row {
  readonly expression: number;
  readonly text: string;
  /** Whether the chosen plan runs it, and whether it is the best of its group for a goal. */
  readonly chosen: boolean;
  readonly winner: boolean;
}

export interface GroupBox extends GraphBox {
  readonly group: number;
  readonly head: string;
  readonly name: string;
  /** Beside the head: the number of expressions, or the cost of the cheapest plan. */
  readonly note: string;
  readonly open: boolean;
  readonly chosen: boolean;
  readonly root: boolean;
  readonly rows: readonly Row[];
  /** The number of expressions that have no row. */
  readonly more: number;
}

export const HEAD = 30;
export const ROW = 19;
const MOST_ROWS = 6;
const WIDEST = 330;
const NARROWEST = 96;

/** The width of a text in the font of the head of a box, of its name, or of an expression. */
export type Measure = (text: string, as: string) => number;

const onScreen: Measure = (text, as) =>
  widthOf(
    text,
    as === "head" ? font("font", 12, 650) : as === "name" ? font("font", 11) : font("mono", 11, 600),
  );

export function boxesOf(
  index: MemoIndex,
  drawn: DrawnGroups,
  cost: (value: number) => string,
  width: Measure = onScreen,
): readonly GroupBox[] {
  return [...drawn.groups].flatMap((id) => {
    const place = index.places.get(id);
    return place ? [boxOf(index, place, drawn.open.has(id), cost, width)] : [];
  });
}

/** With more lines than these, none can be followed. */
const MOST_LINES = 110;

/** Which lines are drawn beside those of the plan: none, those of the selected group, all, or, where
 * these are too many, those of the best expression of each group. */
export type DrawnLines = "plan" | "selected" | "best" | "all";

/** Lines from groups to those that read them, thicker and lit where the plan goes. */
export function linesOf(
  index: MemoIndex,
  drawn: DrawnGroups,
  wanted: Exclude<DrawnLines, "best">,
  selected: number | null = null,
): { readonly lines: readonly GraphLine[]; readonly drawn: DrawnLines } {
  if (wanted === "plan") return { lines: between(index, drawn, () => []), drawn: "plan" };
  if (wanted === "selected") {
    const ends = ({ group, inputs }: Place) =>
      group.id === selected ? inputs : inputs.filter((input) => input === selected);
    return { lines: between(index, drawn, ends), drawn: "selected" };
  }
  const all = between(index, drawn, (place) => place.inputs);
  if (all.length <= MOST_LINES) return { lines: all, drawn: "all" };
  return { lines: between(index, drawn, (place) => best(index, place)), drawn: "best" };
}

function between(
  index: MemoIndex,
  drawn: DrawnGroups,
  inputs: (place: Place) => readonly number[],
): readonly GraphLine[] {
  const found = new Map<string, GraphLine>();
  const draw = (from: number, to: number, lit: boolean) => {
    if (from === to || !drawn.groups.has(from) || !drawn.groups.has(to)) return;
    const id = lineKey(from, to);
    const line = { id, from: String(from), to: String(to) };
    found.set(id, lit ? { ...line, width: 2.5, tone: "lit" } : { ...line, width: 1 });
  };
  for (const to of drawn.groups) {
    const place = index.places.get(to);
    if (place) for (const from of inputs(place)) draw(from, to, false);
  }
  // What is drawn last lies on top.
  for (const line of index.chosenLines) {
    found.delete(line);
    const [from, to] = line.split("-").map(Number) as [number, number];
    draw(from, to, true);
  }
  return [...found.values()];
}

/** The inputs of the best expression of a group, or of the first one if none was costed. */
function best(index: MemoIndex, { group }: Place): readonly number[] {
  const winner = group.expressions.find(({ id }) => index.winners.has(id));
  return (winner ?? group.expressions[0])?.inputs ?? [];
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
  const expressions = counted(count, "expression");
  const note = open && Number.isFinite(best) ? cost(best) : String(count);
  const head = `G${group.id}`;
  const [bold, small, mono] = ["head", "name", "code"] as const;
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

/** The expressions that have room: those of the plan, then other winners, then the rest. */
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

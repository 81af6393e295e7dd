/** A plan as boxes and lines of a graph: their texts and sizes. */

import type { BoxDocument, PictureDocument, PlanDocument } from "../api/schema";
import { fitted, font, widthOf } from "../graph/fit";
import type { GraphBox, GraphLine } from "../graph/elements";
import type { DrawnPlan } from "./drawn";
import type { Figure } from "./figures";
import { number, plural, share } from "../text/numbers";
import { shares } from "./shares";
import type { Flow, Visible } from "./visible";

export interface PlanBox extends GraphBox {
  readonly node: number;
  readonly operator: string;
  readonly symbol: string;
  /** The lines of the arguments, as many as have room. */
  readonly summary: readonly string[];
  /** Its figures of the kind that is shown. */
  readonly figure: Figure;
  /** Operators that only pass rows on are drawn small. */
  readonly slim: boolean;
  /** How its rows are distributed. */
  readonly distribution: string;
  /** The digest of what the operator computes. */
  readonly alike: string;
  /** Whether the other plan computes the same; null if there is no other plan. */
  readonly common: boolean | null;
  /** Whether operators below it are left out. */
  readonly collapsed: boolean;
}

const SLIM = new Set(["TO_KERNEL", "EXCHANGE"]);
const WIDEST = 340;
const NARROWEST = 190;
const PADDING = 12;
/** Arguments of more lines are cut; the details have them whole. */
const MOST_LINES = 8;
export const HEAD = 46;
export const ROW = 15;

/** The digests of what the operators of a plan compute, to compare it with another one. */
export const digestsOf = (picture: PictureDocument): ReadonlySet<string> =>
  new Set(picture.boxes.map(({ alike }) => alike));

export function planBoxes(
  { plan, picture }: DrawnPlan,
  figures: readonly Figure[],
  visible: Visible,
  other: ReadonlySet<string> | null = null,
): readonly PlanBox[] {
  return picture.boxes.filter(({ id }) => visible.nodes.has(id)).map((box) => {
    const node = plan.nodes[box.id];
    const own = figures[box.id];
    if (node === undefined || own === undefined)
      throw new Error(`the picture has a box ${box.id} that is not a node`);
    const below = visible.below.get(box.id) ?? [];
    const merged = visible.merged.get(box.id) ?? [];
    const more = [
      ...(merged.length ? [mergedText(plan, [box.id, ...merged])] : []),
      ...(below.length ? [collapsedText(plan, below)] : []),
    ];
    const figure = more.length ? { ...own, lines: [...own.lines, ...more] } : own;
    const { distribution } = node.properties;
    const slim = SLIM.has(box.operator) && !below.length;
    const said = [
      `${box.operator} ${box.summary}`,
      ...new Set([...figure.lines, figure.spoken]),
      ...(figure.bottleneck ? ["the bottleneck"] : []),
      ...(other !== null && !other.has(box.alike) ? ["only in this plan"] : []),
    ];
    return {
      id: String(box.id),
      node: box.id,
      operator: box.operator,
      symbol: box.symbol,
      figure,
      slim,
      distribution,
      alike: box.alike,
      common: other === null ? null : other.has(box.alike),
      collapsed: below.length > 0,
      label: said.join("; "),
      text: `${box.operator} ${box.summary} ${distribution} ${box.facts.map((f) => f.value).join(" ")}`,
      ...sized(box, slim, figure),
    };
  });
}

function collapsedText(plan: PlanDocument, below: readonly number[]): string {
  return `▸ ${number(below.length)} ${plural(below.length, "operator")} below, ${partOfCost(plan, below)}`;
}

/** The line of a union that stands for further ones. */
export function mergedText(plan: PlanDocument, unions: readonly number[]): string {
  return `${number(unions.length)} unions in one, ${partOfCost(plan, unions)}`;
}

function partOfCost(plan: PlanDocument, ids: readonly number[]): string {
  const of = shares(plan.nodes.map(({ estimate }) => estimate.cost));
  return `${share(ids.reduce((sum, id) => sum + of[id]!, 0), 1)} of the cost`;
}

export function planLines(
  drawn: DrawnPlan,
  figures: readonly Figure[],
  visible: Visible,
): readonly GraphLine[] {
  const { plan } = drawn;
  const most = Math.max(...figures.map(({ rate }) => rate ?? 0), 0);
  return visible.flows.map((flow) => {
    const { id, from, to, through } = flow;
    const last = through.at(-1) ?? from;
    const moved = [from, ...through, to].some((one) => plan.nodes[one]?.op === "EXCHANGE");
    return {
      id,
      from: String(from),
      to: String(to),
      width: thickness(figures[last]?.rate ?? 0, most),
      text: flowText(drawn, figures, flow),
      tone: moved ? "moved" : "plain",
    };
  });
}

/** The rows on a line, and the enforcers that are folded into it. */
export function flowText(
  { plan, picture }: DrawnPlan,
  figures: readonly Figure[],
  { from, through }: Flow,
): string {
  const last = through.at(-1) ?? from;
  // TO_KERNEL stands below nearly every operator, and is named where it takes a part of the total.
  const takes = (id: number) => figures[id]!.heat >= 0.1;
  const named = through.filter((id) => plan.nodes[id]!.op !== "TO_KERNEL" || takes(id));
  const texts = named.map((id) => {
    const { op, properties } = plan.nodes[id]!;
    const figure = figures[id]!;
    const to = op === "EXCHANGE" ? ` ${properties.distribution}` : "";
    const badge = figure.bottleneck || takes(id) ? ` ${figure.badge}` : "";
    return `${picture.boxes[id]!.symbol} ${op}${to}${badge}`;
  });
  return [figures[last]!.flow, ...texts].filter(Boolean).join(" · ");
}

/** The width of a line in pixels, 1 to 7, by the order of magnitude of its rate. */
export function thickness(rate: number, most: number): number {
  if (rate <= 0 || most <= 0) return 1;
  return Math.max(1, 7 + 1.5 * Math.log10(rate / most));
}

function sized(
  box: BoxDocument,
  slim: boolean,
  figure: Figure,
): { width: number; height: number; summary: readonly string[] } {
  if (slim) {
    const text = box.operator === "EXCHANGE" ? box.summary : "";
    const name = widthOf(box.operator, font("font", 11, 600));
    const room = fitted(text, font("mono", 10.5), WIDEST - 120);
    const width = name + 46 + (room ? widthOf(room, font("mono", 10.5)) + 8 : 0);
    return { width, height: 30, summary: room ? [room] : [] };
  }
  const mono = font("mono", 11);
  const lines = wrapped(box.summary, WIDEST - 2 * PADDING, (text) => widthOf(text, mono), MOST_LINES);
  const longest = Math.max(
    ...lines.map((line) => widthOf(line, mono)),
    ...figure.lines.map((line) => widthOf(line, font("font", 11))),
    widthOf(box.operator, font("font", 13, 650)) + 90,
  );
  const width = Math.min(Math.max(longest + 2 * PADDING, NARROWEST), WIDEST + 20);
  const rows = lines.length + figure.lines.length;
  return { width, height: HEAD + rows * ROW + 8, summary: lines };
}

/** A word in pieces that have room in a line: paths have no spaces. */
function pieces(word: string, room: number, width: (text: string) => number): readonly string[] {
  if (width(word) <= room) return [word];
  const all: string[] = [];
  let piece = "";
  for (const character of word) {
    if (piece && width(piece + character) > room) {
      // Better after a sign than within a name.
      const end = /^(.*[·⋈|,)])[^·⋈|,)]+$/u.exec(piece)?.[1] ?? piece;
      all.push(end);
      piece = piece.slice(end.length);
    }
    piece += character;
  }
  return [...all, piece];
}

/** A text in at most `most` lines, broken at spaces and cut where there is no room. */
export function wrapped(
  text: string,
  room: number,
  width: (text: string) => number,
  most: number,
): readonly string[] {
  const lines: string[] = [];
  let line = "";
  const words = text.split(/\s+/).filter(Boolean).flatMap((word) => pieces(word, room, width));
  for (const word of words) {
    const longer = line ? `${line} ${word}` : word;
    if (width(longer) <= room || !line) line = longer;
    else {
      lines.push(line);
      line = word;
    }
  }
  if (line) lines.push(line);
  const kept = lines.slice(0, most);
  if (lines.length > most) kept[most - 1] = lines.slice(most - 1).join(" ");
  return kept.map((one) => fitted(one, "", room, width));
}

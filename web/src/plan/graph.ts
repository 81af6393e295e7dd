/** A plan as boxes and lines of a graph: their texts and sizes. */

import type { BoxDocument, Estimate, PictureDocument, PlanDocument } from "../api/schema";
import { fitted, font, widthOf } from "../graph/fit";
import type { GraphBox, GraphLine } from "../graph/elements";
import { duration, number, per, share } from "../text/numbers";

export interface PlanBox extends GraphBox {
  readonly node: number;
  readonly operator: string;
  readonly symbol: string;
  /** The lines of the arguments, as many as have room. */
  readonly summary: readonly string[];
  readonly numbers: string;
  readonly share: string;
  /** The cost of the operator as a part of that of the dearest one: 0 to 1. */
  readonly heat: number;
  /** Operators that only pass rows on are drawn small. */
  readonly slim: boolean;
  /** How its rows are distributed. */
  readonly distribution: string;
  /** The digest of what the operator computes. */
  readonly alike: string;
  /** Whether the other plan computes the same; null if there is no other plan. */
  readonly common: boolean | null;
  /** What was measured of the operator. */
  readonly measured?: string;
}

const SLIM = new Set(["TO_KERNEL", "EXCHANGE"]);
const WIDEST = 310;
const NARROWEST = 190;
const PADDING = 12;
export const HEAD = 46;
export const ROW = 15;

/** A plan, and how it is drawn. */
export interface DrawnPlan {
  readonly plan: PlanDocument;
  readonly picture: PictureDocument;
}

/** The heat of each node: its cost as a part of that of the dearest one. */
export function heats(plan: PlanDocument): readonly number[] {
  const costs = plan.nodes.map(({ estimate }) => estimate.cost);
  const most = Math.max(...costs, 0);
  return costs.map((cost) => (most > 0 ? cost / most : 0));
}

/** The digests of what the operators of a plan compute, to compare it with another one. */
export const digestsOf = (picture: PictureDocument): ReadonlySet<string> =>
  new Set(picture.boxes.map(({ alike }) => alike));

export function planBoxes(
  { plan, picture }: DrawnPlan,
  other: ReadonlySet<string> | null = null,
  measured: ReadonlyMap<number, string> = new Map(),
): readonly PlanBox[] {
  const heat = heats(plan);
  const root = plan.nodes[plan.root];
  const whole = root?.estimate.cumulative_cost ?? 0;
  return picture.boxes.map((box) => {
    const node = plan.nodes[box.id];
    if (node === undefined) throw new Error(`the picture has a box ${box.id} that is not a node`);
    const costShare = share(node.estimate.cost, whole);
    const { distribution } = node.properties;
    const numbers = numbersOf(node.estimate, picture);
    const shown = {
      id: String(box.id),
      node: box.id,
      operator: box.operator,
      symbol: box.symbol,
      numbers,
      share: costShare,
      heat: heat[box.id] ?? 0,
      slim: SLIM.has(box.operator),
      distribution,
      alike: box.alike,
      common: other === null ? null : other.has(box.alike),
      label: `${box.operator} ${box.summary}; ${numbers}; ${costShare} of the cost${
        other !== null && !other.has(box.alike) ? "; only in this plan" : ""
      }`,
      text: `${box.operator} ${box.summary} ${distribution} ${box.facts.map((f) => f.value).join(" ")}`,
      ...(measured.has(box.id) ? { measured: measured.get(box.id)! } : {}),
    };
    return { ...shown, ...sized(box, shown.slim, numbers, shown.measured) };
  });
}

export function planLines({ plan, picture }: DrawnPlan): readonly GraphLine[] {
  const rates = plan.nodes.map(({ estimate }) => estimate.rate);
  const most = Math.max(...rates, 0);
  return plan.nodes.flatMap((node) =>
    node.inputs.map((input, k) => {
      const rate = rates[input] ?? 0;
      return {
        id: `${input}-${node.id}-${k}`,
        from: String(input),
        to: String(node.id),
        width: thickness(rate, most),
        text: `${per(rate, picture.per)}/${picture.per.sign}`,
        tone: node.op === "EXCHANGE" || plan.nodes[input]?.op === "EXCHANGE" ? "moved" : "plain",
      };
    }),
  );
}

/** The width of a line in pixels, 1 to 7, by the order of magnitude of its rate. */
export function thickness(rate: number, most: number): number {
  if (rate <= 0 || most <= 0) return 1;
  return Math.max(1, 7 + 1.5 * Math.log10(rate / most));
}

export function numbersOf(estimate: Estimate, { per: unit, seconds }: PictureDocument): string {
  const { rate: distinct, derivation_rate: derived } = estimate;
  const emitted = derived == null ? "" : ` (${per(derived, unit)} emitted)`;
  const rate = `${per(distinct, unit)}/${unit.sign}${emitted}`;
  return `${rate} · valid ${duration(estimate.interval, seconds)} · holds ${number(estimate.population)}`;
}

function sized(
  box: BoxDocument,
  slim: boolean,
  numbers: string,
  measured: string | undefined,
): { width: number; height: number; summary: readonly string[] } {
  if (slim) {
    const text = box.operator === "EXCHANGE" ? box.summary : "";
    const name = widthOf(box.operator, font("font", 11, 600));
    const room = fitted(text, font("mono", 10.5), 130);
    const width = name + 46 + (room ? widthOf(room, font("mono", 10.5)) + 8 : 0);
    return { width, height: 30, summary: room ? [room] : [] };
  }
  const mono = font("mono", 11);
  const lines = wrapped(box.summary, WIDEST - 2 * PADDING, (text) => widthOf(text, mono), 3);
  const longest = Math.max(
    ...lines.map((line) => widthOf(line, mono)),
    widthOf(numbers, font("font", 11)),
    measured ? widthOf(measured, font("font", 11, 600)) : 0,
    widthOf(box.operator, font("font", 13, 650)) + 90,
  );
  const width = Math.min(Math.max(longest + 2 * PADDING, NARROWEST), WIDEST + 20);
  const rows = lines.length + 1 + (measured ? 1 : 0);
  return { width, height: HEAD + rows * ROW + 8, summary: lines };
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
  for (const word of text.split(/\s+/).filter(Boolean)) {
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

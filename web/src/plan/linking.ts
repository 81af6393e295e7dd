/** The operators of two plans that correspond, and how they differ. */

import type { BoxDocument } from "../api/schema";
import { duration, number, per } from "../text/numbers";
import type { DrawnPlan } from "./drawn";
import { ENFORCERS } from "./visible";

/** The streams and labels that the operators below read, with how often, for each operator. */
function inputsOf({ picture }: DrawnPlan): readonly string[] {
  const labels: (readonly string[])[] = [];
  for (const box of picture.boxes) {
    const own = box.facts.filter(({ name }) => name === "label").map(({ value }) => value);
    labels.push([...own, ...box.inputs.flatMap((input) => labels[input] ?? [])].sort());
  }
  return labels.map((all) => JSON.stringify(all));
}

/**
 * The operators of another plan that correspond to one.
 *
 * They compute the same; or else they are the same operator over the same labels; or else any
 * operators over the same labels, enforcers only if there are no others.
 */
export function corresponding(drawn: DrawnPlan, node: number, other: DrawnPlan): readonly number[] {
  const box = drawn.picture.boxes[node];
  if (box === undefined) return [];
  const boxes = other.picture.boxes;
  const idsOf = (some: readonly BoxDocument[]) => some.map(({ id }) => id);
  const same = boxes.filter(({ alike }) => alike === box.alike);
  if (same.length) return idsOf(same);
  const [own, theirs] = [inputsOf(drawn)[node], inputsOf(other)];
  const over = boxes.filter(({ id }) => theirs[id] === own);
  const named = over.filter(({ operator }) => operator === box.operator);
  if (named.length) return idsOf(named);
  const working = over.filter(({ operator }) => !ENFORCERS.has(operator));
  return idsOf(working.length ? working : over);
}

export interface Contrast {
  readonly name: string;
  readonly here: string;
  readonly there: string;
}

/** What differs between two operators; nothing if they compute the same at the same estimates. */
export function contrasts(
  drawn: DrawnPlan,
  node: number,
  other: DrawnPlan,
  otherNode: number,
): readonly Contrast[] {
  const [here, there] = [sayings(drawn, node), sayings(other, otherNode)];
  return [...new Set([...here.keys(), ...there.keys()])]
    .map((name) => ({ name, here: here.get(name) ?? "–", there: there.get(name) ?? "–" }))
    .filter(({ here, there }) => here !== there);
}

function sayings({ plan, picture }: DrawnPlan, id: number): ReadonlyMap<string, string> {
  const [box, node] = [picture.boxes[id]!, plan.nodes[id]!];
  const { per: unit, seconds } = picture;
  const { cost, cumulative_cost, rate, interval, population } = node.estimate;
  const inputs = box.inputs.map((input) => picture.boxes[input]!.operator);
  const rated = (value: number) => `${per(value, unit)}/${unit.sign}`;
  return new Map([
    ["operator", box.operator],
    ["arguments", box.summary],
    ["inputs", inputs.join(", ") || "–"],
    ["cost", `${per(cost, unit)} µs/${unit.sign}`],
    ["with inputs", `${per(cumulative_cost, unit)} µs/${unit.sign}`],
    ["rows", rated(rate)],
    ["valid", duration(interval, seconds)],
    ["held", number(population)],
    // The names of columns are those of the variables: the rows may be the same.
    ...box.facts.filter(({ name }) => name !== "columns").map(({ name, value }): [string, string] => [name, value]),
  ]);
}

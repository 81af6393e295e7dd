/** Why an operator was chosen, in the sentences of `headrace explain --why`. */

import type { Reason, Unit } from "../api/schema";
import { cost as costOf, number, per } from "../text/numbers";

export interface Ancestry {
  readonly text: string;
  readonly by: string;
}

/** The expressions from that of the query as written to the one that the plan runs. */
export const lineage = ({ lineage: all }: Reason): readonly Ancestry[] =>
  all.map(({ group, text, rule }) => ({
    text: `G${group} = ${text}`,
    by: rule === null ? "as written" : `by ${rule}`,
  }));

/** The next best alternative for the same rows; null if there is none. */
export function nextBest(reason: Reason, unit: Unit): string | null {
  const other = reason.runner_up;
  if (other === null) return null;
  const name = [...other.enforcers, other.text].join(" over ");
  if (other.cost === null)
    return `${name}: costs at least ${costOf(other.at_least, unit)}, and was not searched further`;
  const cost = `${other.exact ? "" : "at most "}${costOf(other.cost, unit)}`;
  if (reason.decided === "order") return `${name} at ${cost}, which is the same`;
  const ratio = other.cost / reason.cost;
  const times = Number.isFinite(ratio) ? `, ${number(ratio)} times as much` : "";
  const [own, inputs] = [signed(other.own, unit), signed(other.inputs, unit)];
  const parts = [own && `${own} for itself`, inputs && `${inputs} for its inputs`].filter(Boolean);
  return `${name} at ${cost}${times}${parts.length ? `: ${parts.join(", ")}` : ""}`;
}

export const DECIDED: Readonly<Record<Reason["decided"], string>> = {
  "own cost": "The operator itself is cheaper.",
  inputs: "Its inputs are cheaper.",
  order: "Both cost the same; the one found first stays.",
  "only way": "There is no alternative for these rows.",
  bound: "The other alternative is certain to cost more.",
  budget: "The search ended before the other alternative was costed.",
  sharing: "The tree of the other alternative is cheaper, but the whole plan shares more of its parts.",
  margin: "The other alternative is cheaper by less than the model's error: the plan as written is kept.",
};

function signed(value: number | null, unit: Unit): string {
  if (value === null || Math.abs(value * unit.factor) < 1e-12) return "";
  return `${per(Math.abs(value), unit)} ${value > 0 ? "more" : "less"}`;
}

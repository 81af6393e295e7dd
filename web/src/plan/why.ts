/** Why an operator is what it is, in sentences (as `headrace explain --why` says it). */

import type { Reason, Unit } from "../api/schema";
import { number, per } from "../text/numbers";

export interface Ancestry {
  readonly text: string;
  readonly by: string;
}

/** The expressions from the query as written to the one that is run. */
export const lineage = ({ lineage: all }: Reason): readonly Ancestry[] =>
  all.map(({ group, text, rule }) => ({
    text: `G${group} = ${text}`,
    by: rule === null ? "as written" : `by ${rule}`,
  }));

/** The next best way to the same rows; null if there is no other. */
export function nextBest(reason: Reason, unit: Unit): string | null {
  const other = reason.runner_up;
  if (other === null) return null;
  const name = [...other.enforcers, other.text].join(" over ");
  if (other.cost === null)
    return `${name}: it costs at least ${rate(other.at_least, unit)}, and was not searched further`;
  const cost = `${other.exact ? "" : "at most "}${rate(other.cost, unit)}`;
  if (reason.decided === "order") return `${name} at ${cost}, which is as much`;
  const ratio = other.cost / reason.cost;
  const times = Number.isFinite(ratio) ? `, ${number(ratio)} times as much` : "";
  const [own, inputs] = [signed(other.own, unit), signed(other.inputs, unit)];
  const parts = [own && `${own} for itself`, inputs && `${inputs} for its inputs`].filter(Boolean);
  return `${name} at ${cost}${times}${parts.length ? `: ${parts.join(", ")}` : ""}`;
}

export const DECIDED: Readonly<Record<Reason["decided"], string>> = {
  "own cost": "It is cheaper itself.",
  inputs: "Its inputs are cheaper.",
  order: "Both cost the same: the first that was found stays.",
  "only way": "There is no other way to these rows.",
  bound: "The other way is certain to cost more.",
  budget: "The search was cut before it knew.",
};

const rate = (value: number, unit: Unit): string => `${per(value, unit)}/${unit.sign}`;

function signed(value: number | null, unit: Unit): string {
  if (value === null || Math.abs(value * unit.factor) < 1e-12) return "";
  return `${per(Math.abs(value), unit)} ${value > 0 ? "more" : "less"}`;
}

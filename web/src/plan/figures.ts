/** The figures on the graph of a plan: estimated, measured, or how far the estimates are off. */

import type { OperatorDocument } from "../api/schema";
import { duration, number, per, share } from "../text/numbers";
import { bytes, clock } from "../text/time";
import type { DrawnPlan } from "./drawn";
import { shares } from "./shares";

export const KINDS = ["estimated", "measured", "off"] as const;
export type Kind = (typeof KINDS)[number];

/** What was measured of each operator, by its node. */
export type Measurement = ReadonlyMap<number, Omit<OperatorDocument, "node">>;

/** The figures of an operator. */
export interface Figure {
  /** Its share of the total, or how many times an estimate is off. */
  readonly badge: string;
  readonly lines: readonly string[];
  /** From 0 to 1. */
  readonly heat: number;
  /** Whether it takes so large a part of the total that the plan waits for it. */
  readonly bottleneck: boolean;
  /** What a screen reader says of the badge. */
  readonly spoken: string;
  /** The rows that it emits, per time unit; null if they are not known. */
  readonly rate: number | null;
  /** The text on the lines that leave it. */
  readonly flow: string;
}

/** The share of the total from which on an operator has the full colour. */
export const HOT = 0.5;
/** The q-error from which on an operator has the full colour; `explain --analyze` marks it too. */
export const FAR_OFF = 10;
/** A smaller q-error is not worth a word. */
const NEAR = 1.05;

/**
 * The part that is the bottleneck; null if none is.
 *
 * It takes 40 % of the total at least, and one and a half times as much as it would if all parts
 * that take anything took the same: of two operators, one with 60 % is none.
 */
export function bottleneck(parts: readonly number[]): number | null {
  const of = shares(parts);
  const working = of.filter((part) => part > 0).length;
  const most = Math.max(...of, 0);
  return most >= Math.max(0.4, 1.5 / working) ? of.indexOf(most) : null;
}

/** The figures of all nodes of a plan, in their order; without a measurement, all are estimated. */
export function figuresOf(
  drawn: DrawnPlan,
  kind: Kind,
  measurement: Measurement | null,
): readonly Figure[] {
  if (kind === "estimated" || measurement === null) return estimated(drawn);
  return kind === "measured" ? measured(drawn, measurement) : off(drawn, measurement);
}

function estimated({ plan, picture }: DrawnPlan): readonly Figure[] {
  const { per: unit, seconds } = picture;
  const costs = plan.nodes.map(({ estimate }) => estimate.cost);
  const of = shares(costs);
  const top = bottleneck(costs);
  return plan.nodes.map(({ estimate }, k) => {
    const { rate, derivation_rate: derived } = estimate;
    const emitted = derived == null ? "" : ` (${per(derived, unit)} emitted)`;
    const flow = `${per(rate, unit)}/${unit.sign}`;
    const badge = share(of[k]!, 1);
    return {
      badge,
      lines: [
        `${flow}${emitted} · valid ${duration(estimate.interval, seconds)} · holds ${number(estimate.population)}`,
      ],
      heat: Math.min(1, of[k]! / HOT),
      bottleneck: top === k,
      spoken: `${badge} of the cost`,
      rate,
      flow,
    };
  });
}

const UNMEASURED: Figure = {
  badge: "",
  lines: ["not measured"],
  heat: 0,
  bottleneck: false,
  spoken: "not measured",
  rate: null,
  flow: "",
};

function measured({ plan, picture }: DrawnPlan, measurement: Measurement): readonly Figure[] {
  const { per: unit } = picture;
  const times = plan.nodes.map(({ id }) => measurement.get(id)?.seconds ?? 0);
  const of = shares(times);
  const top = bottleneck(times);
  return plan.nodes.map(({ id }, k) => {
    const node = measurement.get(id);
    if (node === undefined) return UNMEASURED;
    // Readers and operators of Spark measure no time.
    const works = node.seconds > 0;
    const badge = works ? share(of[k]!, 1) : "";
    const out = number(node.rows_out);
    const rows = node.rows_in ? `${number(node.rows_in)} in → ${out} out` : `${out} rows`;
    const state = node.state_entries
      ? `holds ${number(node.state_entries)}, ${bytes(node.state_bytes)}`
      : "holds no rows";
    return {
      badge,
      lines: [
        `${rows} · ${per(node.rate, unit)}/${unit.sign}`,
        `${works ? clock(node.seconds) : "time not measured"} · ${state}`,
      ],
      heat: Math.min(1, of[k]! / HOT),
      bottleneck: top === k,
      spoken: works ? `${badge} of the measured time` : "time not measured",
      rate: node.rate,
      flow: `${out} rows`,
    };
  });
}

function off({ plan, picture }: DrawnPlan, measurement: Measurement): readonly Figure[] {
  const { per: unit, seconds } = picture;
  return plan.nodes.map(({ id, estimate }) => {
    const node = measurement.get(id);
    if (node === undefined) return UNMEASURED;
    const rate = (value: number) => `${per(value, unit)}/${unit.sign}`;
    const before = node.estimate;
    const compared = [
      compare("rows", before.rate, node.rate, node.q_error.rate, rate),
      compare("held", before.population, node.population, node.q_error.population, number),
      compare("valid", before.validity, node.validity, node.q_error.validity, (value) =>
        duration(value, seconds),
      ),
    ].flatMap((one) => one ?? []);
    const worst = Math.max(...compared.map(({ error }) => error), 0);
    const far = compared.filter(({ error }) => error >= NEAR).sort((a, b) => b.error - a.error);
    const expected = before.rate ?? estimate.rate;
    return {
      badge: worst === 0 ? "" : worst < NEAR ? "exact" : `${number(worst)}×`,
      lines: far.length
        ? far.slice(0, 2).map(({ text }) => text)
        : [worst === 0 ? "not comparable" : "as estimated"],
      heat: worst === 0 ? 0 : Math.min(1, Math.log10(worst) / Math.log10(FAR_OFF)),
      bottleneck: false,
      spoken: worst === 0 ? "not comparable" : worst < NEAR ? "as estimated" : `${number(worst)} times off`,
      rate: node.rate,
      flow: per(expected, unit) === per(node.rate, unit) ? rate(node.rate) : `${per(expected, unit)} → ${rate(node.rate)}`,
    };
  });
}

function compare(
  name: string,
  before: number | null,
  after: number | null,
  error: number | null,
  text: (value: number) => string,
): { readonly error: number; readonly text: string } | null {
  if (before === null || after === null || error === null) return null;
  const direction = name === "valid" ? ["longer", "shorter"] : ["more", "fewer"];
  const times = `${number(error)}× ${direction[after >= before ? 0 : 1]}`;
  return { error, text: `${name} ${text(before)} → ${text(after)}: ${times}` };
}

/** Measured figures of a plan: those of a running query, and those in files of the command line. */

import type { OperatorDocument } from "../api/schema";
import type { Measurement } from "./figures";

type Measured = Omit<OperatorDocument, "node">;

export const measurementOf = (operators: readonly OperatorDocument[]): Measurement =>
  new Map(operators.map((one) => [one.node, one]));

/** A measurement, and the digest of the plan that it is of. */
export interface FileOfFigures {
  readonly digest: string;
  readonly measurement: Measurement;
}

/**
 * Reads the JSON of `headrace explain --analyze --format json` or of `headrace run --metrics`.
 *
 * @throws Error if the text has no measured figures; its message says what is missing.
 */
export function figuresInFile(text: string): FileOfFigures {
  let document: unknown;
  try {
    document = JSON.parse(text);
  } catch {
    throw new Error("The file is no JSON.");
  }
  const { plan, measured, operators } = membersOf(document);
  const digest = typeof plan === "string" ? plan : membersOf(plan)["digest"];
  const nodes = membersOf(operators ?? membersOf(measured)["nodes"]);
  const found = Object.entries(nodes).filter(([node, one]) => /^\d+$/.test(node) && isMeasured(one));
  if (typeof digest !== "string" || !found.length)
    throw new Error(
      "The file has no measured figures. Write one with `headrace explain QUERY --analyze --format json`, or with `headrace run QUERY --metrics FILE`.",
    );
  return {
    digest,
    measurement: new Map(found.map(([node, one]) => [Number(node), one as Measured])),
  };
}

const membersOf = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};

const COUNTS = ["rows_in", "rows_out", "rate", "population", "seconds", "state_entries", "state_bytes"];

function isMeasured(value: unknown): boolean {
  const members = membersOf(value);
  const numbers = (part: unknown) =>
    ["rate", "population", "validity"].every((name) => {
      const one = membersOf(part)[name];
      return one === null || typeof one === "number";
    });
  return (
    COUNTS.every((name) => typeof members[name] === "number") &&
    numbers(members["estimate"]) &&
    numbers(members["q_error"])
  );
}

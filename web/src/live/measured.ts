/** What was measured of operators, in a line of their boxes below the estimates. */

import type { OperatorDocument, PictureDocument } from "../api/schema";
import { duration, number, per } from "../text/numbers";

/** A line for the box of each operator, by its node. */
export function measuredTexts(
  operators: readonly OperatorDocument[],
  { per: unit, seconds }: PictureDocument,
): ReadonlyMap<number, string> {
  return new Map(
    operators.map(({ node, rate, validity, population, q_error }) => {
      const parts = [`measured ${per(rate, unit)}/${unit.sign}`];
      if (validity !== null) parts.push(`valid ${duration(validity, seconds)}`);
      parts.push(`holds ${number(population)}`);
      const worst = Math.max(...Object.values(q_error).map((value) => value ?? 1));
      if (worst >= 1.05) parts.push(`${number(worst)}× off`);
      return [node, parts.join(" · ")];
    }),
  );
}

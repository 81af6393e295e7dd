/** A plan as lines of text, as `headrace explain` writes it. */

import type { DrawnPlan } from "./drawn";
import type { Figure } from "./figures";

export interface TextRow {
  readonly node: number;
  /** Different in each row, also where an operator stands in several. */
  readonly key: string;
  /** The branches before the operator. */
  readonly indent: string;
  readonly operator: string;
  readonly summary: string;
  readonly figures: string;
  readonly badge: string;
  /** Whether the operator was written with its inputs in a row above. */
  readonly again: boolean;
}

/** The operators from the answer down; one that several read has its inputs at the first place. */
export function textRows({ plan, picture }: DrawnPlan, figures: readonly Figure[]): readonly TextRow[] {
  const rows: TextRow[] = [];
  const written = new Set<number>();
  const write = (id: number, before: string, branch: string, rest: string, key: string): void => {
    const box = picture.boxes[id]!;
    const figure = figures[id]!;
    const again = written.has(id);
    rows.push({
      node: id,
      key,
      indent: before + branch,
      operator: box.operator,
      summary: box.summary,
      figures: figure.lines.join(" · "),
      badge: figure.badge,
      again,
    });
    if (again) return;
    written.add(id);
    const { inputs } = plan.nodes[id]!;
    inputs.forEach((input, k) => {
      const last = k === inputs.length - 1;
      write(input, before + rest, last ? "└─ " : "├─ ", last ? "   " : "│  ", `${key}.${k}`);
    });
  };
  write(plan.root, "", "", "", "0");
  return rows;
}

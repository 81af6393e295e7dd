/**
 * The part of a plan that its graph shows.
 *
 * Enforcers are folded into the lines, unions of unions are drawn as one, and the operators below a
 * collapsed one are left out.
 */

import type { PlanDocument } from "../api/schema";

/** The operators that change how rows are kept or moved, and not which rows there are. */
export const ENFORCERS: ReadonlySet<string> = new Set(["TO_KERNEL", "EXCHANGE", "COALESCE", "RETRACT"]);

/** An enforcer with this share of the estimated cost is not folded. */
const TOO_DEAR = 0.25;

/** Rows on their way from operator to operator, through enforcers that are folded. */
export interface Flow {
  readonly id: string;
  readonly from: number;
  readonly to: number;
  /** The enforcers, the first one that the rows pass first. */
  readonly through: readonly number[];
}

export interface Visible {
  /** The operators that are drawn. */
  readonly nodes: ReadonlySet<number>;
  readonly flows: readonly Flow[];
  /** The operators that are left out, by the collapsed one above them. */
  readonly below: ReadonlyMap<number, readonly number[]>;
  /** The unions that are drawn as a part of the one above them, by that one. */
  readonly merged: ReadonlyMap<number, readonly number[]>;
  /** The number of enforcers that are folded. */
  readonly folded: number;
}

export interface Shown {
  /** Whether enforcers, and unions below unions, have boxes of their own. */
  readonly enforcers: boolean;
  /** The operators whose inputs are left out. */
  readonly collapsed: ReadonlySet<number>;
  /** Operators that are drawn in any case. */
  readonly keep?: ReadonlySet<number>;
}

export function visiblePart(plan: PlanDocument, { enforcers, collapsed, keep }: Shown): Visible {
  const total = plan.nodes.reduce((sum, { estimate }) => sum + estimate.cost, 0);
  const hides = (id: number): boolean =>
    !enforcers &&
    id !== plan.root &&
    !keep?.has(id) &&
    !collapsed.has(id) &&
    plan.nodes[id]!.estimate.cost < TOO_DEAR * total;
  const folds = (id: number): boolean =>
    hides(id) && ENFORCERS.has(plan.nodes[id]!.op) && plan.nodes[id]!.inputs.length === 1;
  const uses = new Map<number, number>();
  for (const { inputs } of plan.nodes) for (const id of inputs) uses.set(id, (uses.get(id) ?? 0) + 1);
  /** Whether the rows of a union go to another union alone, through these enforcers. */
  const merges = (id: number, into: number, through: readonly number[]): boolean =>
    hides(id) &&
    [id, into].every((one) => plan.nodes[one]!.op === "UNION") &&
    [id, ...through].every((one) => uses.get(one) === 1);
  const nodes = new Set<number>();
  const folded = new Set<number>();
  const merged = new Map<number, number[]>();
  const flows: Flow[] = [];
  const visit = (id: number): void => {
    if (nodes.has(id)) return;
    nodes.add(id);
    if (!collapsed.has(id)) lead(id, id, []);
  };
  /** Draws the inputs of an operator, which `to` stands for, as lines to `to`. */
  const lead = (id: number, to: number, above: readonly number[]): void =>
    plan.nodes[id]!.inputs.forEach((input, k) => {
      const through = [...above];
      let from = input;
      while (folds(from)) {
        through.unshift(from);
        folded.add(from);
        from = plan.nodes[from]!.inputs[0]!;
      }
      if (merges(from, to, through)) {
        merged.set(to, [...(merged.get(to) ?? []), from]);
        lead(from, to, through);
      } else {
        flows.push({ id: `${input}-${id}-${k}`, from, to, through });
        visit(from);
      }
    });
  visit(plan.root);
  const shown = new Set([...nodes, ...folded, ...[...merged.values()].flat()]);
  const below = new Map(
    [...collapsed]
      .filter((id) => nodes.has(id))
      .map((id) => [id, [...descendants(plan, id)].filter((one) => !shown.has(one))]),
  );
  // Inputs before the operators that read them, as in the plan: the layout keeps their order.
  const order = new Map(plan.nodes.map(({ id }, k) => [id, k]));
  flows.sort((a, b) => order.get(a.to)! - order.get(b.to)!);
  return { nodes, flows, below, merged, folded: folded.size };
}

/** The operators that a collapsed one leaves out unless others read them, itself not among them. */
export function descendants(plan: PlanDocument, id: number): ReadonlySet<number> {
  const found = new Set<number>();
  const pending = [...plan.nodes[id]!.inputs];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    if (found.has(next)) continue;
    found.add(next);
    pending.push(...plan.nodes[next]!.inputs);
  }
  return found;
}

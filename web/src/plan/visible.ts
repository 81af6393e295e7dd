/**
 * The part of a plan that its graph shows.
 *
 * Enforcers are folded into the lines, and the operators below a collapsed one are left out.
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
  /** The number of enforcers that are folded. */
  readonly folded: number;
}

export interface Shown {
  /** Whether enforcers have boxes of their own. */
  readonly enforcers: boolean;
  /** The operators whose inputs are left out. */
  readonly collapsed: ReadonlySet<number>;
  /** Enforcers that are drawn in any case. */
  readonly keep?: ReadonlySet<number>;
}

export function visiblePart(plan: PlanDocument, { enforcers, collapsed, keep }: Shown): Visible {
  const total = plan.nodes.reduce((sum, { estimate }) => sum + estimate.cost, 0);
  const folds = (id: number): boolean => {
    const node = plan.nodes[id]!;
    if (enforcers || id === plan.root || keep?.has(id) || collapsed.has(id)) return false;
    return ENFORCERS.has(node.op) && node.inputs.length === 1 && node.estimate.cost < TOO_DEAR * total;
  };
  const nodes = new Set<number>();
  const folded = new Set<number>();
  const flows: Flow[] = [];
  const visit = (id: number): void => {
    if (nodes.has(id)) return;
    nodes.add(id);
    if (collapsed.has(id)) return;
    plan.nodes[id]!.inputs.forEach((input, k) => {
      const through: number[] = [];
      let from = input;
      while (folds(from)) {
        through.unshift(from);
        folded.add(from);
        from = plan.nodes[from]!.inputs[0]!;
      }
      flows.push({ id: `${input}-${id}-${k}`, from, to: id, through });
      visit(from);
    });
  };
  visit(plan.root);
  const below = new Map(
    [...collapsed]
      .filter((id) => nodes.has(id))
      .map((id) => [id, [...descendants(plan, id)].filter((one) => !nodes.has(one) && !folded.has(one))]),
  );
  // Inputs before the operators that read them, as in the plan: the layout keeps their order.
  const order = new Map(plan.nodes.map(({ id }, k) => [id, k]));
  flows.sort((a, b) => order.get(a.to)! - order.get(b.to)!);
  return { nodes, flows, below, folded: folded.size };
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

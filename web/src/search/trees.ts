/** What a rule matched and what it added, as small trees of operators over groups. */

import type { SeenMember } from "../api/schema";
import type { Step } from "./replay";

export interface Tree {
  /** The group of the expression; a leaf has a group alone. */
  readonly group: number;
  readonly expression: SeenMember | null;
  readonly inputs: readonly Tree[];
  /** Whether the step added the expression, and whether the group too. */
  readonly added: boolean;
  readonly newGroup: boolean;
}

export interface Rewriting {
  readonly before: readonly Tree[];
  readonly after: readonly Tree[];
}

/** The expressions that were matched, and those that were added for them or found in the memo. */
export function rewriting(
  step: Extract<Step, { matched: unknown }>,
  expressions: ReadonlyMap<number, SeenMember>,
): Rewriting {
  const byIds = (ids: readonly number[]) => ids.flatMap((id) => expressions.get(id) ?? []);
  const matched = step.kind === "known" ? byIds(step.matched) : step.matched;
  const [root, ...inner] = matched;
  const before = root ? [treeOf(root, inner, new Set(), new Set())] : [];
  const added = step.kind === "known" ? [] : step.added;
  const groups = step.kind === "known" ? new Set<number>() : new Set(step.groups);
  const found = byIds(step.known);
  const ids = new Set(added.map(({ id }) => id));
  const all = [...added, ...found];
  // An input of another expression is drawn below that.
  const read = new Set(all.flatMap(({ inputs }) => inputs));
  const roots = all.filter(({ group }) => !read.has(group));
  const used = new Set<number>();
  const after = (roots.length ? roots : all).map((one) =>
    treeOf(
      one,
      all.filter((other) => other.group !== one.group && !used.has(other.id)),
      ids,
      groups,
      used,
    ),
  );
  return { before, after };
}

function treeOf(
  root: SeenMember,
  parts: readonly SeenMember[],
  added: ReadonlySet<number>,
  groups: ReadonlySet<number>,
  used = new Set<number>(),
  depth = 0,
): Tree {
  used.add(root.id);
  const inputs = root.inputs.map((group): Tree => {
    const part =
      depth < 4 ? parts.find((one) => one.group === group && !used.has(one.id)) : undefined;
    if (part) return treeOf(part, parts, added, groups, used, depth + 1);
    return { group, expression: null, inputs: [], added: false, newGroup: groups.has(group) };
  });
  return {
    group: root.group,
    expression: root,
    inputs,
    added: added.has(root.id),
    newGroup: groups.has(root.group),
  };
}

/** The operator and the arguments in the text of an expression: `PATTERN` and
 * `G0(v0,v1) ⋈ G1(v1,v2) → v0,v2`. */
export function parts(text: string): { operator: string; summary: string } {
  const [, operator = text, rest = ""] = /^([A-Z_]+)(.*)$/s.exec(text) ?? [];
  const inside = /^\[(.*)\](?:\([^()]*\))?$/s.exec(rest);
  return { operator, summary: inside?.[1] ?? "" };
}

export interface PlacedTree {
  readonly width: number;
  readonly height: number;
  readonly nodes: readonly { tree: Tree; x: number; y: number; width: number; height: number }[];
  readonly lines: readonly { x1: number; y1: number; x2: number; y2: number }[];
}

/** Places the boxes of a tree: each above its inputs, in their middle. */
export function placedTree(
  tree: Tree,
  size: (tree: Tree) => { width: number; height: number },
  gap = { x: 14, y: 26 },
): PlacedTree {
  const nodes: { tree: Tree; x: number; y: number; width: number; height: number }[] = [];
  const lines: { x1: number; y1: number; x2: number; y2: number }[] = [];
  const wide = (one: Tree): number => {
    const below = one.inputs.reduce((sum, input) => sum + wide(input), 0);
    return Math.max(size(one).width, below + gap.x * Math.max(0, one.inputs.length - 1));
  };
  let bottom = 0;
  const put = (one: Tree, left: number, top: number): { x: number; y: number } => {
    const { width, height } = size(one);
    const room = wide(one);
    const x = left + room / 2;
    nodes.push({ tree: one, x: x - width / 2, y: top, width, height });
    bottom = Math.max(bottom, top + height);
    const below = one.inputs.reduce((sum, input) => sum + wide(input), 0);
    let at = left + (room - below - gap.x * Math.max(0, one.inputs.length - 1)) / 2;
    for (const input of one.inputs) {
      const child = put(input, at, top + height + gap.y);
      lines.push({ x1: x, y1: top + height, x2: child.x, y2: child.y });
      at += wide(input) + gap.x;
    }
    return { x, y: top };
  };
  put(tree, 0, 0);
  return { width: wide(tree), height: bottom, nodes, lines };
}

/** A memo with its cross references: inputs and readers of groups, the chosen plan, and a search. */

import type { Group, Memo, MemoExpression } from "../api/schema";

/** A group with its inputs, its readers and its place in the memo. */
export interface Place {
  readonly group: Group;
  /** The groups that its expressions read, in the order of the expressions. */
  readonly inputs: readonly number[];
  readonly readers: readonly number[];
  /** The length of the longest way to a leaf: a group stands above all its inputs. */
  readonly layer: number;
  /** The labels that it reads, in short: `a·b·c`. */
  readonly name: string;
}

export interface MemoIndex {
  readonly memo: Memo;
  readonly places: ReadonlyMap<number, Place>;
  readonly expressions: ReadonlyMap<number, MemoExpression>;
  readonly groupOf: ReadonlyMap<number, number>;
  /** The groups, the expressions and the lines (by `lineKey`) of the chosen plan. */
  readonly chosenGroups: ReadonlySet<number>;
  readonly chosenExpressions: ReadonlySet<number>;
  readonly chosenLines: ReadonlySet<string>;
  /** The expressions that are the best of their group for some required properties. */
  readonly winners: ReadonlySet<number>;
}

export function indexed(memo: Memo): MemoIndex {
  const expressions = new Map<number, MemoExpression>();
  const groupOf = new Map<number, number>();
  const inputs = new Map<number, readonly number[]>();
  const readers = new Map<number, number[]>(memo.groups.map(({ id }) => [id, []]));
  const winners = new Set<number>();
  for (const group of memo.groups) {
    const read = new Set<number>();
    for (const expression of group.expressions) {
      expressions.set(expression.id, expression);
      groupOf.set(expression.id, group.id);
      for (const input of expression.inputs) read.add(input);
    }
    for (const { source } of group.winners) if (source !== null) winners.add(source);
    inputs.set(group.id, [...read]);
    for (const input of read) readers.get(input)?.push(group.id);
  }
  const layers = layersOf(inputs);
  const names = namesOf(memo.groups);
  const places = new Map<number, Place>();
  for (const group of memo.groups)
    places.set(group.id, {
      group,
      inputs: inputs.get(group.id) ?? [],
      readers: readers.get(group.id) ?? [],
      layer: layers.get(group.id) ?? 0,
      name: names.get(group.id) ?? "",
    });
  return { memo, places, expressions, groupOf, winners, ...chosenOf(memo) };
}

export const lineKey = (from: number, to: number): string => `${from}-${to}`;

function chosenOf(memo: Memo) {
  const at = new Map(memo.chosen.map((one) => [one.node, one]));
  const chosenLines = new Set<string>();
  for (const node of memo.plan.nodes) {
    const to = at.get(node.id)?.group;
    for (const input of node.inputs) {
      const from = at.get(input)?.group;
      if (from !== undefined && to !== undefined && from !== to)
        chosenLines.add(lineKey(from, to));
    }
  }
  const run = memo.chosen.flatMap(({ expression }) => (expression === null ? [] : [expression]));
  return {
    chosenGroups: new Set(memo.chosen.map(({ group }) => group)),
    chosenExpressions: new Set(run),
    chosenLines,
  };
}

/** The length of the longest way to a leaf, leaving out inputs that would close a circle. */
function layersOf(inputs: ReadonlyMap<number, readonly number[]>): ReadonlyMap<number, number> {
  const layers = new Map<number, number>();
  const open = new Set<number>();
  for (const start of inputs.keys()) {
    const work: { id: number; next: number }[] = [{ id: start, next: 0 }];
    while (work.length) {
      const top = work[work.length - 1]!;
      const below = inputs.get(top.id) ?? [];
      if (layers.has(top.id)) {
        work.pop();
        continue;
      }
      open.add(top.id);
      while (top.next < below.length) {
        const id = below[top.next]!;
        if (layers.has(id) || open.has(id)) top.next += 1;
        else break;
      }
      if (top.next < below.length) {
        work.push({ id: below[top.next]!, next: 0 });
        continue;
      }
      layers.set(top.id, Math.max(-1, ...below.map((id) => layers.get(id) ?? -1)) + 1);
      open.delete(top.id);
      work.pop();
    }
  }
  return layers;
}

const MOST_LABELS = 4;

/** The labels of groups, `a·b·c`, without the stream where there is only one. */
function namesOf(groups: readonly Group[]): ReadonlyMap<number, string> {
  const stream = (leaf: string) => leaf.slice(0, leaf.lastIndexOf("."));
  const streams = new Set(groups.flatMap(({ reads }) => reads.map(stream)));
  const label = (leaf: string) => (streams.size > 1 ? leaf : leaf.slice(leaf.lastIndexOf(".") + 1));
  return new Map(
    groups.map(({ id, reads }) => {
      const labels = reads.map(label);
      if (labels.length <= MOST_LABELS) return [id, labels.join("·")];
      return [id, `${labels[0]}·${labels[1]}·…·${labels.at(-1)} (${labels.length})`];
    }),
  );
}

/** The groups that are at most `hops` steps away, over inputs, readers or both. */
export function around(
  index: MemoIndex,
  start: Iterable<number>,
  hops: number,
  way: "inputs" | "readers" | "both" = "both",
): ReadonlySet<number> {
  const found = new Set<number>(start);
  let edge: readonly number[] = [...found];
  for (let hop = 0; hop < hops && edge.length; hop += 1) {
    const next: number[] = [];
    for (const id of edge) {
      const place = index.places.get(id);
      if (!place) continue;
      const near = [
        ...(way === "readers" ? [] : place.inputs),
        ...(way === "inputs" ? [] : place.readers),
      ];
      for (const other of near)
        if (!found.has(other)) {
          found.add(other);
          next.push(other);
        }
    }
    edge = next;
  }
  return found;
}

/** A group that a search found: by itself if there are no expressions, else by those. */
export interface Hit {
  readonly group: number;
  readonly expressions: readonly number[];
}

/**
 * The groups that all words match. `G12` and `e34` are a group and an expression; other words are
 * looked for in labels, expressions and names of rules.
 */
export function search(index: MemoIndex, sought: string): readonly Hit[] {
  const words = sought.toLowerCase().split(/\s+/).filter(Boolean);
  if (!words.length) return [];
  const hits: Hit[] = [];
  for (const { group, name } of index.places.values()) {
    const own = `g${group.id}`;
    const about = `${name} ${group.reads.join(" ")}`.toLowerCase();
    const left = words.filter((word) => word !== own && !about.includes(word));
    if (!left.length) {
      hits.push({ group: group.id, expressions: [] });
      continue;
    }
    if (left.some((word) => /^g\d+$/.test(word))) continue;
    const fitting = group.expressions.filter((e) => {
      const text = `${e.text} ${e.rule ?? "query"}`.toLowerCase();
      return left.every((word) => (/^e\d+$/.test(word) ? word === `e${e.id}` : text.includes(word)));
    });
    if (fitting.length) hits.push({ group: group.id, expressions: fitting.map(({ id }) => id) });
  }
  return hits;
}

import { describe, expect, it } from "vitest";

import type { Memo } from "../api/schema";
import sample from "../samples/memo.json";
import { boxesOf, linesOf } from "./boxes";
import { gridOf } from "./grid";
import { around, indexed, search } from "./memo";
import { cellAt, mapOf } from "./map";
import { atFirst, chosenPlan, everything, focused, MOST_DRAWN, withToggled, withGroups, without } from "./drawn";

const memo = sample as unknown as Memo;
const index = indexed(memo);

/** A memo of a query over a chain of joins: a group for each part of the chain. */
function chain(length: number): Memo {
  const id = (from: number, to: number) => from * length + to;
  const groups = [];
  for (let from = 0; from < length; from += 1)
    for (let to = from; to < length; to += 1)
      groups.push({
        id: id(from, to),
        columns: 2,
        reads: Array.from({ length: to - from + 1 }, (_, k) => `s.a${from + k}`),
        estimate: { rate: 1, interval: 1, population: 1, distinct: [1, 1] },
        expressions: Array.from({ length: Math.max(1, to - from) }, (_, k) => ({
          id: id(from, to) * 100 + k,
          text: to === from ? `WSCAN[s.a${from}]` : `JOIN[${k}]`,
          inputs: to === from ? [] : [id(from, from + k), id(from + k + 1, to)],
          rule: k ? "PatternAssociate" : null,
          source: null,
        })),
        winners: [],
        goals: [],
      });
  return { ...memo, root: id(0, length - 1), groups, chosen: [] };
}

describe("a memo", () => {
  it("knows who reads whom", () => {
    for (const { group, inputs, readers } of index.places.values()) {
      for (const input of inputs) expect(index.places.get(input)?.readers).toContain(group.id);
      for (const reader of readers) expect(index.places.get(reader)?.inputs).toContain(group.id);
    }
    expect(index.places.get(memo.root)?.readers).toEqual([]);
  });

  it("puts a group above all that it reads", () => {
    for (const { layer, inputs } of index.places.values()) {
      if (!inputs.length) expect(layer).toBe(0);
      for (const input of inputs) expect(layer).toBeGreaterThan(index.places.get(input)!.layer);
    }
  });

  it("has layers where groups read each other in a circle too", () => {
    const [one, two] = chain(2).groups;
    const circle = {
      ...memo,
      chosen: [],
      groups: [
        { ...one!, id: 0, expressions: [{ ...one!.expressions[0]!, inputs: [1] }] },
        { ...two!, id: 1, expressions: [{ ...two!.expressions[0]!, inputs: [0] }] },
      ],
    };
    const layers = [...indexed(circle).places.values()].map(({ layer }) => layer);
    expect(layers.sort()).toEqual([0, 1]);
  });

  it("lights the chosen plan up", () => {
    expect(index.chosenGroups.has(memo.root)).toBe(true);
    expect(index.chosenExpressions.size).toBeGreaterThan(2);
    for (const expression of index.chosenExpressions)
      expect(index.winners.has(expression)).toBe(true);
    for (const line of index.chosenLines) {
      const [from, to] = line.split("-").map(Number) as [number, number];
      expect(index.places.get(to)?.inputs).toContain(from);
    }
  });

  it("finds groups, expressions, labels and rules", () => {
    const of = (words: string) => search(index, words).map(({ group }) => group);
    expect(of("")).toEqual([]);
    expect(of(`g${memo.root}`)).toEqual([memo.root]);
    const last = memo.groups.at(-1)!.expressions.at(-1)!;
    expect(search(index, `e${last.id}`)).toEqual([
      { group: memo.groups.at(-1)!.id, expressions: [last.id] },
    ]);
    expect(of("wscan").length).toBe(3);
    const commuted = search(index, "patterncommute");
    expect(commuted.length).toBeGreaterThan(0);
    for (const { expressions } of commuted)
      for (const id of expressions) expect(index.expressions.get(id)?.rule).toBe("PatternCommute");
    expect(of("no such thing")).toEqual([]);
  });

  it("goes from a group so many steps", () => {
    expect([...around(index, [memo.root], 0)]).toEqual([memo.root]);
    const [below, all] = [around(index, [memo.root], 1, "inputs"), around(index, [memo.root], 9)];
    expect([...below].sort()).toEqual(
      [memo.root, ...index.places.get(memo.root)!.inputs].sort(),
    );
    expect(all.size).toBe(memo.groups.length);
    expect([...around(index, [memo.root], 9, "readers")]).toEqual([memo.root]);
  });
});

describe("what is drawn", () => {
  const large = indexed(chain(50));

  it("is the whole of a small memo", () => {
    expect(atFirst(index).groups.size).toBe(memo.groups.length);
  });

  it("is the root alone of a large memo without the chosen plan", () => {
    expect([...atFirst(large).groups]).toEqual([large.memo.root]);
  });

  it("is never more than can be read", () => {
    expect(large.places.size).toBe(1275);
    expect(everything(large).groups.size).toBe(MOST_DRAWN);
    expect(focused(large, large.memo.root, 9).groups.size).toBe(MOST_DRAWN);
    expect(focused(large, large.memo.root, 9).groups.has(large.memo.root)).toBe(true);
  });

  it("grows, shrinks, folds and unfolds", () => {
    const one = focused(index, memo.root, 0);
    const more = withGroups(one, index.places.get(memo.root)!.inputs);
    expect(more.groups.size).toBeGreaterThan(1);
    expect([...without(more, memo.root).groups]).not.toContain(memo.root);
    expect(withToggled(one, memo.root).open.size).toBe(0);
    expect(withToggled(withToggled(one, memo.root), memo.root)).toEqual(one);
    expect([...chosenPlan(index).groups].sort()).toEqual([...index.chosenGroups].sort());
  });
});

describe("many groups in rows", () => {
  const large = indexed(chain(20));
  const shown = everything(large);
  const boxes = boxesOf(large, shown, String, (text) => text.length * 6);
  const { lines } = linesOf(large, shown, "selected", large.memo.root);
  const placed = gridOf(large, boxes, lines);

  it("stand beside and above each other", () => {
    expect(boxes.length).toBe(210);
    for (const one of boxes)
      for (const other of boxes) {
        if (one.group >= other.group) continue;
        const [a, b] = [placed.boxes[one.id]!, placed.boxes[other.id]!];
        const apart =
          Math.abs(a.x - b.x) >= (one.width + other.width) / 2 ||
          Math.abs(a.y - b.y) >= (one.height + other.height) / 2;
        expect(apart).toBe(true);
      }
    expect(placed.width / placed.height).toBeLessThan(4);
  });

  it("show the lines of one of them", () => {
    expect(lines.length).toBe(large.places.get(large.memo.root)!.inputs.length);
    for (const { id } of lines) expect(placed.lines[id]?.length).toBe(2);
    expect(linesOf(large, shown, "selected", null).lines).toEqual([]);
    expect(linesOf(large, shown, "all").drawn).toBe("best");
    expect(linesOf(large, shown, "all").lines.length).toBeLessThan(2 * boxes.length);
  });
});

describe("the map of a memo", () => {
  it("has a cell for every group, none on another", () => {
    for (const [which, width] of [[index, 300], [indexed(chain(45)), 240]] as const) {
      const map = mapOf(which, width);
      expect(map.cells.length).toBe(which.places.size);
      expect(new Set(map.cells.map(({ x, y }) => `${x} ${y}`)).size).toBe(map.cells.length);
      for (const { group, x, y } of map.cells) {
        expect(x).toBeGreaterThanOrEqual(0);
        expect(x + map.size).toBeLessThanOrEqual(width);
        expect(cellAt(map, x + 1, y + 1)).toBe(group);
      }
    }
    expect(cellAt(mapOf(index, 300), -5, 0)).toBeNull();
  });

  it("has the root on top", () => {
    const { cells } = mapOf(index, 300);
    const top = Math.min(...cells.map(({ y }) => y));
    expect(cells.find(({ group }) => group === memo.root)?.y).toBe(top);
  });
});

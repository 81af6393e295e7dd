import { describe, expect, it } from "vitest";

import type { Memo } from "../api/schema";
import sample from "../samples/memo.json";
import { rankedAlternatives } from "./alternatives";
import { MemoDrawing } from "./drawing.svelte";
import { chosenPlan } from "./drawn";
import { indexed } from "./memo";

const memo = sample as unknown as Memo;
const index = indexed(memo);
const { root } = memo;
const drawnIn = (drawing: MemoDrawing) => [...drawing.groups.groups].sort((a, b) => a - b);

describe("the drawing of a memo", () => {
  it("begins with all of a small memo, and brings the selected group into view", () => {
    expect(new MemoDrawing(index, null)).toMatchObject({ mode: "all", focus: null });
    expect(new MemoDrawing(index, root)).toMatchObject({ mode: "all", focus: root });
    expect(new MemoDrawing(index, -7).focus).toBeNull();
  });

  it("is of the plan, of a group and those around it, or of all groups", () => {
    const drawing = new MemoDrawing(index, null);
    drawing.show("plan", root);
    expect(drawing.groups).toEqual(chosenPlan(index));
    drawing.hops = 1;
    drawing.show("around", root);
    expect(drawnIn(drawing)).toEqual([root, ...index.places.get(root)!.inputs].sort((a, b) => a - b));
    drawing.show("all", root);
    expect(drawing.groups.groups.size).toBe(memo.groups.length);
  });

  it("has no mode once a group is added", () => {
    const drawing = new MemoDrawing(index, null);
    drawing.hops = 0;
    drawing.show("around", root);
    drawing.change(root, "inputs");
    expect(drawing.mode).toBeNull();
    const [input] = index.places.get(root)!.inputs;
    expect(drawing.groups.groups.has(input!)).toBe(true);
    drawing.change(root, "hide");
    expect(drawing.groups.groups.has(root)).toBe(false);
    drawing.reveal(root);
    expect(drawing).toMatchObject({ focus: root });
    expect(drawing.groups.groups.has(root)).toBe(true);
  });

  it("opens and folds groups", () => {
    const drawing = new MemoDrawing(index, null);
    drawing.foldAll();
    expect(drawing.groups.open.size).toBe(0);
    drawing.toggle(root);
    expect([...drawing.groups.open]).toEqual([root]);
    drawing.openAll();
    expect(drawing.groups.open).toEqual(drawing.groups.groups);
  });
});

describe("the alternatives for a goal", () => {
  const goals = memo.groups.flatMap((group) => group.goals.map((goal) => ({ group, goal })));

  it("begin with the winner, then go by their costs", () => {
    const solved = goals.filter(({ group, goal }) =>
      group.winners.some(({ required }) => required === goal.required),
    );
    expect(solved.length).toBeGreaterThan(3);
    for (const { group, goal } of solved) {
      const ranked = rankedAlternatives(group, goal);
      expect(ranked.map(({ winner }) => winner)).toEqual(ranked.map((_, k) => k === 0));
      const costs = ranked.slice(1).map(({ at_least }) => at_least ?? Infinity);
      expect(costs).toEqual([...costs].sort((a, b) => a - b));
    }
  });

  it("have bars within their row", () => {
    for (const { group, goal } of goals)
      for (const { part } of rankedAlternatives(group, goal)) {
        expect(part).toBeGreaterThanOrEqual(0);
        expect(part).toBeLessThanOrEqual(1);
      }
  });
});

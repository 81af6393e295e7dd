import { describe, expect, it } from "vitest";

import type { Memo, Traced } from "../api/schema";
import memoSample from "../samples/memo.json";
import tracedSample from "../samples/traced.json";
import { Replay } from "./replay";
import { ruleRows, sorted } from "./rules";
import {
  CHANGES,
  creationSteps,
  density,
  filteredPositions,
  groupIn,
  groupsOf,
  KINDS,
  lowerBound,
  moved,
  originsOf,
  rulesFirst,
  stepTexts,
  toggledKind,
  truncationNote,
} from "./timeline";
import { parts, placedTree, rewriting } from "./trees";

const memo = memoSample as unknown as Memo;
const traced = tracedSample as unknown as Traced;
const { steps } = traced.trace;
const all = new Set([...KINDS.map(({ kind }) => kind), "forget" as const]);
const every = { kinds: all, rule: null, group: null };

describe("the steps that are shown", () => {
  it("are those of kinds, of a rule, of a group", () => {
    expect(filteredPositions(steps, every).length).toBe(steps.length);
    const changes = filteredPositions(steps, { ...every, kinds: CHANGES });
    expect(changes.length).toBeLessThan(steps.length);
    for (const k of changes) expect(["known", "left"]).not.toContain(steps[k]!.kind);
    const commute = filteredPositions(steps, { ...every, rule: "PatternCommute" });
    expect(commute.length).toBeGreaterThan(0);
    for (const k of commute) expect(JSON.stringify(steps[k])).toContain("PatternCommute");
    const root = filteredPositions(steps, { ...every, group: memo.root });
    expect(root.length).toBeGreaterThan(0);
    for (const k of root) expect(groupsOf(steps[k]!)).toContain(memo.root);
  });

  it("of plans come with those that cost all plans anew", () => {
    const without = toggledKind(CHANGES, "plan");
    expect([...without]).toEqual(["query", "rule"]);
    expect(toggledKind(without, "plan")).toEqual(CHANGES);
    expect([...toggledKind(without, "rule")]).toEqual(["query"]);
  });

  it("are those of a group that is typed in", () => {
    expect(["G12", " g7 ", "3", "", "G", "12a"].map(groupIn)).toEqual([12, 7, 3, null, null, null]);
  });

  it("can be gone along", () => {
    const positions = Uint32Array.from([2, 5, 9]);
    expect([0, 2, 3, 9, 10].map((at) => lowerBound(positions, at))).toEqual([0, 0, 1, 2, 3]);
    expect([0, 2, 4, 5, 9, 10].map((at) => moved(positions, at, 1))).toEqual([2, 5, 5, 9, 9, 10]);
    expect([0, 2, 4, 5, 9, 12].map((at) => moved(positions, at, -1))).toEqual([0, 2, 2, 2, 5, 9]);
    expect(moved(positions, 2, 100)).toBe(9);
    expect(moved(positions, 9, -100)).toBe(2);
    expect([moved(positions, 2, Infinity), moved(positions, 9, -Infinity)]).toEqual([9, 2]);
    expect(moved(new Uint32Array(), 4, 1)).toBe(4);
  });

  it("are counted in parts", () => {
    const counts = density(steps, filteredPositions(steps, every), 7);
    const sum = counts.flatMap((part) => Object.values(part)).reduce((a, b) => a + b, 0);
    expect(sum).toBe(steps.length);
  });

  it("may be left out of the trace", () => {
    expect(truncationNote(traced.trace)).toBe("");
    expect(truncationNote({ ...traced.trace, more: 1200 })).toContain("1,200 steps");
    const few = { ...traced.trace, steps: steps.filter(({ kind }) => kind !== "known") };
    expect(truncationNote(few)).toContain(`${traced.trace.known} duplicates`);
  });

  it("each have a text", () => {
    for (const step of steps) {
      const { head, text } = stepTexts(step, String);
      expect(head).not.toBe("");
      expect(text).not.toBe("");
      expect(text).not.toContain("undefined");
    }
  });
});

describe("the step that created an expression", () => {
  const created = creationSteps(steps);

  it("is known of every expression of the memo", () => {
    for (const group of memo.groups)
      for (const { id, rule } of group.expressions) {
        const step = steps[created.get(id)!];
        expect(step && "rule" in step ? step.rule : "?").toBe(rule);
      }
  });

  it("is known of every operator of the plan except enforcers", () => {
    const found = originsOf(memo.chosen, created);
    const run = memo.chosen.filter(({ expression }) => expression !== null);
    expect(found.length).toBe(run.length);
    expect(found.map(({ at }) => at)).toEqual(found.map(({ at }) => at).sort((a, b) => a - b));
  });
});

it("operators that rules made come first, from the root of the plan on", () => {
  const origins = originsOf(memo.chosen, creationSteps(steps));
  const fromQuery = rulesFirst(origins, steps).map(({ at }) => steps[at]!.kind === "query");
  expect(fromQuery).toEqual([...fromQuery].sort((a, b) => Number(a) - Number(b)));
  expect(new Set(fromQuery).size).toBe(2);
});

describe("the rewriting of a rule", () => {
  it("is a tree for each side", () => {
    const replay = new Replay(steps);
    let seen = 0;
    steps.forEach((step, k) => {
      if (step.kind !== "rule" && step.kind !== "known") return;
      const { expressions } = replay.goTo(k + 1);
      const { before, after } = rewriting(step, expressions);
      expect(before.length).toBe(1);
      const [first] = step.matched;
      expect(before[0]?.expression?.id).toBe(typeof first === "number" ? first : first?.id);
      const ids: number[] = [];
      const walk = (trees: typeof after): void =>
        trees.forEach((tree) => {
          if (tree.added) ids.push(tree.expression!.id);
          walk(tree.inputs);
        });
      walk(after);
      expect(ids.sort()).toEqual((step.kind === "rule" ? step.added : []).map(({ id }) => id).sort());
      seen += 1;
    });
    expect(seen).toBeGreaterThan(3);
  });

  it("is drawn with each operator above what it reads", () => {
    const step = steps.find((one) => "added" in one && one.matched.length > 1);
    if (!step || !("added" in step)) throw new Error("no rule of the sample looks into a group");
    const { before } = rewriting(step, new Map());
    const placed = placedTree(before[0]!, () => ({ width: 50, height: 20 }));
    expect(placed.lines.length).toBe(placed.nodes.length - 1);
    for (const { y1, y2 } of placed.lines) expect(y2).toBeGreaterThan(y1);
    for (const { x, width } of placed.nodes) {
      expect(x).toBeGreaterThanOrEqual(0);
      expect(x + width).toBeLessThanOrEqual(placed.width);
    }
  });

  it("has the operator and the arguments of each text", () => {
    expect(parts("PATTERN[G0(v0,v1) ⋈ G1(v1,v2) → v0,v2]")).toEqual({
      operator: "PATTERN",
      summary: "G0(v0,v1) ⋈ G1(v1,v2) → v0,v2",
    });
    expect(parts("UNION(G1, G2)")).toEqual({ operator: "UNION", summary: "" });
    expect(parts("FILTER[c0 = 'a](b'](G1)")).toEqual({ operator: "FILTER", summary: "c0 = 'a](b'" });
    expect(parts("WSCAN[a  window 1h]")).toEqual({ operator: "WSCAN", summary: "a  window 1h" });
  });
});

describe("the table of rules", () => {
  const rows = ruleRows(traced.memo.rules, traced.trace.rules);

  it("is sorted by any column", () => {
    expect(rows.length).toBeGreaterThan(1);
    const bindings = sorted(rows, "bindings", false).map((row) => row.bindings);
    expect(bindings).toEqual([...bindings].sort((a, b) => b - a));
    const names = sorted(rows, "rule", true).map((row) => row.rule);
    expect(names).toEqual([...names].sort());
  });

  it("agrees with the steps", () => {
    for (const row of rows) {
      const added = steps.filter((s) => s.kind === "rule" && s.rule === row.rule).length;
      expect(row.fired).toBeGreaterThanOrEqual(added);
      expect(row.algebra).toContain("→");
    }
  });
});

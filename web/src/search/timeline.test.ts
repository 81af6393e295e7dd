import { describe, expect, it } from "vitest";

import type { Memo, Traced } from "../api/schema";
import memoSample from "../samples/memo.json";
import tracedSample from "../samples/traced.json";
import { Replay } from "./replay";
import { ruleRows, sorted } from "./rules";
import { births, birthsOf, CHANGES, density, groupsOf, KINDS, lineOf, lowerBound, missing, moved, wanted } from "./timeline";
import { parts, placedTree, rewriting } from "./trees";

const memo = memoSample as unknown as Memo;
const traced = tracedSample as unknown as Traced;
const { steps } = traced.trace;
const all = new Set([...KINDS.map(({ kind }) => kind), "forget" as const]);
const every = { kinds: all, rule: null, group: null };

describe("the steps that are looked at", () => {
  it("are those of kinds, of a rule, of a group", () => {
    expect(wanted(steps, every).length).toBe(steps.length);
    const changes = wanted(steps, { ...every, kinds: CHANGES });
    expect(changes.length).toBeLessThan(steps.length);
    for (const k of changes) expect(["known", "left"]).not.toContain(steps[k]!.kind);
    const commute = wanted(steps, { ...every, rule: "PatternCommute" });
    expect(commute.length).toBeGreaterThan(0);
    for (const k of commute) expect(JSON.stringify(steps[k])).toContain("PatternCommute");
    const root = wanted(steps, { ...every, group: memo.root });
    expect(root.length).toBeGreaterThan(0);
    for (const k of root) expect(groupsOf(steps[k]!)).toContain(memo.root);
  });

  it("are gone along one by one", () => {
    const positions = Uint32Array.from([2, 5, 9]);
    expect([0, 2, 3, 9, 10].map((at) => lowerBound(positions, at))).toEqual([0, 0, 1, 2, 3]);
    expect([0, 2, 4, 5, 9, 10].map((at) => moved(positions, at, 1))).toEqual([2, 5, 5, 9, 9, 10]);
    expect([0, 2, 4, 5, 9, 12].map((at) => moved(positions, at, -1))).toEqual([0, 2, 2, 2, 5, 9]);
    expect(moved(positions, 2, 100)).toBe(9);
    expect(moved(positions, 9, -100)).toBe(2);
    expect(moved(new Uint32Array(), 4, 1)).toBe(4);
  });

  it("are counted in parts", () => {
    const counts = density(steps, wanted(steps, every), 7);
    const sum = counts.flatMap((part) => Object.values(part)).reduce((a, b) => a + b, 0);
    expect(sum).toBe(steps.length);
  });

  it("are known to be missing", () => {
    expect(missing(traced.trace)).toBe("");
    expect(missing({ ...traced.trace, more: 1200 })).toContain("1,200 steps");
    const few = { ...traced.trace, steps: steps.filter(({ kind }) => kind !== "known") };
    expect(missing(few)).toContain(`${traced.trace.known} duplicates`);
  });

  it("each have a line", () => {
    for (const step of steps) {
      const { head, text } = lineOf(step, String);
      expect(head).not.toBe("");
      expect(text).not.toBe("");
      expect(text).not.toContain("undefined");
    }
  });
});

describe("where expressions came to be", () => {
  const born = births(steps);

  it("is known of every expression of the memo", () => {
    for (const group of memo.groups)
      for (const { id, rule } of group.expressions) {
        const step = steps[born.get(id)!];
        expect(step && "rule" in step ? step.rule : "?").toBe(rule);
      }
  });

  it("is known of every operator of the plan but enforcers", () => {
    const found = birthsOf(memo.chosen, born);
    const run = memo.chosen.filter(({ expression }) => expression !== null);
    expect(found.length).toBe(run.length);
    expect(found.map(({ at }) => at)).toEqual(found.map(({ at }) => at).sort((a, b) => a - b));
  });
});

describe("what a rule made of what it matched", () => {
  it("is a tree for each side", () => {
    const replay = new Replay(steps);
    let seen = 0;
    steps.forEach((step, k) => {
      if (step.kind !== "rule" && step.kind !== "known") return;
      replay.go(k + 1);
      const { before, after } = rewriting(step, (id) => replay.members.get(id));
      expect(before.length).toBe(1);
      const [first] = step.matched;
      expect(before[0]?.member?.id).toBe(typeof first === "number" ? first : first?.id);
      const ids: number[] = [];
      const walk = (trees: typeof after): void =>
        trees.forEach((tree) => {
          if (tree.added) ids.push(tree.member!.id);
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
    const { before } = rewriting(step, () => undefined);
    const placed = placedTree(before[0]!, () => ({ width: 50, height: 20 }));
    expect(placed.lines.length).toBe(placed.nodes.length - 1);
    for (const { y1, y2 } of placed.lines) expect(y2).toBeGreaterThan(y1);
    for (const { x, width } of placed.nodes) {
      expect(x).toBeGreaterThanOrEqual(0);
      expect(x + width).toBeLessThanOrEqual(placed.width);
    }
  });

  it("is called by its operator", () => {
    expect(parts("PATTERN[G0(v0,v1) ⋈ G1(v1,v2) → v0,v2]")).toEqual({
      operator: "PATTERN",
      summary: "G0(v0,v1) ⋈ G1(v1,v2) → v0,v2",
    });
    expect(parts("UNION(G1, G2)")).toEqual({ operator: "UNION", summary: "" });
    expect(parts("FILTER[c0 = 'a](b'](G1)")).toEqual({ operator: "FILTER", summary: "c0 = 'a](b'" });
    expect(parts("WSCAN[a  window 1h]")).toEqual({ operator: "WSCAN", summary: "a  window 1h" });
  });
});

describe("what rules did", () => {
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

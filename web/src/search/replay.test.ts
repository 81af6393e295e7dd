import { describe, expect, it } from "vitest";

import type { Memo, SeenMember, Traced } from "../api/schema";
import memoSample from "../samples/memo.json";
import tracedSample from "../samples/traced.json";
import { Replay, type MemoSnapshot, type Step } from "./replay";
import { effectsOf, memoRows, type Effects } from "./memoRows";

const memo = memoSample as unknown as Memo;
const { trace } = tracedSample as unknown as Traced;

/** A memo as text, to be compared. */
function textOf({ groups, expressions }: MemoSnapshot): string {
  const all = [...groups.values()]
    .sort((a, b) => a.id - b.id)
    .map(({ id, expressions: ids, plans }) => [
      id,
      [...ids].sort((a, b) => a - b).map((k) => expressions.get(k)),
      [...plans].sort(([a], [b]) => a.localeCompare(b)).map(([r, p]) => [r, p.cost, p.text]),
    ]);
  return JSON.stringify([all, expressions.size]);
}

const e = (id: number, group: number, inputs: readonly number[] = []): SeenMember => ({
  id,
  group,
  inputs,
  text: `E${id}(${inputs.map((i) => `G${i}`).join(", ")})`,
});
const rule = (given: Partial<Extract<Step, { added: unknown }>>): Step =>
  ({
    step: 0,
    kind: "rule",
    rule: "R",
    matched: [],
    added: [],
    groups: [],
    merged: [],
    changed: [],
    removed: [],
    known: [],
    ...given,
  }) as Step;
const plan = (group: number, cost: number, before: number | null = null): Step => ({
  step: 0,
  kind: "plan",
  plan: {
    group,
    required: "",
    text: "X",
    rule: "I",
    source: 0,
    cost,
    local: cost,
    inputs: [],
    before,
    again: false,
  },
});

/** Two groups are found equal, which makes two that read them equal too. */
const MERGING: readonly Step[] = [
  rule({ groups: [0], added: [e(0, 0)] }),
  rule({ groups: [1], added: [e(1, 1)] }),
  rule({ groups: [2, 3], added: [e(2, 2, [0]), e(3, 3, [1]), e(4, 3, [1, 1])] }),
  plan(0, 9),
  plan(1, 5),
  plan(1, 4, 5),
  plan(2, 20),
  rule({
    added: [e(5, 0, [2])],
    merged: [
      { into: 0, group: 1 },
      { into: 2, group: 3 },
    ],
    changed: [e(4, 2, [0, 0])],
    removed: [3],
  }),
  { step: 8, kind: "forget" },
  plan(0, 3),
];

describe.each([
  ["a search", trace.steps],
  ["groups that become one", MERGING],
])("following %s", (_, steps) => {
  it("gives the same memo forwards and backwards, from anywhere", () => {
    const replay = new Replay(steps);
    const memos = Array.from({ length: steps.length + 1 }, (_, at) => replay.goTo(at));
    // A snapshot stays as it is, wherever the replay goes.
    const texts = memos.map(textOf);
    for (let at = steps.length; at >= 0; at -= 1) expect(textOf(replay.goTo(at))).toBe(texts[at]);
    for (let k = 0; k < 50; k += 1) {
      const at = (k * 31) % (steps.length + 1);
      expect(textOf(replay.goTo(at))).toBe(texts[at]);
      expect(replay.applied).toBe(at);
    }
    expect(memos.map(textOf)).toEqual(texts);
  });
});

describe("following a search", () => {
  it("ends with the memo", () => {
    const { groups, expressions } = new Replay(trace.steps).goTo(trace.steps.length);
    expect([...groups.keys()].sort()).toEqual(memo.groups.map(({ id }) => id).sort());
    for (const group of memo.groups) {
      const found = groups.get(group.id)!;
      expect([...found.expressions].sort((a, b) => a - b)).toEqual(
        group.expressions.map(({ id }) => id),
      );
      for (const { id, text } of group.expressions) expect(expressions.get(id)?.text).toBe(text);
      const costs = group.winners.map(({ required, cost }) => [required, cost]);
      expect([...found.plans].map(([required, { cost }]) => [required, cost]).sort()).toEqual(
        costs.sort(),
      );
    }
  });

  it("stays within the search", () => {
    const replay = new Replay(trace.steps);
    replay.goTo(1e9);
    expect(replay.applied).toBe(trace.steps.length);
    expect(replay.goTo(-5).groups.size).toBe(0);
    expect(replay.applied).toBe(0);
  });

  it("merges groups as the optimizer says", () => {
    const replay = new Replay(MERGING);
    const merged = replay.goTo(8);
    expect([...merged.groups.keys()]).toEqual([0, 2]);
    expect([...merged.groups.get(0)!.expressions].sort()).toEqual([0, 1, 5]);
    expect([...merged.groups.get(2)!.expressions].sort()).toEqual([2, 4]);
    expect(merged.expressions.get(4)?.inputs).toEqual([0, 0]);
    expect(merged.groups.get(0)?.plans.get("")?.cost).toBe(4);
    expect(replay.goTo(9).groups.get(2)?.plans.size).toBe(0);
  });

  it("has groups whose creation the trace leaves out", () => {
    const replay = new Replay([plan(7, 1)]);
    expect(replay.goTo(1).groups.get(7)?.plans.get("")?.cost).toBe(1);
    expect(replay.goTo(0).groups.size).toBe(0);
  });

  it("is quick over a long search", () => {
    const steps = Array.from({ length: 50_000 }, (_, k) =>
      rule(k % 50 ? { added: [e(k, k - (k % 50))] } : { groups: [k], added: [e(k, k)] }),
    );
    const replay = new Replay(steps);
    expect(replay.goTo(50_000).expressions.size).toBe(50_000);
    expect(replay.goTo(1).expressions.size).toBe(1);
  });
});

describe("the rows of the memo at a step", () => {
  const memoThen = new Replay(MERGING).goTo(3);
  const none = new Set<number>();
  const rows = (effects: Partial<Effects>, open: number | null = null, most = 9) =>
    memoRows(memoThen, { groups: none, added: none, matched: none, ...effects }, open, most).map(
      (row) =>
        row.kind === "group"
          ? `G${row.group.id}`
          : row.kind === "expression"
            ? row.expression.id
            : `+${row.count}`,
    );

  it("begin with what is new, then what was matched", () => {
    expect(rows({})).toEqual(["G0", "G1", "G2", "G3"]);
    expect(rows({ groups: new Set([3]), added: new Set([4]) })).toEqual([
      "G3",
      4,
      3,
      "G0",
      "G1",
      "G2",
    ]);
    const both = { groups: new Set([2, 3]), added: new Set([2]), matched: new Set([4]) };
    expect(rows(both)).toEqual(["G2", 2, "G3", 4, "+1", "G0", "G1"]);
    expect(rows({}, 3, 1)).toEqual(["G0", "G1", "G2", "G3", 4, "+1"]);
  });

  it("are about what a step added, changed and matched", () => {
    const { groups, added, changed, matched } = effectsOf(MERGING[7]);
    expect([...added]).toEqual([5]);
    expect([...changed]).toEqual([4]);
    expect([...matched]).toEqual([]);
    expect([...groups].sort()).toEqual([0, 1, 2, 3]);
    expect(effectsOf(undefined).groups.size).toBe(0);
  });
});

import { describe, expect, it } from "vitest";

import type { Memo, SeenMember, Traced } from "../api/schema";
import memoSample from "../samples/memo.json";
import tracedSample from "../samples/traced.json";
import { Replay, type Step } from "./replay";
import { rowsThen } from "./then";

const memo = memoSample as unknown as Memo;
const { trace } = tracedSample as unknown as Traced;

/** All that a replay knows, to be compared. */
function state({ groups, members }: Replay): string {
  const all = [...groups.values()]
    .sort((a, b) => a.id - b.id)
    .map(({ id, members: ids, plans }) => [
      id,
      [...ids].sort((a, b) => a - b).map((k) => members.get(k)),
      [...plans].sort(([a], [b]) => a.localeCompare(b)).map(([r, p]) => [r, p.cost, p.text]),
    ]);
  return JSON.stringify([all, members.size]);
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
  it("gives the same state forwards and backwards, from anywhere", () => {
    const replay = new Replay(steps);
    const states = [state(replay)];
    for (let at = 1; at <= steps.length; at += 1) {
      replay.go(at);
      states.push(state(replay));
    }
    for (let at = steps.length; at >= 0; at -= 1) {
      replay.go(at);
      expect(state(replay)).toBe(states[at]);
    }
    for (let k = 0; k < 50; k += 1) {
      const at = (k * 31) % (steps.length + 1);
      replay.go(at);
      expect(replay.at).toBe(at);
      expect(state(replay)).toBe(states[at]);
    }
  });
});

describe("following a search", () => {
  it("ends with the memo", () => {
    const replay = new Replay(trace.steps);
    replay.go(trace.steps.length);
    expect([...replay.groups.keys()].sort()).toEqual(memo.groups.map(({ id }) => id).sort());
    for (const group of memo.groups) {
      const found = replay.groups.get(group.id)!;
      expect([...found.members].sort((a, b) => a - b)).toEqual(group.expressions.map(({ id }) => id));
      for (const { id, text } of group.expressions) expect(replay.members.get(id)?.text).toBe(text);
      const costs = group.winners.map(({ required, cost }) => [required, cost]);
      expect([...found.plans].map(([required, { cost }]) => [required, cost]).sort()).toEqual(
        costs.sort(),
      );
    }
  });

  it("stays within the search", () => {
    const replay = new Replay(trace.steps);
    replay.go(1e9);
    expect(replay.at).toBe(trace.steps.length);
    replay.go(-5);
    expect(replay.at).toBe(0);
    expect(replay.groups.size).toBe(0);
  });

  it("merges groups as the optimizer says", () => {
    const replay = new Replay(MERGING);
    replay.go(8);
    expect([...replay.groups.keys()]).toEqual([0, 2]);
    expect([...replay.groups.get(0)!.members].sort()).toEqual([0, 1, 5]);
    expect([...replay.groups.get(2)!.members].sort()).toEqual([2, 4]);
    expect(replay.members.get(4)?.inputs).toEqual([0, 0]);
    expect(replay.groups.get(0)?.plans.get("")?.cost).toBe(4);
    replay.go(9);
    expect(replay.groups.get(2)?.plans.size).toBe(0);
  });

  it("knows groups of which the beginning was not kept", () => {
    const replay = new Replay([plan(7, 1)]);
    replay.go(1);
    expect(replay.groups.get(7)?.plans.get("")?.cost).toBe(1);
    replay.go(0);
    expect(replay.groups.size).toBe(0);
  });

  it("is quick over a long search", () => {
    const steps = Array.from({ length: 50_000 }, (_, k) =>
      rule(k % 50 ? { added: [e(k, k - (k % 50))] } : { groups: [k], added: [e(k, k)] }),
    );
    const replay = new Replay(steps);
    replay.go(50_000);
    expect(replay.members.size).toBe(50_000);
    replay.go(1);
    expect(replay.members.size).toBe(1);
  });
});

describe("the rows of the memo at a step", () => {
  const replay = new Replay(MERGING);
  const none = new Set<number>();
  const shown = (looking: Partial<Parameters<typeof rowsThen>[1]>) =>
    rowsThen(replay, { touched: none, fresh: none, matched: none, open: null, most: 9, ...looking }).map(
      (row) =>
        row.kind === "group"
          ? `G${row.group.id}`
          : row.kind === "expression"
            ? row.member.id
            : `+${row.count}`,
    );

  it("begin with what is new, then what was matched", () => {
    replay.go(3);
    expect(shown({})).toEqual(["G0", "G1", "G2", "G3"]);
    expect(shown({ touched: new Set([3]), fresh: new Set([4]) })).toEqual([
      "G3",
      4,
      3,
      "G0",
      "G1",
      "G2",
    ]);
    const both = { touched: new Set([2, 3]), fresh: new Set([2]), matched: new Set([4]) };
    expect(shown(both)).toEqual(["G2", 2, "G3", 4, "+1", "G0", "G1"]);
    expect(shown({ open: 3, most: 1 })).toEqual(["G0", "G1", "G2", "G3", 4, "+1"]);
  });
});

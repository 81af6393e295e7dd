import { describe, expect, it } from "vitest";

import type { DrawnPlan } from "./drawn";
import { figuresOf } from "./figures";
import { flowText, mergedText } from "./graph";
import { contrasts, corresponding } from "./linking";
import { textRows } from "./textPlan";
import { visiblePart } from "./visible";

type Node = readonly [op: string, inputs: readonly number[], cost?: number, label?: string];

const drawn = (...nodes: readonly Node[]): DrawnPlan => {
  const alike: string[] = [];
  for (const [op, inputs, , label = ""] of nodes)
    alike.push(`${op}${label}(${inputs.map((one) => alike[one]).join()})`);
  return {
    plan: {
      root: nodes.length - 1,
      nodes: nodes.map(([op, inputs, cost = 1], id) => ({
        id,
        op,
        inputs,
        properties: { distribution: "hash(x)" },
        estimate: { cost, cumulative_cost: cost, rate: 2, interval: 60, population: 9 },
      })),
    },
    picture: {
      per: { factor: 1, sign: "s" },
      seconds: 1,
      boxes: nodes.map(([operator, inputs, , label], id) => ({
        id,
        operator,
        symbol: operator[0],
        summary: label ?? "",
        inputs,
        alike: alike[id],
        facts: label === undefined ? [] : [{ name: "label", value: label }],
      })),
    },
  } as unknown as DrawnPlan;
};

/** scan a → TO_KERNEL → EXCHANGE → join ← TO_KERNEL ← scan b; COALESCE on top. */
const JOIN = drawn(
  ["WSCAN", [], 20, "a"],
  ["TO_KERNEL", [0]],
  ["EXCHANGE", [1]],
  ["WSCAN", [], 20, "b"],
  ["TO_KERNEL", [3]],
  ["HASH_JOIN", [2, 4], 50],
  ["COALESCE", [5]],
);
const NONE = { enforcers: false, collapsed: new Set<number>() };
const lines = (plan: DrawnPlan, shown: Parameters<typeof visiblePart>[1]) =>
  visiblePart(plan.plan, shown).flows.map(({ from, to, through }) => [from, ...through, to].join("-"));

/** scan a → union ← union ← scans b and c; the inner union through TO_KERNEL. */
const UNIONS = drawn(
  ["WSCAN", [], 20, "a"],
  ["WSCAN", [], 20, "b"],
  ["WSCAN", [], 20, "c"],
  ["UNION", [1, 2]],
  ["TO_KERNEL", [3]],
  ["UNION", [0, 4]],
);

describe("unions of unions", () => {
  it("are drawn as one, with the enforcers between them on the lines", () => {
    expect(lines(UNIONS, NONE)).toEqual(["0-5", "1-4-5", "2-4-5"]);
    const visible = visiblePart(UNIONS.plan, NONE);
    expect([...visible.merged]).toEqual([[5, [3]]]);
    expect(new Set(visible.flows.map(({ id }) => id)).size).toBe(3);
    expect(mergedText(UNIONS.plan, [5, 3])).toBe("2 unions in one, 3% of the cost");
  });

  it("have boxes where enforcers do, and where one is selected", () => {
    expect(lines(UNIONS, { ...NONE, enforcers: true })).toContain("3-4");
    expect(lines(UNIONS, { ...NONE, keep: new Set([3]) })).toEqual(["1-3", "2-3", "0-5", "3-4-5"]);
  });

  it("are drawn alone where others read them, or where they cost much", () => {
    const read = drawn(["WSCAN", []], ["UNION", [0, 0]], ["UNION", [0, 1]], ["UNION", [1, 2]]);
    expect(visiblePart(read.plan, NONE).nodes).toContain(1);
    const dear = drawn(["WSCAN", []], ["UNION", [0, 0], 9], ["UNION", [0, 1]]);
    expect(visiblePart(dear.plan, NONE).nodes).toContain(1);
  });

  it("are counted as below a collapsed operator only if they are left out", () => {
    const { below, nodes } = visiblePart(UNIONS.plan, { ...NONE, collapsed: new Set([5]) });
    expect([...nodes]).toEqual([5]);
    expect(below.get(5)).toHaveLength(5);
  });
});

describe("the part of a plan that is drawn", () => {
  it("has enforcers on its lines, and the answer in a box", () => {
    const visible = visiblePart(JOIN.plan, NONE);
    expect([...visible.nodes].sort()).toEqual([0, 3, 5, 6]);
    expect(lines(JOIN, NONE)).toEqual(["0-1-2-5", "3-4-5", "5-6"]);
    expect(visible.folded).toBe(3);
  });

  it("has boxes of all operators on demand", () =>
    expect(lines(JOIN, { ...NONE, enforcers: true })).toEqual(["0-1", "1-2", "3-4", "2-5", "4-5", "5-6"]));

  it("has an enforcer that is selected, and one that costs much", () => {
    expect(lines(JOIN, { ...NONE, keep: new Set([2]) })).toEqual(["0-1-2", "2-5", "3-4-5", "5-6"]);
    const dear = drawn(["WSCAN", []], ["EXCHANGE", [0], 9], ["S_PATH", [1]]);
    expect(lines(dear, NONE)).toEqual(["0-1", "1-2"]);
  });

  it("leaves out what is below a collapsed operator", () => {
    const visible = visiblePart(JOIN.plan, { ...NONE, collapsed: new Set([5]) });
    expect([...visible.nodes].sort()).toEqual([5, 6]);
    expect([...visible.below.get(5)!].sort()).toEqual([0, 1, 2, 3, 4]);
  });

  it("keeps what another operator reads too", () => {
    const shared = drawn(["WSCAN", [], 1, "a"], ["FILTER", [0]], ["S_PATH", [0]], ["UNION", [1, 2]]);
    const visible = visiblePart(shared.plan, { ...NONE, collapsed: new Set([1]) });
    expect([...visible.nodes].sort()).toEqual([0, 1, 2, 3]);
    expect(visible.below.get(1)).toEqual([]);
  });

  it("names the enforcers on a line, but for TO_KERNEL", () => {
    const figures = figuresOf(JOIN, "estimated", null);
    const [first, second] = visiblePart(JOIN.plan, NONE).flows;
    expect(flowText(JOIN, figures, first!)).toBe("2/s · E EXCHANGE hash(x)");
    expect(flowText(JOIN, figures, second!)).toBe("2/s");
  });
});

it("a text plan has branches, and an operator that is read twice is written once", () => {
  const shared = drawn(["WSCAN", [], 1, "a"], ["FILTER", [0]], ["S_PATH", [0]], ["UNION", [1, 2]]);
  const rows = textRows(shared, figuresOf(shared, "estimated", null));
  expect(rows.map(({ indent, operator, again }) => `${indent}${operator}${again ? " again" : ""}`)).toEqual([
    "UNION",
    "├─ FILTER",
    "│  └─ WSCAN",
    "└─ S_PATH",
    "   └─ WSCAN again",
  ]);
  expect(new Set(rows.map(({ key }) => key)).size).toBe(5);
});

describe("operators of two plans", () => {
  const other = drawn(["WSCAN", [], 7, "b"], ["WSCAN", [], 20, "a"], ["MULTIWAY_JOIN", [0, 1], 30]);
  it("correspond if they compute the same", () => {
    expect(corresponding(JOIN, 0, other)).toEqual([1]);
    expect(contrasts(JOIN, 0, other, 1)).toEqual([]);
    expect(contrasts(JOIN, 3, other, 0).map(({ name, here, there }) => [name, here, there])).toEqual([
      ["cost", "20 µs/s", "7 µs/s"],
      ["with inputs", "20 µs/s", "7 µs/s"],
    ]);
  });
  it("or else if they read the same labels", () => {
    expect(corresponding(JOIN, 5, other)).toEqual([2]);
    expect(contrasts(JOIN, 5, other, 2)[0]).toEqual({ name: "operator", here: "HASH_JOIN", there: "MULTIWAY_JOIN" });
    // COALESCE over the join reads them too.
    expect(corresponding(other, 2, JOIN)).toEqual([5]);
  });
  it("or not at all", () => expect(corresponding(JOIN, 0, drawn(["WSCAN", [], 1, "c"]))).toEqual([]));
});

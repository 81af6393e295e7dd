import { describe, expect, it } from "vitest";

import type { DrawnPlan } from "./drawn";
import { bottleneck, figuresOf, type Measurement } from "./figures";
import { figuresInFile } from "./measurement";
import { shares } from "./shares";

const drawn = (costs: readonly number[]): DrawnPlan =>
  ({
    plan: {
      nodes: costs.map((cost, id) => ({
        id,
        op: "S_PATH",
        estimate: { cost, rate: 2, interval: 3600, population: 9 },
      })),
    },
    picture: { per: { factor: 1, sign: "s" }, seconds: 1 },
  }) as unknown as DrawnPlan;

const node = (seconds: number, more: object = {}) => ({
  op: "S_PATH",
  rows_in: 1200,
  rows: 30,
  rows_out: 30,
  dropped: 0,
  endless: 0,
  rate: 4,
  validity: 3600,
  population: 9,
  seconds,
  state_entries: 70,
  state_bytes: 2400,
  estimate: { rate: 2, validity: 3600, population: 9 },
  q_error: { rate: 2, validity: 1, population: 1 },
  ...more,
});
const measurement: Measurement = new Map([
  [0, node(0, { rows_in: 0 })],
  [1, node(3)],
  [2, node(1)],
]);

describe("shares", () => {
  it("are of the sum", () => expect(shares([1, 3])).toEqual([0.25, 0.75]));
  it("are nothing of nothing", () => expect(shares([0, 0])).toEqual([0, 0]));
});

describe("a bottleneck", () => {
  it("takes a large share", () => expect(bottleneck([1, 5, 1, 1])).toBe(1));
  it("is none where work is even", () => expect(bottleneck([3, 3, 2, 2])).toBeNull());
  it("is none of two operators of which one takes a little more", () =>
    expect(bottleneck([6, 4])).toBeNull());
  it("is none where one operator alone works", () => expect(bottleneck([0, 1, 0])).toBeNull());
  it("is none without work", () => expect(bottleneck([0, 0])).toBeNull());
});

describe("the figures of a plan", () => {
  it("are estimates without a measurement", () => {
    const [first, second] = figuresOf(drawn([1, 9]), "measured", null);
    expect(first).toMatchObject({ badge: "10%", heat: 0.2, bottleneck: false, flow: "2/s" });
    expect(second).toMatchObject({ badge: "90%", heat: 1, bottleneck: true });
    expect(first!.lines).toEqual(["2/s · valid 1h · holds 9"]);
  });

  it("are what was measured: rows, time and state", () => {
    const [scan, path, other] = figuresOf(drawn([1, 1, 1]), "measured", measurement);
    expect(scan).toMatchObject({ badge: "", spoken: "time not measured", flow: "30 rows" });
    expect(path!.lines).toEqual(["1.2k in → 30 out · 4/s", "3 s · holds 70, 2.4 kB"]);
    expect(path).toMatchObject({ badge: "75%", bottleneck: true });
    expect(other).toMatchObject({ badge: "25%", bottleneck: false });
  });

  it("are how far the estimates are off, in which direction", () => {
    const exact = node(1, { rate: 2, q_error: { rate: 1, validity: 1, population: 1 } });
    const far = node(1, { population: 0.9, q_error: { rate: 2, validity: null, population: 10 } });
    const all = figuresOf(drawn([1, 1, 1]), "off", new Map([[0, exact], [1, far]]));
    expect(all[0]).toMatchObject({ badge: "exact", heat: 0, lines: ["as estimated"] });
    expect(all[1]).toMatchObject({ badge: "10×", heat: 1, flow: "2 → 4/s" });
    expect(all[1]!.lines).toEqual(["held 9 → 0.9: 10× fewer", "rows 2/s → 4/s: 2× more"]);
    expect(all[2]).toMatchObject({ lines: ["not measured"], heat: 0 });
  });
});

describe("a file of figures", () => {
  const nodes = { 0: node(1) };
  it("is one of explain --analyze or of run --metrics", () => {
    const analysis = figuresInFile(JSON.stringify({ plan: { digest: "ab" }, measured: { nodes } }));
    expect(analysis.digest).toBe("ab");
    expect(analysis.measurement.get(0)?.rows_in).toBe(1200);
    const metrics = figuresInFile(JSON.stringify({ plan: "cd", operators: nodes }));
    expect([metrics.digest, metrics.measurement.size]).toEqual(["cd", 1]);
  });
  it("says what is missing", () => {
    expect(() => figuresInFile("plan")).toThrow("no JSON");
    expect(() => figuresInFile('{"plan": {"digest": "ab"}}')).toThrow("--analyze");
    const wrong = { plan: "ab", operators: { 0: { ...node(1), seconds: "long" } } };
    expect(() => figuresInFile(JSON.stringify(wrong))).toThrow("no measured figures");
  });
});

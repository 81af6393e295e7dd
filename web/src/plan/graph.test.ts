import { describe, expect, it } from "vitest";

import { thickness, wrapped } from "./graph";
import { lineage, nextBest } from "./why";

const UNIT = { factor: 3600, sign: "h" };

it("lines are as wide as the order of magnitude of their rate", () => {
  expect(thickness(100, 100)).toBe(7);
  expect(thickness(10, 100)).toBeCloseTo(5.5);
  expect(thickness(1e-9, 100)).toBe(1);
  expect(thickness(0, 0)).toBe(1);
});

it("arguments are broken at spaces, and cut at the end", () => {
  const width = (text: string) => text.length;
  expect(wrapped("a,b ⋈ b,c → a,c on b", 10, width, 3)).toEqual(["a,b ⋈ b,c", "→ a,c on b"]);
  const cut = wrapped("one two three four five", 9, width, 2);
  expect(cut).toEqual(["one two", "three fo…"]);
  // A path has no spaces.
  expect(wrapped("((a⋈bc)·(de⋈f))+ → x", 8, width, 5)).toEqual(["((a⋈bc)·", "(de⋈f))+", "→ x"]);
  expect(wrapped("abcdefghij", 4, width, 5)).toEqual(["abcd", "efgh", "ij"]);
});

describe("the reasons of an operator", () => {
  const reason = {
    group: 2,
    required: "[coalesced]",
    text: "S_PATH[G3+]",
    rule: "PathBySPath",
    cost: 2,
    local: 1,
    lineage: [
      { id: 1, group: 2, rule: null, text: "PATH[(G0·G1)+]" },
      { id: 4, group: 2, rule: "StarDecompose", text: "PATH[G3+]" },
    ],
    ways: 1,
    mirrored: 0,
    runner_up: {
      text: "S_PATH[(G0·G1)+]",
      rule: "PathBySPath",
      enforcers: [],
      cost: 3,
      exact: true,
      at_least: 3,
      difference: 1,
      own: 1.5,
      inputs: -0.5,
    },
    decided: "own cost",
  } as const;

  it("give its lineage from the query as written", () =>
    expect(lineage(reason)).toEqual([
      { text: "G2 = PATH[(G0·G1)+]", by: "as written" },
      { text: "G2 = PATH[G3+]", by: "by StarDecompose" },
    ]));

  it("compare the cost of the next best alternative", () => {
    expect(nextBest(reason, UNIT)).toBe(
      "S_PATH[(G0·G1)+] at 10.8k µs/h, 1.5 times as much: 5.4k more for itself, 1.8k less for its inputs",
    );
    const bound = { ...reason, runner_up: { ...reason.runner_up, cost: null } };
    expect(nextBest(bound, UNIT)).toContain("at least 10.8k µs/h");
    expect(nextBest({ ...reason, runner_up: null }, UNIT)).toBeNull();
  });
});

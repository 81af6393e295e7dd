import { describe, expect, it } from "vitest";

import type { Match } from "../api/schema";
import type { Result } from "./match";
import { columnsOf, matchingResults, resultsAround, sortedResults } from "./shownResults";

const result = (number: number, bindings: Result["bindings"], more: Partial<Result> = {}): Result => ({
  number,
  bindings,
  ts: 100 - number,
  exp: null,
  ...more,
});
const ALL = [
  result(3, { x: "10", y: "b" }),
  result(2, { x: "9", y: null }),
  result(1, { x: "100", y: "a" }, { paths: { p: [["100", "a", "7"], ["7", "b", "a"]] } }),
];
const numbers = (some: readonly Result[]) => some.map(({ number }) => number);

it("results have the columns of all of them", () =>
  expect(columnsOf([...ALL, result(4, { z: 1 })])).toEqual(["x", "y", "z"]));

describe("results are found", () => {
  it("by words in any column", () => expect(numbers(matchingResults(ALL, "10"))).toEqual([3, 1]));
  it("by the value of a column", () => {
    expect(numbers(matchingResults(ALL, "x=10"))).toEqual([3]);
    expect(numbers(matchingResults(ALL, "x=10 y=A"))).toEqual([]);
    expect(numbers(matchingResults(ALL, "y=none"))).toEqual([2]);
  });
  it("all without words", () => expect(matchingResults(ALL, " ")).toBe(ALL));
});

describe("results are sorted", () => {
  it("by numbers as numbers", () => {
    expect(numbers(sortedResults(ALL, { by: "column", name: "x" }, false))).toEqual([2, 3, 1]);
    expect(numbers(sortedResults(ALL, { by: "column", name: "x" }, true))).toEqual([1, 3, 2]);
  });
  it("by text, and what is missing last", () =>
    expect(numbers(sortedResults(ALL, { by: "column", name: "y" }, false))).toEqual([1, 3, 2]));
  it("by time and by arrival", () => {
    expect(numbers(sortedResults(ALL, { by: "time" }, false))).toEqual([3, 2, 1]);
    expect(numbers(sortedResults(ALL, { by: "arrival" }, false))).toEqual([1, 2, 3]);
  });
});

it("results around vertices have them in a column of vertices, or on a path", () => {
  const match: Match = { edges: [], vertices: ["x"] };
  expect(numbers(resultsAround(ALL, new Set(["9"]), match))).toEqual([2]);
  expect(numbers(resultsAround(ALL, new Set(["7", "10"]), match))).toEqual([3, 1]);
  // y is no vertex, but a property of one.
  expect(numbers(resultsAround(ALL, new Set(["b"]), match))).toEqual([]);
});

import { describe, expect, it } from "vitest";

import { factorOf, factorText, positionOf } from "./scale";
import { LAST, positionFor, valueAt, windowsIn, withWindow } from "./windows";

describe("sliders", () => {
  it("go over orders of magnitude and back", () => {
    expect(factorOf(0)).toBe(1);
    expect(factorOf(20)).toBe(10);
    expect(factorOf(-40)).toBe(0.01);
    for (let k = -40; k <= 40; k += 1) expect(positionOf(factorOf(k))).toBe(k);
    for (let k = 0; k <= LAST; k += 1) expect(valueAt(positionFor(valueAt(k)))).toBe(valueAt(k));
  });
  it("have a text for their factor", () =>
    expect([1, 10, 2.5, 0.25].map(factorText)).toEqual(["", "×10", "×2.5", "÷4"]));
});

describe("the windows of a query", () => {
  it("are found in both languages, and not in comments", () => {
    const rq = "% WINDOW 9d\nAnswer(x) <- a(x, x).\nON s WINDOW 7d SLIDE 1d ON t WINDOW 30 d";
    expect(windowsIn(rq, "%").map(({ value, unit, slide }) => [value, unit, slide])).toEqual([
      [7, "d", 1],
      [30, "d", 0],
    ]);
    const gcore = "// WINDOW 9d\nSELECT a MATCH (a) ON s WINDOW (100d) SLIDE (1d) /* WINDOW 8d */";
    expect(windowsIn(gcore, "//")).toHaveLength(1);
    expect(windowsIn(gcore, "//")[0]).toMatchObject({ value: 100, unit: "d", slide: 1 });
  });
  it("are written anew where they stand, and never shorter than their slide", () => {
    const text = "a WINDOW 30d SLIDE 7d.";
    const [found] = windowsIn(text, "%");
    expect(withWindow(text, found!, 50)).toBe("a WINDOW 50d SLIDE 7d.");
    expect(withWindow(text, found!, 3)).toBe("a WINDOW 7d SLIDE 7d.");
  });
});

import { describe, expect, it } from "vitest";

import { cost, costUnit, counted, digits, duration, more, number, per, share, times } from "./numbers";

describe("numbers are written as by headrace explain", () => {
  // The cases are those of tests/api/test_numbers.py.
  it.each([
    [0, "0"],
    [0.025, "0.025"],
    [0.0001, "1.0e-04"],
    [1234, "1.23k"],
    [999.4, "999"],
    [999.6, "1k"],
    [5e12, "5T"],
    [1e15, "1.0e+15"],
    [Infinity, "∞"],
  ])("%f is %s", (value, text) => expect(number(value)).toBe(text));

  it.each([
    [2592000, 1, "30d"],
    [90, 1, "1.5m"],
    [36, 86400, "36d"],
    [5, null, "5"],
    [null, 1, "∞"],
    [0, 1, "0"],
  ])("%s ticks of %s s are %s", (ticks, seconds, text) =>
    expect(duration(ticks, seconds)).toBe(text),
  );

  it("rates are in the unit of the plan", () =>
    expect(per(0.000889, { factor: 3600, sign: "h" })).toBe("3.2"));

  it("costs say their unit", () => {
    expect(cost(0.0023, { factor: 3600, sign: "h" })).toBe("8.28 µs/h");
    expect(costUnit({ factor: 60, sign: "min" })).toBe("µs of work per minute of stream");
    expect(costUnit({ factor: 1, sign: "tick" })).toBe("µs of work per tick of stream");
  });

  it.each([
    [0, "0"],
    [999, "999"],
    [1204, "1,204"],
    [1234567, "1,234,567"],
  ])("all digits of %i are %s", (count, text) => expect(digits(count)).toBe(text));

  it("counts have their noun in the singular or plural", () => {
    expect(counted(1, "group")).toBe("1 group");
    expect(counted(0, "edge")).toBe("0 edges");
    expect(counted(1204, "step")).toBe("1,204 steps");
  });

  it("shares are percent", () => {
    expect(share(0.001, 1)).toBe("<1%");
    expect(share(93, 100)).toBe("93%");
    expect(share(0, 0)).toBe("0%");
  });

  it("what is as good has no number", () => {
    expect(times(352, 272)).toBe("1.29×");
    expect(times(272, 272)).toBeNull();
    expect(more(272, 272)).toBeNull();
    expect(more(274, 272)).toBe("+0.74%");
    expect(more(352, 272)).toBe("1.29×");
  });
});

import { expect, it } from "vitest";

import { inSight, scrolledTo } from "./rows";

it("shows the rows in sight and some beyond", () => {
  expect(inSight(50_000, 20, 0, 400, 5)).toEqual({ first: 0, end: 25 });
  expect(inSight(50_000, 20, 2000, 400, 5)).toEqual({ first: 95, end: 125 });
  expect(inSight(10, 20, 0, 400)).toEqual({ first: 0, end: 10 });
  expect(inSight(0, 20, 300, 400)).toEqual({ first: 0, end: 0 });
});

it("scrolls no further than it has to", () => {
  expect(scrolledTo(3, 20, 0, 100)).toBe(0);
  expect(scrolledTo(7, 20, 0, 100)).toBe(60);
  expect(scrolledTo(4, 20, 100, 100)).toBe(80);
  expect(scrolledTo(50, 20, 0, 100)).toBe(960);
  expect(scrolledTo(0, 20, 5000, 100)).toBe(0);
});

import { expect, it } from "vitest";

import { minimapOf } from "./minimap";
import { legible } from "./transform";

const VIEW = { width: 600, height: 400 };

it("a map is only there for a graph that reaches beyond the view", () => {
  expect(minimapOf({ width: 400, height: 300 }, VIEW, { x: 10, y: 10, scale: 1 })).toBeNull();
  expect(minimapOf({ width: 400, height: 300 }, { width: 0, height: 0 }, { x: 0, y: 0, scale: 1 })).toBeNull();
  const map = minimapOf({ width: 1680, height: 400 }, VIEW, { x: -840, y: 0, scale: 1 })!;
  expect(map.scale).toBeCloseTo(0.1);
  expect(map.frame).toEqual({ x: 84, y: 0, width: 60, height: 40 });
});

it("a map stands below a narrow view, where it would cover boxes", () => {
  const at = { x: 0, y: 0, scale: 1 };
  expect(minimapOf({ width: 900, height: 900 }, VIEW, at)!.below).toBe(false);
  const map = minimapOf({ width: 900, height: 900 }, { width: 390, height: 400 }, at)!;
  expect(map.below).toBe(true);
  expect(map.height).toBe(64);
});

it("a map is small in a small view", () => {
  const at = { x: 0, y: 0, scale: 1 };
  expect(minimapOf({ width: 900, height: 300 }, { width: 300, height: 300 }, at)!.width).toBeCloseTo(90);
  expect(minimapOf({ width: 900, height: 900 }, { width: 600, height: 150 }, at)!.height).toBeCloseTo(45);
});

it("the frame of a map stays within it", () => {
  const { frame } = minimapOf({ width: 1680, height: 400 }, VIEW, { x: 200, y: 0, scale: 1 })!;
  expect(frame.x).toBe(0);
  expect(frame.width).toBeCloseTo(40);
});

it("a graph is shown whole where it can be read, and else from its top", () => {
  expect(legible(VIEW, { width: 440, height: 300 }, { x: 220, y: 20 })!.scale).toBeGreaterThan(0.85);
  const large = legible(VIEW, { width: 4000, height: 3000 }, { x: 2000, y: 20 })!;
  expect(large).toEqual({ x: 300 - 1700, y: 28, scale: 0.85 });
  // At the left end there is nothing to be seen on its left.
  expect(legible(VIEW, { width: 4000, height: 3000 }, { x: 10, y: 20 })!.x).toBe(28);
});

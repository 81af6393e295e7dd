import { describe, expect, it } from "vitest";

import { lineShape, matchingBoxes, type GraphLine } from "./elements";
import { neighbour, placed } from "./layout";
import { centred, fitting, inSight, type Transform } from "./transform";

const box = (id: string, label = id) => ({ id, label, width: 100, height: 40 });

describe("boxes are found", () => {
  const boxes = [box("1", "WSCAN a2q"), { ...box("2", "HASH_JOIN"), text: "HASH_JOIN x, y" }];

  it("by all words of a text, in any case and order", () => {
    expect(matchingBoxes(boxes, "A2Q wscan")).toEqual(new Set(["1"]));
    expect(matchingBoxes(boxes, "join y")).toEqual(new Set(["2"]));
    expect(matchingBoxes(boxes, "join a2q")).toEqual(new Set());
  });

  it("only if something is sought", () => expect(matchingBoxes(boxes, "  ")).toBeNull());
});

describe("a line", () => {
  const line = (from: string, to: string): GraphLine => ({ id: `${from}-${to}`, from, to });
  const lines = [line("a", "b"), line("a", "a")];
  const at = placed([box("a"), box("b")], lines, "right", { between: 20, layers: 40 });

  it("goes from box to box, its text in the middle", () => {
    const { d, label } = lineShape(lines[0]!, at, () => 40, "right");
    expect(d).toMatch(/^M[\d.]+,[\d.]+C/);
    expect(label.x).toBeGreaterThan(at.boxes["a"]!.x);
    expect(label.x).toBeLessThan(at.boxes["b"]!.x);
  });

  it("to its own box is a loop above that", () => {
    const { d, label } = lineShape(lines[1]!, at, () => 40, "right");
    expect(d).toContain("c");
    expect(label).toEqual({ x: at.boxes["a"]!.x, y: at.boxes["a"]!.y - 46 });
  });

  it("that was not placed is empty", () => {
    expect(lineShape(line("b", "a"), at, () => 40, "right").d).toBe("");
  });
});

describe("the view of a graph", () => {
  const view = { width: 1000, height: 500 };
  const seen = ({ x, y, scale }: Transform, point: { x: number; y: number }) => ({
    x: x + point.x * scale,
    y: y + point.y * scale,
  });

  it("shows a large graph whole", () => {
    const graph = { width: 5000, height: 1000 };
    const transform = fitting(view, graph)!;
    const [first, last] = [seen(transform, { x: 0, y: 0 }), seen(transform, { x: 5000, y: 1000 })];
    expect(first.x).toBeGreaterThan(0);
    expect(first.y).toBeGreaterThan(0);
    expect(last.x).toBeLessThan(view.width);
    expect(last.y).toBeLessThan(view.height);
    expect(first.x).toBeCloseTo(view.width - last.x);
  });

  it("does not make a small graph much larger", () =>
    expect(fitting(view, { width: 10, height: 10 })!.scale).toBe(1.1));

  it("needs room", () =>
    expect(fitting({ width: 0, height: 500 }, { width: 10, height: 10 })).toBeNull());

  it("brings a box into the middle, at a size that can be read", () => {
    const point = { x: 300, y: 70 };
    const far = centred(view, point, { x: 0, y: 0, scale: 0.1 });
    expect(far.scale).toBe(0.7);
    expect(seen(far, point)).toEqual({ x: 500, y: 250 });
    expect(centred(view, point, { x: 0, y: 0, scale: 2 }).scale).toBe(2);
  });

  it("knows which boxes are in sight", () => {
    const present = { x: 10, y: 0, scale: 2 };
    expect(inSight(view, { x: 100, y: 100 }, present)).toBe(true);
    expect(inSight(view, { x: 5, y: 100 }, present)).toBe(false);
    expect(inSight(view, { x: 490, y: 100 }, present)).toBe(false);
  });

  it("is walked through with arrow keys", () => {
    const boxes = { a: { x: 0, y: 0 }, b: { x: 0, y: 80 }, c: { x: 300, y: 80 } };
    expect(neighbour(boxes, "a", "ArrowDown")).toBe("b");
    expect(neighbour(boxes, "b", "ArrowRight")).toBe("c");
  });
});

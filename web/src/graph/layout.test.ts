import { describe, expect, it } from "vitest";

import { fitted } from "./fit";
import { curve, loop, neighbour, placed } from "./layout";

const box = (id: string) => ({ id, width: 100, height: 40 });
const line = (from: string, to: string) => ({ id: `${from}-${to}`, from, to });
const SPACING = { between: 20, layers: 40 };

describe("a plan", () => {
  const boxes = ["left", "right", "join", "answer"].map(box);
  const lines = [line("left", "join"), line("right", "join"), line("join", "answer")];
  const at = placed(boxes, lines, "up", SPACING);

  it("grows upwards", () => {
    expect(at.boxes["answer"]!.y).toBeLessThan(at.boxes["join"]!.y);
    expect(at.boxes["join"]!.y).toBeLessThan(at.boxes["left"]!.y);
  });

  it("has the inputs of a join in their order, whichever it is", () => {
    expect(at.boxes["left"]!.x).toBeLessThan(at.boxes["right"]!.x);
    const other = placed(boxes, [lines[1]!, lines[0]!, lines[2]!], "up", SPACING);
    expect(other.boxes["right"]!.x).toBeLessThan(other.boxes["left"]!.x);
  });

  it("has lines that lead from input to consumer", () => {
    const points = at.lines["left-join"]!;
    expect(points[0]!.y).toBeGreaterThan(points.at(-1)!.y);
    expect(curve(points, "up")).toMatch(/^M[\d.]+,[\d.]+C/);
  });

  it("is walked through with arrow keys", () => {
    expect(neighbour(at.boxes, "answer", "ArrowDown")).toBe("join");
    expect(neighbour(at.boxes, "left", "ArrowRight")).toBe("right");
    expect(neighbour(at.boxes, "answer", "ArrowUp")).toBeNull();
    expect(neighbour(at.boxes, "nobody", "ArrowUp")).toBeNull();
  });

  it("may be to the right, and may have a box that two read", () => {
    const shared = placed(boxes, [...lines, line("left", "answer")], "right", SPACING);
    expect(shared.boxes["left"]!.x).toBeLessThan(shared.boxes["answer"]!.x);
    expect(shared.lines["left-answer"]!.length).toBeGreaterThan(1);
  });
});

it("a loop is on its box, and what is written on lines has room", () => {
  const boxes = ["a", "b"].map(box);
  const lines = [line("a", "a"), { ...line("a", "b"), label: 80 }, { ...line("b", "a"), label: 80 }];
  const at = placed(boxes, lines, "right", SPACING);
  expect(at.lines["a-a"]).toBeUndefined();
  expect(loop(at.boxes["a"]!, 40)).toMatch(/^M/);
  const [there, back] = [at.labels!["a-b"]!, at.labels!["b-a"]!];
  expect(Math.max(Math.abs(there.y - back.y) / 16, Math.abs(there.x - back.x) / 80)).toBeGreaterThan(1);
});

describe("text", () => {
  const width = (text: string) => [...text].length * 10;

  it("is cut where there is no room", () => {
    expect(fitted("hello", "", 50, width)).toBe("hello");
    expect(fitted("hello world", "", 60, width)).toBe("hello…");
    expect(fitted("😀😀😀", "", 20, width)).toBe("😀…");
  });
});

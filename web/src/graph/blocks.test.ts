import { describe, expect, it } from "vitest";

import { LEAST_IN_BLOCK } from "./blocks";
import type { Box, Line } from "./geometry";
import { placed } from "./layout";

const SPACING = { between: 28, layers: 56 };
const box = (id: string): Box => ({ id, width: 160, height: 70 });
const line = (from: string, to: string): Line => ({ id: `${from}-${to}`, from, to, label: 40 });

/** A path over `count` scans, which a join reads together with one more scan. */
function path(count: number): { readonly boxes: readonly Box[]; readonly lines: readonly Line[] } {
  const scans = Array.from({ length: count }, (_, k) => `scan ${k}`);
  return {
    boxes: [...scans, "path", "other", "join"].map(box),
    lines: [...scans.map((one) => line(one, "path")), line("path", "join"), line("other", "join")],
  };
}

describe("an operator with many scans", () => {
  const { boxes, lines } = path(16);
  const at = placed(boxes, lines, "up", SPACING);
  const scans = boxes.slice(0, 16).map(({ id }) => at.boxes[id]!);

  it("has them in rows below it, in their order", () => {
    expect(new Set(scans.map(({ y }) => y)).size).toBe(4);
    expect(at.width).toBeLessThan(5 * (160 + 28));
    for (const [k, here] of scans.entries()) {
      const next = scans[k + 1];
      if (next) expect(next.y > here.y || next.x > here.x).toBe(true);
      expect(here.y).toBeGreaterThan(at.boxes["path"]!.y + 70);
    }
  });

  it("has no boxes that overlap, and none outside of the graph", () => {
    const all = Object.values(at.boxes);
    expect(all).toHaveLength(boxes.length);
    for (const [k, a] of all.entries()) {
      expect(a.x - 80).toBeGreaterThanOrEqual(-0.1);
      expect(a.x + 80).toBeLessThanOrEqual(at.width + 0.1);
      expect(a.y + 35).toBeLessThanOrEqual(at.height + 0.1);
      for (const b of all.slice(k + 1))
        expect(Math.abs(a.x - b.x) >= 160 || Math.abs(a.y - b.y) >= 70).toBe(true);
    }
  });

  it("has lines from each scan to it, which cross no box and no text", () => {
    const path = at.boxes["path"]!;
    for (const one of lines.slice(0, 16)) {
      const points = at.lines[one.id]!;
      expect(points[0]).toEqual({ x: at.boxes[one.from]!.x, y: at.boxes[one.from]!.y - 35 });
      expect(points.at(-1)!.y).toBe(path.y + 35);
      expect(Math.abs(points.at(-1)!.x - path.x)).toBeLessThanOrEqual(80);
      for (const { x, y } of points.slice(1, -1))
        for (const scan of scans)
          expect(Math.abs(x - scan.x) >= 80 || Math.abs(y - scan.y) >= 35).toBe(true);
    }
    const texts = lines.slice(0, 16).map(({ id }) => at.labels![id]!);
    expect(new Set(texts.map(({ x, y }) => `${x} ${y}`)).size).toBe(16);
  });
});

it("a few scans, and scans that others read too, stand in one row", () => {
  const few = path(LEAST_IN_BLOCK - 1);
  const at = placed(few.boxes, few.lines, "up", SPACING);
  expect(new Set(few.boxes.slice(0, LEAST_IN_BLOCK - 1).map(({ id }) => at.boxes[id]!.y)).size).toBe(1);
  const { boxes, lines } = path(LEAST_IN_BLOCK);
  const shared = placed(boxes, [...lines, line("scan 0", "join")], "up", SPACING);
  expect(new Set(boxes.slice(0, LEAST_IN_BLOCK).map(({ id }) => shared.boxes[id]!.y)).size).toBe(1);
});

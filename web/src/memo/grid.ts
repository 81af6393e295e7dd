/** Many groups as rows of boxes. Their places do not depend on the lines, so that there can be
 * hundreds, and the lines of the selected group can be shown without moving a box. */

import type { Line, Placed, Point } from "../graph/geometry";
import type { GroupBox } from "./boxes";
import type { MemoIndex } from "./memo";

const BETWEEN = 14;
const ROWS = 12;
const LAYERS = 46;
/** The wanted ratio of width to height. */
const ASPECT = 1.5;

/** A row or several for each layer of the memo, the root on top, the plan in the middle. */
export function gridOf(
  index: MemoIndex,
  boxes: readonly GroupBox[],
  lines: readonly Line[],
): Placed {
  const layers = new Map<number, GroupBox[]>();
  for (const box of boxes) {
    const layer = index.places.get(box.group)?.layer ?? 0;
    const row = layers.get(layer);
    if (row) row.push(box);
    else layers.set(layer, [box]);
  }
  const area = boxes.reduce((sum, box) => sum + (box.width + BETWEEN) * (box.height + ROWS), 0);
  const width = Math.max(Math.sqrt(area * ASPECT) * 1.1, ...boxes.map((box) => box.width));
  const at: Record<string, Point> = {};
  let y = 0;
  for (const layer of [...layers.keys()].sort((a, b) => b - a)) {
    for (const row of rowsOf(layers.get(layer)!, width)) {
      const high = Math.max(...row.map((box) => box.height));
      let x = (width - lengthOf(row)) / 2;
      for (const box of row) {
        at[box.id] = { x: x + box.width / 2, y: y + high / 2 };
        x += box.width + BETWEEN;
      }
      y += high + ROWS;
    }
    y += LAYERS - ROWS;
  }
  const heights = new Map(boxes.map((box) => [box.id, box.height]));
  const through = ({ from, to }: Line): readonly Point[] => {
    const [a, b] = [at[from], at[to]];
    if (!a || !b) return [];
    // Groups that read each other in a circle may be in any order.
    const up = a.y >= b.y ? 1 : -1;
    return [
      { x: a.x, y: a.y - (up * (heights.get(from) ?? 0)) / 2 },
      { x: b.x, y: b.y + (up * (heights.get(to) ?? 0)) / 2 },
    ];
  };
  return {
    width,
    height: Math.max(0, y - LAYERS),
    boxes: at,
    lines: Object.fromEntries(lines.map((line) => [line.id, through(line)])),
  };
}

const lengthOf = (row: readonly GroupBox[]): number =>
  row.reduce((sum, box) => sum + box.width + BETWEEN, -BETWEEN);

/** Boxes in rows of at most a width, each with those of the plan in its middle. */
function rowsOf(boxes: readonly GroupBox[], width: number): readonly (readonly GroupBox[])[] {
  const rows: GroupBox[][] = [];
  let row: GroupBox[] = [];
  const order = [...boxes].sort((a, b) => Number(b.chosen) - Number(a.chosen) || a.group - b.group);
  for (const box of order) {
    if (row.length && lengthOf([...row, box]) > width) {
      rows.push(row);
      row = [];
    }
    row.push(box);
  }
  if (row.length) rows.push(row);
  return rows.map((one) => {
    const chosen = one.filter((box) => box.chosen);
    const others = one.filter((box) => !box.chosen);
    const half = others.length >> 1;
    return [...others.slice(0, half), ...chosen, ...others.slice(half)];
  });
}

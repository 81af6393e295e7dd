/** A map of a memo: a small cell for each group, in a row for each layer. */

import type { MemoIndex } from "./memo";

export interface Cell {
  readonly group: number;
  readonly x: number;
  readonly y: number;
}

export interface GroupMap {
  readonly width: number;
  readonly height: number;
  readonly size: number;
  readonly cells: readonly Cell[];
}

/** Places the cells within a width: the root on top, long layers in several rows. */
export function mapOf(index: MemoIndex, width: number, largest = 14, smallest = 5): GroupMap {
  const layers = new Map<number, number[]>();
  for (const { group, layer } of index.places.values()) {
    const row = layers.get(layer);
    if (row) row.push(group.id);
    else layers.set(layer, [group.id]);
  }
  const longest = Math.max(1, ...[...layers.values()].map((row) => row.length));
  const size = Math.max(smallest, Math.min(largest, Math.floor(width / longest)));
  const fit = Math.max(1, Math.floor(width / size));
  const cells: Cell[] = [];
  let y = 0;
  for (const layer of [...layers.keys()].sort((a, b) => b - a)) {
    const row = layers.get(layer)!;
    for (let from = 0; from < row.length; from += fit) {
      const part = row.slice(from, from + fit);
      const left = Math.floor((width - part.length * size) / 2);
      part.forEach((group, k) => cells.push({ group, x: left + k * size, y }));
      y += size;
    }
    y += 2;
  }
  return { width, height: Math.max(0, y - 2), size, cells };
}

/** The cell at a point; null between them. */
export function cellAt(map: GroupMap, x: number, y: number): number | null {
  const found = map.cells.find(
    (cell) => x >= cell.x && x < cell.x + map.size && y >= cell.y && y < cell.y + map.size,
  );
  return found?.group ?? null;
}

/**
 * Inputs in rows: an operator that reads many boxes without inputs of their own has them below it
 * as a block of rows, since one row of them would be wider than any view.
 *
 * The lines of lower rows rise between the columns.
 */

import type { Box, Line, Point } from "./geometry";

/** Fewer boxes stand in one row. */
export const LEAST_IN_BLOCK = 6;
/** Columns for each row: boxes are wide, and so are views. */
const COLUMNS_PER_ROW = 1.5;
/** Above each row: the texts of its lines, and the bends of the lines. */
const LEAD = 52;
/** From the upper end of a box to the middle of the text on its line. */
const TEXT_ABOVE = 13;
const BEND_FROM = 22;
/** Lines of a block enter their reader within this part of its width. */
const ENTRANCE = 0.8;

export interface Block extends Box {
  /** The box that reads all members. */
  readonly reader: string;
  readonly members: readonly Member[];
  readonly columns: number;
  /** The width of a column, and the room between two. */
  readonly column: number;
  readonly between: number;
  /** The height of the boxes of each row. */
  readonly rows: readonly number[];
}

interface Member {
  readonly box: Box;
  readonly line: Line;
}

/** Where the members of a block and their lines are. */
export interface PlacedBlock {
  readonly boxes: Readonly<Record<string, Point>>;
  /** The points of lines, from the member to the reader. */
  readonly lines: Readonly<Record<string, readonly Point[]>>;
  readonly labels: Readonly<Record<string, Point>>;
}

/** The blocks of a graph; `between` is the room between two columns. */
export function blocksOf(
  boxes: readonly Box[],
  lines: readonly Line[],
  between: number,
): readonly Block[] {
  const read = new Set(lines.map(({ to }) => to));
  const uses = new Map<string, number>();
  for (const { from } of lines) uses.set(from, (uses.get(from) ?? 0) + 1);
  const byId = new Map(boxes.map((box) => [box.id, box]));
  const members = new Map<string, Member[]>();
  for (const line of lines) {
    const box = byId.get(line.from);
    if (!box || read.has(line.from) || uses.get(line.from) !== 1) continue;
    members.set(line.to, [...(members.get(line.to) ?? []), { box, line }]);
  }
  return [...members]
    .filter(([, all]) => all.length >= LEAST_IN_BLOCK)
    .map(([reader, all]) => blockOf(reader, all, between));
}

function blockOf(reader: string, members: readonly Member[], between: number): Block {
  const widest = Math.ceil(Math.sqrt(COLUMNS_PER_ROW * members.length));
  const count = Math.ceil(members.length / widest);
  const columns = Math.ceil(members.length / count);
  const column = Math.max(...members.map(({ box, line }) => Math.max(box.width, line.label ?? 0)));
  const rows = Array.from({ length: count }, (_, row) =>
    Math.max(...members.slice(row * columns, (row + 1) * columns).map(({ box }) => box.height)),
  );
  return {
    id: `block of ${reader}`,
    reader,
    members,
    columns,
    column,
    between,
    rows,
    width: columns * column + (columns - 1) * between,
    height: rows.reduce((sum, height) => sum + LEAD + height, 0),
  };
}

/** Places the members of a block, whose middle is at a point, and leads their lines to its reader. */
export function placeBlock(block: Block, middle: Point, reader: Point & Box): PlacedBlock {
  const { columns, column, between, rows, members } = block;
  const left = middle.x - block.width / 2;
  const top = middle.y - block.height / 2;
  const x = (k: number) => left + column / 2 + k * (column + between);
  // Lines rise on the side of their column that is nearer to the middle of the block.
  const rise = (k: number) => x(k) + (k < (columns - 1) / 2 ? 1 : -1) * ((column + between) / 2);
  const entrance = (from: number) =>
    reader.x + ((from - middle.x) / block.width) * Math.min(ENTRANCE * reader.width, block.width);
  const boxes: Record<string, Point> = {};
  const lines: Record<string, readonly Point[]> = {};
  const labels: Record<string, Point> = {};
  members.forEach(({ box, line }, k) => {
    const [row, at] = [Math.floor(k / columns), k % columns];
    const height = rows[row]!;
    const begin = top + rows.slice(0, row).reduce((sum, one) => sum + LEAD + one, 0) + LEAD;
    const own = x(at);
    const upper = begin + (height - box.height) / 2;
    boxes[box.id] = { x: own, y: begin + height / 2 };
    labels[line.id] = { x: own, y: begin - TEXT_ABOVE };
    const start = [{ x: own, y: upper }, { x: own, y: begin - BEND_FROM }];
    const side = rise(at);
    const last = row ? side : own;
    const between = row ? [{ x: side, y: begin - LEAD }, { x: side, y: top + LEAD - BEND_FROM }] : [];
    lines[line.id] = [...start, ...between, { x: entrance(last), y: reader.y + reader.height / 2 }];
  });
  return { boxes, lines, labels };
}

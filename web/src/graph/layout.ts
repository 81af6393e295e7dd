/** Places the boxes and lines of a graph in layers, by dagre. Sizes are in pixels. */

import { Graph, layout } from "@dagrejs/dagre";

import { blocksOf, placeBlock } from "./blocks";
import type { Box, Direction, Line, Placed, Point, Spacing } from "./geometry";

/** The height of the text on a line. */
const LABEL_HEIGHT = 16;

const RANKS = { up: "TB", down: "TB", right: "LR" } as const;

export function placed(
  boxes: readonly Box[],
  lines: readonly Line[],
  direction: Direction,
  spacing: Spacing,
): Placed {
  const graph = new Graph({ multigraph: true });
  graph.setGraph({
    rankdir: RANKS[direction],
    nodesep: spacing.between,
    ranksep: spacing.layers,
    edgesep: spacing.between / 2,
  });
  // Many inputs of one box are to dagre a single one, the block of their rows.
  const blocks = direction === "up" ? blocksOf(boxes, lines, spacing.between) : [];
  const blockOf = new Map(blocks.flatMap(({ id, members }) => members.map(({ box }) => [box.id, id])));
  const own = boxes.filter(({ id }) => !blockOf.has(id));
  for (const { id, width, height } of [...own, ...blocks]) graph.setNode(id, { width, height });
  // Upwards, dagre begins at the top: then the inputs of a box stand in their order.
  const ends = ({ from, to }: Line) => direction === "up" ? ([to, from] as const) : ([from, to] as const);
  // A loop is drawn on its box and takes no part in the layers.
  const straight = lines.filter(({ from, to }) => from !== to);
  const led = straight.filter(({ from }) => !blockOf.has(from));
  for (const { id, reader } of blocks) graph.setEdge(reader, id, {}, id);
  for (const line of led) {
    const room = line.label === undefined ? {} : { width: line.label, height: LABEL_HEIGHT, labelpos: "c" };
    graph.setEdge(...ends(line), room, line.id);
  }
  layout(graph);
  const { width = 0, height = 0 } = graph.graph() as { width?: number; height?: number };
  const rightOf = (id: string) => (graph.node(blockOf.get(id) ?? id) as Point).x;
  const mirrored = direction !== "right" && reversed(straight, rightOf);
  const point = ({ x, y }: Point): Point => ({ x: mirrored ? width - x : x, y });
  const at = (id: string): Point => point(graph.node(id) as Point);
  const edgeOf = (line: Line) => {
    const [v, w] = ends(line);
    return graph.edge({ v, w, name: line.id }) as { points?: Point[] } & Partial<Point>;
  };
  const through = (line: Line): readonly Point[] => {
    const edge = edgeOf(line);
    const points = (edge.points ?? []).map(point);
    return direction === "up" ? points.reverse() : points;
  };
  const inRows = blocks.map((block) =>
    placeBlock(block, at(block.id), { ...(graph.node(block.reader) as Box), ...at(block.reader) }),
  );
  return {
    width,
    height,
    boxes: merged([
      Object.fromEntries(own.map((box) => [box.id, at(box.id)])),
      ...inRows.map((one) => one.boxes),
    ]),
    lines: merged([
      Object.fromEntries(led.map((line) => [line.id, through(line)])),
      ...inRows.map((one) => one.lines),
    ]),
    labels: merged([
      Object.fromEntries(
        led.flatMap((line) => {
          const { x, y } = edgeOf(line);
          return x === undefined || y === undefined ? [] : [[line.id, point({ x, y })]];
        }),
      ),
      ...inRows.map((one) => one.labels),
    ]),
  };
}

type Named<T> = Readonly<Record<string, T>>;
const merged = <T>(parts: readonly Named<T>[]): Named<T> => Object.assign({}, ...parts) as Named<T>;

/** Whether most inputs of boxes stand from right to left. */
function reversed(lines: readonly Line[], x: (id: string) => number): boolean {
  let right = 0;
  const last = new Map<string, string>();
  for (const { from, to } of lines) {
    const before = last.get(to);
    if (before !== undefined) right += Math.sign(x(from) - x(before));
    last.set(to, from);
  }
  return right < 0;
}

/** A smooth line through points, as the `d` of an SVG path. */
export function curve(points: readonly Point[], direction: Direction): string {
  const [first, ...rest] = points;
  if (first === undefined) return "";
  let d = `M${round(first.x)},${round(first.y)}`;
  let from = first;
  for (const to of rest) {
    const [a, b] =
      direction === "right"
        ? [{ x: (from.x + to.x) / 2, y: from.y }, { x: (from.x + to.x) / 2, y: to.y }]
        : [{ x: from.x, y: (from.y + to.y) / 2 }, { x: to.x, y: (from.y + to.y) / 2 }];
    d += `C${[a, b, to].map(({ x, y }) => `${round(x)},${round(y)}`).join(" ")}`;
    from = to;
  }
  return d;
}

/** A line from a box to itself, above it. */
export const loop = ({ x, y }: Point, height: number): string =>
  `M${round(x - 8)},${round(y - height / 2)}c-18,-34 34,-34 16,0`;

const ARROWS = {
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
} as const;
export type ArrowKey = keyof typeof ARROWS;

export const isArrowKey = (key: string): key is ArrowKey => key in ARROWS;

/** The box to go to from another one by an arrow key: near, and in that direction. */
export function neighbour(
  boxes: Readonly<Record<string, Point>>,
  from: string,
  key: ArrowKey,
): string | null {
  const here = boxes[from];
  if (here === undefined) return null;
  const [dx, dy] = ARROWS[key];
  let best: string | null = null;
  let least = Infinity;
  for (const [id, { x, y }] of Object.entries(boxes)) {
    const along = (x - here.x) * dx + (y - here.y) * dy;
    const aside = Math.abs((x - here.x) * dy) + Math.abs((y - here.y) * dx);
    const distance = along + 2 * aside;
    if (along > 1 && aside < 3 * along && distance < least) [best, least] = [id, distance];
  }
  return best;
}

const round = (value: number): number => Math.round(value * 10) / 10;

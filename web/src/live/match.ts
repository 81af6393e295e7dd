/** Results as graphs: the edges that the query asks for, between the vertices that were found. */

import type { Match } from "../api/schema";

/** A line of the results. */
export interface Result {
  readonly number: number;
  readonly bindings: Readonly<Record<string, unknown>>;
  readonly paths?: Readonly<Record<string, readonly (readonly [unknown, string, unknown])[]>>;
  readonly op?: "+" | "-";
  readonly ts?: number;
  readonly exp?: number | null;
  readonly at?: number;
  readonly event?: string;
}

export interface Vertex {
  readonly id: string;
  readonly text: string;
  /** The columns that have it as a value. */
  readonly columns: readonly string[];
  /** The query has no column for the vertex: it exists, but the result does not tell which one it is. */
  readonly unknown: boolean;
}

export interface Edge {
  readonly id: string;
  readonly from: string;
  readonly to: string;
  readonly text: string;
}

export interface Drawing {
  readonly vertices: readonly Vertex[];
  readonly edges: readonly Edge[];
}

/** The graph of some results, in which equal vertices are one. */
export function drawingOf(results: readonly Result[], match: Match): Drawing {
  const vertices = new Map<string, { text: string; columns: Set<string>; unknown: boolean }>();
  const edges = new Map<string, Edge>();

  const vertex = (id: string, text: string, column: string | null, unknown = false): string => {
    const known = vertices.get(id) ?? { text, columns: new Set<string>(), unknown };
    if (column !== null) known.columns.add(column);
    vertices.set(id, known);
    return id;
  };
  const edge = (from: string, to: string, text: string): void => {
    const id = JSON.stringify([from, text, to]);
    edges.set(id, { id, from, to, text });
  };

  for (const result of results) {
    const end = ({ variable, constant }: Match["edges"][number]["source"]): string => {
      if (constant !== undefined) return vertex(`=${constant}`, constant, null);
      const name = variable ?? "";
      const value = result.bindings[name];
      if (match.vertices.includes(name) && value !== undefined && value !== null)
        return vertex(`=${String(value)}`, String(value), name);
      return vertex(`?${result.number}.${name}`, name.startsWith("_") ? "" : name, null, true);
    };
    const found = match.vertices.filter((name) => result.bindings[name] != null);
    if (match.edges.length === 0)
      found.reduce<string | null>((before, name) => {
        const here = vertex(`=${String(result.bindings[name])}`, String(result.bindings[name]), name);
        if (before !== null) edge(before, here, "");
        return here;
      }, null);
    for (const one of match.edges) {
      const steps = one.path === null ? undefined : result.paths?.[one.path];
      const [source, target] = [end(one.source), end(one.target)];
      if (steps?.length)
        for (const [from, label, to] of steps)
          edge(
            vertex(`=${String(from)}`, String(from), null),
            vertex(`=${String(to)}`, String(to), null),
            label,
          );
      else edge(source, target, one.text);
    }
  }
  return {
    vertices: [...vertices].map(([id, { text, columns, unknown }]) => ({
      id,
      text,
      columns: [...columns],
      unknown,
    })),
    edges: [...edges.values()],
  };
}

/** The bindings of a result in one line: `x = 3, ys = [4, 7]`. */
export const bindingsText = ({ bindings }: Result): string =>
  Object.entries(bindings)
    .map(([name, value]) => `${name} = ${valueText(value)}`)
    .join(", ");

const valueText = (value: unknown): string =>
  value === null ? "none" : Array.isArray(value) ? `[${value.map(String).join(", ")}]` : String(value);

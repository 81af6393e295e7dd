import { describe, expect, it } from "vitest";

import type { Match, ProgressDocument } from "../api/schema";
import { eventsOf, EventParser } from "./events";
import { withSample, sparkline } from "./history";
import { drawingOf, bindingsText, type Result } from "./match";
import { titleOf } from "./title";
import { bytes, clock, instant } from "../text/time";

describe("events", () => {
  const TEXT = 'retry: 1000\n\n:\n\nid: 7\nevent: result\ndata: {"a":1}\n\nevent: end\ndata: {}\n\n';
  const WANTED = [
    { event: "result", id: "7", data: '{"a":1}' },
    { event: "end", id: null, data: "{}" },
  ];

  it("are whole wherever the text is cut", () => {
    for (let cut = 0; cut <= TEXT.length; cut += 1) {
      const parser = new EventParser();
      expect([...parser.take(TEXT.slice(0, cut)), ...parser.take(TEXT.slice(cut))]).toEqual(WANTED);
    }
  });

  it("come from a stream, also where a letter is cut", async () => {
    const data = new TextEncoder().encode("data: é\n\n");
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        controller.enqueue(data.slice(0, 7));
        controller.enqueue(data.slice(7));
        controller.close();
      },
    });
    const found = [];
    for await (const event of eventsOf(body)) found.push(event.data);
    expect(found).toEqual(["é"]);
  });
});

describe("results as a graph", () => {
  const result = (number: number, bindings: Record<string, unknown>): Result => ({ number, bindings });
  const edge = (source: string, text: string, target: string, path: string | null = null) => ({
    source: { variable: source },
    target: { variable: target },
    text,
    path,
  });
  const match: Match = {
    edges: [edge("x", "a2q", "y"), edge("y", "c2a", "_1"), edge("_1", "c2q", "x")],
    vertices: ["x", "y"],
  };
  const shown = (results: readonly Result[], of: Match) =>
    drawingOf(results, of).edges.map(({ from, text, to }) => `${from} ${text} ${to}`);

  it("have the edges of the query, and vertices that nobody asked for", () => {
    const found = [result(1, { x: "3", y: 7, amount: 5 })];
    expect(shown(found, match)).toEqual(["=3 a2q =7", "=7 c2a ?1._1", "?1._1 c2q =3"]);
    const { vertices } = drawingOf(found, match);
    expect(vertices.find(({ id }) => id === "=3")?.columns).toEqual(["x"]);
    expect(vertices.find(({ unknown }) => unknown)?.text).toBe("");
  });

  it("share equal vertices, and no others", () => {
    const found = [result(1, { x: "3", y: "7" }), result(2, { x: "7", y: "3" })];
    expect(drawingOf(found, match).vertices.length).toBe(4);
  });

  it("have the steps of a path that is returned", () => {
    const path: Match = { edges: [edge("x", "(a/b)+", "y", "p")], vertices: ["x", "y"] };
    const found: Result = {
      ...result(1, { x: "1", y: "7" }),
      paths: { p: [["1", "a", "4"], ["4", "b", "7"]] },
    };
    expect(shown([found], path)).toEqual(["=1 a =4", "=4 b =7"]);
    expect(shown([result(2, { x: "1", y: "7" })], path)).toEqual(["=1 (a/b)+ =7"]);
  });

  it("of several rules are what was found, and constants are there", () => {
    const found = [result(1, { x: "1", y: "2" })];
    expect(shown(found, { ...match, edges: [] })).toEqual(["=1  =2"]);
    const fixed = { source: { constant: "9" }, target: { variable: "y" }, text: "a", path: null };
    expect(shown(found, { edges: [fixed], vertices: ["y"] })).toEqual(["=9 a =2"]);
  });

  it("are bindingsText in a line", () => expect(bindingsText(result(1, { x: "3", n: null }))).toBe("x = 3, n = none"));
  it("show lists", () => expect(bindingsText(result(1, { x: "3", ys: ["4", "7"] }))).toBe("x = 3, ys = [4, 7]"));
});

describe("the course of a run", () => {
  const at = (seconds: number) =>
    ({ seconds, edges_per_second: seconds, results_per_second: 0, lag: null, state_bytes: 0, state_entries: 0 }) as unknown as ProgressDocument;

  it("has each sample once, and never too many", () => {
    let samples = withSample([], at(1));
    expect(withSample(samples, at(1))).toBe(samples);
    for (let k = 2; k < 2000; k += 1) samples = withSample(samples, at(k));
    expect(samples.length).toBeLessThan(250);
    expect(samples.at(-1)!.seconds).toBe(1999);
    expect(samples[0]!.seconds).toBe(1);
    expect(withSample(samples, at(5)).at(-1)!.seconds).toBe(2004); // it was paused
  });

  it("is a line within its box", () => {
    const { line } = sparkline([{ x: 0, y: 0 }, { x: 5, y: 10 }, { x: 10, y: 5 }], 100, 20);
    expect(line).toBe("M0.0,18.0L50.0,2.0L100.0,10.0");
    expect(sparkline([{ x: 0, y: 1 }], 100, 20).line).toBe("");
  });
});

it("times and sizes are for people", () => {
  expect(instant(1281138002, 1)).toBe("2010-08-06 23:40");
  expect(instant(1281225600, 1)).toBe("2010-08-08");
  expect(instant(720, 86400)).toBe("720");
  expect(instant(17, null)).toBe("17");
  expect([999, 174176, 1e9].map(bytes)).toEqual(["999 B", "174 kB", "1 GB"]);
  expect([0.25, 84.28, 600, 7200].map(clock)).toEqual(["250 ms", "84.3 s", "10 min", "2.0 h"]);
});

it("a query without a name is called by its first line that is not a comment", () => {
  const title = (query: string, name: string | null = null) => titleOf({ name, query });
  expect(title("% chains\nAnswer(x, y) <- a(x, y).")).toBe("Answer(x, y) <- a(x, y).");
  expect(title("/* of\npays */ // now\n\n SELECT a MATCH (a)")).toBe("SELECT a MATCH (a)");
  expect(title("% only this")).toBe("% only this");
  expect(title("Answer(x, y) <- a(x, y)", "chains.rq")).toBe("chains.rq");
});

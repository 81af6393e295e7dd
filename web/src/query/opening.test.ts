import { describe, expect, it } from "vitest";

import type { ExampleDocument, StreamDocument } from "../api/schema";
import { openingOf } from "./opening";

const known = (rate: number) => ({ rate, distinct_src: 9, distinct_trg: 9 });
const stream = (
  name: string,
  labels: Readonly<Record<string, number>>,
  { time_unit = "second", stored = false } = {},
): StreamDocument => ({
  name,
  time_unit,
  version: 0,
  source: null,
  live: false,
  stream: {
    labels: Object.fromEntries(Object.entries(labels).map(([label, rate]) => [label, known(rate)])),
    ...(stored && { stored }),
  },
});
const example = (name: string, labels: readonly string[]): ExampleDocument => ({
  name,
  title: "",
  language: "rq",
  query: "",
  catalog: {
    streams: { [name.split("/")[0]!]: { labels: Object.fromEntries(labels.map((l) => [l, known(1)])) } },
  },
});
const examples = [
  example("amlsim/cycle.rq", ["pays"]),
  example("mathoverflow/chains.rq", ["a2q", "c2a"]),
  example("mathoverflow/q5.rq", ["a2q", "c2a"]),
];
const queryOf = (...streams: readonly StreamDocument[]) => {
  const opening = openingOf(streams, examples);
  return opening && "query" in opening ? opening.query : null;
};

describe("the page opens", () => {
  it("with an example, if the service has no streams", () => {
    expect(openingOf([], examples)).toEqual({ example: examples[1], overService: false });
    expect(openingOf([], [])).toBeNull();
  });
  it("with an example of the same labels over the streams of the service", () => {
    const a = openingOf([stream("mathoverflow", { c2a: 7, a2q: 5 })], examples);
    expect(a).toEqual({ example: examples[1], overService: true });
    const b = openingOf([stream("amlsim", { pays: 7 })], examples);
    expect(b).toEqual({ example: examples[0], overService: true });
  });
  it("with a query over the busiest label of other streams", () => {
    expect(queryOf(stream("calls", { rings: 1, texts: 2 }))).toBe(
      "Answer(x, z) <- texts(x, y), texts(y, z).\nWINDOW 24h SLIDE 1h",
    );
    expect(queryOf(stream("s", { a: 1 }, { time_unit: "tick" }))).toContain("WINDOW 1000 SLIDE 100");
    expect(queryOf(stream("g", { a: 1 }, { stored: true }))).not.toContain("WINDOW");
  });
  it("with names that need quotes in quotes", () => {
    expect(queryOf(stream("s", { "is `in`": 1 }))).toContain("`is ``in```(x, y)");
    expect(queryOf(stream("s", { window: 1 }))).toContain("`window`(x, y)");
  });
  it("with no label that two streams have, as the query would have to say which", () => {
    expect(queryOf(stream("s", { a: 9, b: 1 }), stream("t", { a: 9 }))).toContain("b(x, y)");
    expect(queryOf(stream("s", { a: 1 }), stream("t", { a: 1 }))).toBeNull();
  });
});

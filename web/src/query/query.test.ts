import { readFileSync } from "node:fs";

import { StringStream } from "@codemirror/language";
import { describe, expect, it } from "vitest";

import type { Problem } from "../api/problems";
import { keyOf, knobs, labelsOf, scaledCatalog, type Catalog } from "./catalog";
import { COLOURINGS } from "./colourings";
import { extensionOf } from "./extensions";
import { guessedLanguage } from "./languages";
import { spanOf } from "./position";
import { adviceOf } from "./remedies";

const at = (line: number, column: number, text?: string) =>
  ({ position: { line, column }, ...(text && { text }) }) as unknown as Problem;

describe("the place of a problem", () => {
  const query = "Answer(x, y) <-\n  a2q(x y)";
  const span = (line: number, column: number, text?: string) => {
    const found = spanOf(query, at(line, column, text));
    return found && query.slice(found.from, found.to);
  };

  it("is underlined", () => {
    expect(span(2, 9, "y")).toBe("y");
    expect(span(2, 3, "a2q")).toBe("a2q");
    expect(span(2, 3)).toBe("a2q");
  });
  it("at the end of the text is the word before", () => expect(span(2, 11)).toBe(")"));
  it("may lie beyond the text", () => expect(span(9, 9)).toBe(")"));
  it("counts characters, not halves of them", () => {
    const found = spanOf("😀😀 x", at(1, 4, "x"));
    expect(found).toEqual({ from: 5, to: 6 });
  });
  it("may be unknown", () => expect(spanOf(query, {} as Problem)).toBeNull());
});

describe("what to do about a problem", () => {
  const problem = (advice: Problem["advice"]) => ({ hint: "of the service", advice }) as Problem;

  it("names the fields of the page", () => {
    const found = adviceOf(
      problem([
        { text: "add WINDOW 24h at its end" },
        { text: "give a default window", setting: "window", value: "24h" },
        { text: "evaluate at every instant", setting: "evaluate", value: "eager" },
      ]),
    );
    expect(found).toBe(
      "add WINDOW 24h at its end, or give a default window (the field Window: 24h), " +
        "or evaluate at every instant (the field Evaluate: at once)",
    );
  });
  it("leaves out settings that the page has no field for", () =>
    expect(adviceOf(problem([{ text: "mend it" }, { text: "name files", setting: "input" }]))).toBe(
      "mend it",
    ));
  it("is the hint of the service if there is no other advice", () => {
    expect(adviceOf(problem(null))).toBe("of the service");
    expect(adviceOf({} as Problem)).toBe("");
  });
});

function words(language: string, text: string): Record<string, string | null> {
  const { parser } = COLOURINGS[language]!;
  const state = parser.startState!(2);
  const found: Record<string, string | null> = {};
  for (const line of text.split("\n")) {
    const stream = new StringStream(line, 2, 2);
    while (!stream.eol()) {
      stream.start = stream.pos;
      const style = parser.token(stream, state);
      found[stream.current()] = style;
    }
  }
  return found;
}

describe("the editor colours", () => {
  it("RQ", () => {
    const found = words("rq", "Answer(x, e.amount) <- x (a2q/^c2a)+ y.\nWINDOW 3d SLIDE 1d % likes");
    expect(found).toMatchObject({
      Answer: "typeName",
      amount: "propertyName",
      a2q: "typeName",
      c2a: "typeName",
      x: "variableName",
      "% likes": "comment",
      WINDOW: "keyword",
      SLIDE: "keyword",
      "3d": "number",
    });
  });
  it("G-CORE", () => {
    const found = words("gcore", "/* a\nb */ SELECT a MATCH (a:account)-[e:pays]->() // c");
    expect(found).toMatchObject({
      "b */": "comment",
      SELECT: "keyword",
      account: "typeName",
      a: "variableName",
      "// c": "comment",
    });
  });
  it("WINDOW and SLIDE alike, wherever they stand", () => {
    const texts = [
      "Answer(x, y) <- a(x, y). WINDOW 3d SLIDE 1d",
      "Answer(x, y) <- a(x, y).WINDOW 3d SLIDE 1d",
      "Answer(x, y) <- a[WINDOW 3d SLIDE 1d](x, y)",
      "Answer(x, y) <- a(x, y)\nWINDOW 3d\nSLIDE 1d",
      "Answer(x, y) <- a(x, y) ON s WINDOW 3d SLIDE 1d",
    ];
    for (const text of texts)
      expect(words("rq", text), text).toMatchObject({ WINDOW: "keyword", SLIDE: "keyword" });
    expect(words("gcore", "SELECT x MATCH (x)-[:a]->(y) ON s WINDOW 3d SLIDE 1d")).toMatchObject({
      WINDOW: "keyword",
      SLIDE: "keyword",
    });
  });
  it("the number of events between reports", () => {
    for (const language of ["rq", "cypher"])
      for (const [number, word] of [
        ["1", "Event"],
        ["20", "events"],
      ])
        expect(words(language, `EMIT SNAPSHOT EVERY ${number} ${word}`)).toMatchObject({
          [number!]: "number",
          [word!]: "keyword",
        });
    expect(words("rq", "Answer(x, y) <- events(x, y)")["events"]).toBe("typeName");
    expect(words("cypher", "RETURN events")["events"]).toBe("variableName");
    for (const language of ["rq", "cypher"])
      expect(COLOURINGS[language]!.keywords).toEqual(expect.arrayContaining(["EVENT", "EVENTS"]));
  });
  it("names that are keywords elsewhere", () => {
    expect(words("rq", "Answer(x, y) <- window(x, y)")["window"]).toBe("typeName");
    const names = "different edges all optional shortest".split(" ");
    for (const name of names)
      expect(words("rq", `Answer(x, y) <- ${name}(x, y)`)[name], name).toBe("typeName");
    expect(words("rq", "Answer(all, edges) <- a(all, edges)")).toMatchObject({
      all: "variableName",
      edges: "variableName",
    });
    expect(words("gcore", "SELECT having")["having"]).toBe("variableName");
  });
});

/** The keywords of a grammar: terminals that begin with a letter, in upper or lower case. */
function keywordsOf(language: string): string[] {
  const place = new URL(`../../../languages/${language}/${language}.lark`, import.meta.url);
  const terminals = readFileSync(place, "utf-8").matchAll(/^\w+(?:\.\d+)?: \/((?:\(\?:)?[a-z].*)\/i$/gm);
  return [...terminals].flatMap(([, pattern = ""]) => {
    const said = pattern.split(/\(\?[=!]/, 1)[0]!.replace(/\(\?:\\s\|.*?\)\+/g, " ").replaceAll(/\\s[+*]|\\./g, " ");
    const [, choice] = /^\(\?:([a-z_|]+)\)/.exec(said) ?? [];
    return choice?.split("|") ?? [(said.match(/[a-z_]+/g) ?? []).join(" ")];
  });
}

describe("the keywords of a grammar", () => {
  it("are read from it", () => {
    const found = keywordsOf("rq");
    for (const one of ["different edges", "all shortest", "order by", "limit", "window", "count", "max", "stddev_pop", "abs", "nodes"])
      expect(found).toContain(one);
    expect(keywordsOf("cypher")).toEqual(expect.arrayContaining(["starts with", "shortestpath", "single", "asc", "within"]));
    expect(keywordsOf("gcore")).toEqual(expect.arrayContaining(["match", "graph", "view", "true", "exists"]));
  });
  for (const language of ["rq", "gcore", "cypher"])
    it(`are coloured and completed in ${language}`, () => {
      const { keywords } = COLOURINGS[language]!;
      const completed = keywords.map((one) => one.toLowerCase());
      for (const keyword of keywordsOf(language)) {
        expect(completed).toContain(keyword);
        for (const spelt of [keyword, keyword.toUpperCase()]) {
          // A function stands before a parenthesis, another keyword before a name.
          const coloured = [`a ${spelt} b`, `a, ${spelt}(b)`].some((text) => {
            const found = words(language, text);
            return [[spelt], spelt.split(" ")].some((tokens) => tokens.every((one) => found[one] === "keyword"));
          });
          expect(coloured, spelt).toBe(true);
        }
      }
    });
});

describe("the language of a text", () => {
  const language = (name: string) => ({ name, title: name, endings: [], comment: "%" });
  const languages = ["cypher", "gcore", "toy", "rq"].map(language);

  it("is guessed by its beginning, else it is the last one", () => {
    expect(guessedLanguage("// it\n SELECT x MATCH ()", languages)).toBe("gcore");
    expect(guessedLanguage("MATCH (x)-[:a]->(y)", languages)).toBe("gcore");
    expect(guessedLanguage("match (x)-[:a]->(y)\nreturn x", languages)).toBe("cypher");
    expect(guessedLanguage("REGISTER QUERY q {", languages)).toBe("cypher");
    expect(guessedLanguage("% it\nAnswer(x) <- a(x, x)", languages)).toBe("rq");
    expect(guessedLanguage("Answer(x) <- a(x, x)", [])).toBe("");
  });
  it("may have no colouring: it is edited as plain text", () =>
    expect(extensionOf("toy")).toEqual([]));
});

describe("a catalog", () => {
  const catalog: Catalog = {
    time_unit: "day",
    streams: {
      so: {
        labels: {
          a: { rate: 2, distinct_src: 10, distinct_trg: 20, vertices: 25, distinct_pairs: 40 },
          b: { rate: 1, distinct_src: 1, distinct_trg: 1 },
        },
      },
      stored: {
        stored: true,
        labels: { k: { population: 9, distinct_src: 3, distinct_trg: 3, distinct_properties: { p: 4 } } },
      },
    },
  };
  const reads = [
    { name: "so", labels: ["a"] },
    { name: "stored", labels: ["k", "gone"] },
  ];

  it("has numbers to scale, of the labels that are read", () => {
    const found = knobs(catalog, reads).map(({ label, what, value }) => `${label} ${what} ${value}`);
    expect(found).toEqual([
      "a rate 2",
      "a distinct_src 10",
      "a distinct_trg 20",
      "k population 9",
      "k distinct_src 3",
      "k distinct_trg 3",
      "k property:p 4",
    ]);
    expect(labelsOf(catalog)).toEqual(["a", "b", "k"]);
  });

  it("with scaled numbers is still a catalog", () => {
    const key = (what: "rate" | "distinct_src") => keyOf({ stream: "so", label: "a", what });
    const after = scaledCatalog(catalog, { [key("rate")]: 10, [key("distinct_src")]: 5 });
    // There are as many vertices at least as sources; pairs are not known any more.
    expect(after.streams["so"]!.labels!["a"]).toEqual({
      rate: 20,
      distinct_src: 50,
      distinct_trg: 20,
      vertices: 50,
    });
    expect(after.streams["so"]!.labels!["b"]).toEqual(catalog.streams["so"]!.labels!["b"]);
    expect(scaledCatalog(catalog, {})).toEqual(catalog);
  });
  it("leaves out measurements that a scaled number contradicts", () => {
    const a = { distinct_src: 2, distinct_trg: 2, distinct_properties: { n: 3, m: 3 }, properties: { n: {}, m: {} } };
    const joint = (["src", "trg"] as const).map((end) => ({
      left: ["s", "a", end] as const,
      right: ["s", "a", "trg"] as const,
    }));
    const measured: Catalog = { streams: { s: { labels: { a } } }, joint };
    const scale = (what: "distinct_src" | "property:n" | "rate") =>
      scaledCatalog(measured, { [keyOf({ stream: "s", label: "a", what })]: 2 });
    expect(scale("distinct_src").joint).toEqual([joint[1]]);
    expect(scale("rate").joint).toEqual(joint);
    expect(scale("property:n").streams["s"]!.labels!["a"]!.properties).toEqual({ m: {} });
  });
});

/** Colours and completed words of query languages, by the name of a language. A language without an
 * entry is edited as plain text; only the service parses. A test compares the words with the keywords
 * of languages/rq/rq.lark, languages/gcore/gcore.lark and languages/cypher/cypher.lark. */

import type { StreamParser } from "@codemirror/language";

const words = (text: string): ReadonlySet<string> => new Set(text.split(" "));

const RQ_WORDS = words(
  "window slide on as emit every snapshot entering exit and distinct not order by asc desc limit " +
    "offset optional shortest over",
);
/** Keywords of RQ that are names if they stand alone. */
const RQ_PHRASES = /^(?:different\s+edges|all\s+shortest|starting\s+at)\b/i;
const GCORE_WORDS = words(
  "select construct match on window slide where and or not as union optional path emit every " +
    "snapshot entering exit distinct exists graph view true false all shortest case",
);
const CYPHER_WORDS = words(
  "match optional where with within return distinct as and or xor not in starts ends contains is null " +
    "true false order by asc ascending desc descending skip limit union all emit on entering exit " +
    "snapshot every into exists register query starting at from stream window range earliest latest " +
    "shortestpath allshortestpaths unwind case when then else end construct create graph",
);
/** Whether RQ reads a word as a keyword, so that a label of this name needs backquotes. */
export const isRqWord = (word: string): boolean => RQ_WORDS.has(word.toLowerCase());

const OF_ALL = "count sum avg min max collect latest abs length nodes relationships";
/** Words that are functions before a parenthesis, and names elsewhere. */
const FUNCTIONS = words(`${OF_ALL} stddev stddev_pop percentile_cont percentile_disc`);
const RQ_FUNCTIONS = words(`${[...FUNCTIONS].join(" ")} place`);
const CYPHER_FUNCTIONS = words(
  `${OF_ALL} stDev stDevP percentileCont percentileDisc any none single reduce`,
);

export interface State {
  comment: boolean;
  /** The sign before a word that tells a label or a property from other words. */
  after: string;
}

/** The colours of a language; `gcore` is whether its patterns are drawn, as those of G-CORE and Cypher. */
function parser(
  keywords: ReadonlySet<string>,
  functions: ReadonlySet<string>,
  gcore: boolean,
): StreamParser<State> {
  const called = new Set([...functions].map((one) => one.toLowerCase()));
  return {
    startState: () => ({ comment: false, after: "" }),
    token(stream, state) {
      // A query may end with a dot; a property stands on the line of its dot.
      if (stream.sol() && state.after === ".") state.after = "";
      if (state.comment) {
        if (stream.skipTo("*/")) {
          stream.match("*/");
          state.comment = false;
        } else stream.skipToEnd();
        return "comment";
      }
      if (stream.eatSpace()) {
        if (state.after === ".") state.after = "";
        return null;
      }
      if (gcore && stream.match("/*")) {
        state.comment = true;
        return "comment";
      }
      if (gcore ? stream.match("//") : stream.match("%")) {
        stream.skipToEnd();
        return "comment";
      }
      const before = state.after;
      state.after = "";
      if (stream.match(/^"(?:[^"\\]|\\.)*"?|^'(?:[^'\\]|\\.)*'?/)) return "string";
      if (stream.match(/^`(?:[^`]|``)+`?/)) return "typeName";
      if (stream.match(/^\d+(?=\s+events?\b)/i)) {
        state.after = "count";
        return "number";
      }
      if (stream.match(/^\d+(?:\.\d+)?(?:[eE][+-]?\d+)?[A-Za-zµ]*/)) return "number";
      if (!gcore && stream.match(RQ_PHRASES)) return "keyword";
      if (stream.match(/^\??[\p{L}_][\p{L}\p{N}_]*/u)) {
        const word = stream.current();
        const small = word.toLowerCase();
        if (before === "count") return "keyword";
        if (before === "." || word.startsWith("?")) return "propertyName";
        if (called.has(small) && stream.match(/^\s*\(/, false)) return "keyword";
        if (keywords.has(small) && !(gcore ? false : stream.match(/^\s*(?:\(|,|<-)/, false)))
          return "keyword";
        const label = gcore
          ? before === ":"
          : before === "path" || stream.match(/^[+*]?\(|^\s*[/|◦∘·]|^[+*?^{]/, false);
        if (label) return "typeName";
        return "variableName";
      }
      if (stream.match(/^(?:<-|:-|->|<=|>=|<>|!=|[=<>←≤≥≠])/)) return "operator";
      const follows = stream.string.charAt(stream.pos - 1);
      const sign = stream.next() ?? "";
      state.after = !gcore && /[/|^!◦∘·]/.test(sign) ? "path" : sign;
      // A dot after an atom ends the rule; one after a name begins a property.
      if (sign === "." && follows === ")") state.after = "";
      if (/[()[\]{},;]/.test(sign)) return "punctuation";
      return "operator";
    },
  };
}

export interface Colouring {
  readonly parser: StreamParser<State>;
  /** The words that the editor completes besides labels. */
  readonly keywords: readonly string[];
  /** How a text of the language begins; null if nothing tells it from other texts. */
  readonly beginning: RegExp | null;
}

export const COLOURINGS: Readonly<Record<string, Colouring>> = {
  rq: {
    parser: parser(RQ_WORDS, RQ_FUNCTIONS, false),
    keywords: [
      ...["WINDOW", "SLIDE", "ON", "EMIT", "SNAPSHOT", "ENTERING", "EXIT", "EVERY"],
      ...["EVENT", "EVENTS", "STARTING AT", "ORDER BY", "ASC", "DESC", "LIMIT", "OFFSET", "DIFFERENT EDGES"],
      ...["as", "and", "not", "optional", "shortest", "all shortest", "over", "distinct", ...RQ_FUNCTIONS],
    ],
    beginning: null,
  },
  gcore: {
    parser: parser(GCORE_WORDS, FUNCTIONS, true),
    keywords: [
      ...["SELECT", "CONSTRUCT", "MATCH", "OPTIONAL", "PATH", "GRAPH", "VIEW", "UNION", "AS"],
      ...["ON", "WINDOW", "SLIDE", "EMIT", "SNAPSHOT", "ENTERING", "EXIT", "EVERY"],
      ...["WHERE", "AND", "OR", "NOT", "EXISTS", "DISTINCT", "true", "false", ...FUNCTIONS],
    ],
    beginning: /^\s*(?:(?:\/\/[^\n]*|\/\*[\s\S]*?\*\/)\s*)*(?:select|construct|match|path)\b/i,
  },
  cypher: {
    parser: parser(CYPHER_WORDS, CYPHER_FUNCTIONS, true),
    keywords: [
      ...["MATCH", "OPTIONAL", "WHERE", "WITH", "WITHIN", "RETURN", "DISTINCT", "AS", "UNION", "ALL"],
      ...["AND", "OR", "XOR", "NOT", "IN", "STARTS WITH", "ENDS WITH", "CONTAINS", "IS", "NULL", "EXISTS"],
      ...["ORDER", "BY", "ASC", "ASCENDING", "DESC", "DESCENDING", "SKIP", "LIMIT", "true", "false"],
      ...["UNWIND", "CASE", "WHEN", "THEN", "ELSE", "END"],
      ...["REGISTER", "QUERY", "STARTING", "AT", "FROM", "FROM STREAM", "WITH WINDOW", "RANGE", "INTO"],
      ...["EARLIEST", "LATEST", "EMIT", "ON", "ENTERING", "EXIT", "SNAPSHOT", "EVERY", "CONSTRUCT CREATE", "GRAPH"],
      ...["EVENT", "EVENTS", "UNWIND", "CASE", "WHEN", "THEN", "ELSE", "END"],
      ...["shortestPath", "allShortestPaths", ...CYPHER_FUNCTIONS],
    ],
    beginning:
      /^\s*(?:(?:\/\/[^\n]*|\/\*[\s\S]*?\*\/)\s*)*(?:register\s+query\b|(?:optional\s+)?match\b[\s\S]*\breturn\b)/i,
  },
};

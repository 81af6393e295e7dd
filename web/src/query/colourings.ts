/** Colours and completed words of query languages, by the name of a language. A language without an
 * entry is edited as plain text; only the service parses. The words follow languages/rq/rq.lark and
 * languages/gcore/gcore.lark. */

import { StreamLanguage, type StreamParser } from "@codemirror/language";
import type { Extension } from "@codemirror/state";

const RQ_WORDS = new Set(
  "window slide on as emit every snapshot entering exit and distinct".split(" "),
);
const GCORE_WORDS = new Set(
  (
    "select construct match on window slide where and or not as when union optional path emit " +
    "every snapshot entering exit distinct group by having in is null true false all shortest " +
    "exists return"
  ).split(" "),
);
const FUNCTIONS = new Set("count sum avg min max abs".split(" "));

export interface State {
  comment: boolean;
  /** The sign before a word that tells a label or a property from other words. */
  after: string;
}

function parser(words: ReadonlySet<string>, gcore: boolean): StreamParser<State> {
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
      if (stream.match(/^\d+(?:\.\d+)?(?:[eE][+-]?\d+)?[A-Za-zµ]*/)) return "number";
      if (stream.match(/^\??[\p{L}_][\p{L}\p{N}_]*/u)) {
        const word = stream.current();
        const small = word.toLowerCase();
        if (before === "." || word.startsWith("?")) return "propertyName";
        if (FUNCTIONS.has(small) && stream.match(/^\s*\(/, false)) return "keyword";
        if (words.has(small) && !(gcore ? false : stream.match(/^\s*(?:\(|,|<-)/, false)))
          return "keyword";
        const label = gcore
          ? before === ":"
          : before === "path" || stream.match(/^[+*]?\(|^\s*[/|◦∘·]|^[+*?^{]/, false);
        if (label) return "typeName";
        return "variableName";
      }
      if (stream.match(/^(?:<-|:-|->|<=|>=|<>|!=|[=<>←≤≥≠])/)) return "operator";
      const sign = stream.next() ?? "";
      state.after = !gcore && /[/|^!◦∘·]/.test(sign) ? "path" : sign;
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
    parser: parser(RQ_WORDS, false),
    keywords: ["WINDOW", "SLIDE", "ON", "as", "EMIT", "EVERY"],
    beginning: null,
  },
  gcore: {
    parser: parser(GCORE_WORDS, true),
    keywords: ["SELECT", "CONSTRUCT", "MATCH", "ON", "WINDOW", "SLIDE", "WHERE", "AND", "OR", "NOT"],
    beginning: /^\s*(?:(?:\/\/[^\n]*|\/\*[\s\S]*?\*\/)\s*)*(?:select|construct|match|path)\b/i,
  },
};

const EXTENSIONS: ReadonlyMap<string, Extension> = new Map(
  Object.entries(COLOURINGS).map(([name, { parser }]) => [name, StreamLanguage.define(parser)]),
);

/** What colours a text of a language in the editor; nothing for plain text. */
export const extensionOf = (language: string): Extension => EXTENSIONS.get(language) ?? [];

/** The place of a problem in a text. */

import type { Problem } from "../api/problems";

export interface Span {
  readonly from: number;
  readonly to: number;
}

/** The text to underline for a problem, whose line and column count from 1, in code points. */
export function spanOf(text: string, problem: Problem): Span | null {
  const { line, column } = problem.position ?? {};
  if (line === undefined || column === undefined) return null;
  const lines = text.split("\n");
  const start = lines.slice(0, line - 1).reduce((sum, one) => sum + one.length + 1, 0);
  const inLine = [...(lines[line - 1] ?? "")];
  const from = Math.min(start + inLine.slice(0, column - 1).join("").length, text.length);
  const word = problem.text ?? "";
  const long = word && text.startsWith(word, from) ? word.length : wordAt(text, from);
  const to = Math.min(from + Math.max(long, 1), text.length);
  // At the end of the text, the character before is underlined.
  return to > from ? { from, to } : { from: Math.max(0, from - 1), to: from };
}

const wordAt = (text: string, from: number): number =>
  /^[\p{L}\p{N}_]+/u.exec(text.slice(from, from + 200))?.[0].length ?? 1;

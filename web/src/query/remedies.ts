/** Advice about a problem, with the names of the fields of the page. */
import type { Problem } from "../api/problems";

type Advice = NonNullable<Problem["advice"]>[number];

/** Fields of the page by the setting that an advice names; the page has no field for others. */
const FIELDS: Readonly<Record<string, { field: string; values?: Readonly<Record<string, string>> }>> =
  {
    window: { field: "Window" },
    path_semantics: { field: "Paths" },
    evaluate: {
      field: "Evaluate",
      values: { eager: "at once", slide: "once per slide" },
    },
  };

/** The advice about a problem in one sentence; the hint of the service if there is no advice. */
export function adviceOf(problem: Problem): string {
  if (!problem.advice?.length) return problem.hint ?? "";
  return problem.advice.flatMap(worded).join(", or ");
}

function worded({ text, setting, value }: Advice): string[] {
  if (!setting) return [text];
  const known = FIELDS[setting];
  if (!known) return [];
  const set = value ? `: ${known.values?.[value] ?? value}` : "";
  return [`${text} (the field ${known.field}${set})`];
}

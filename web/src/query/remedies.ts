/** What to do about a problem, with the page's own names of what can be set. */
import type { Problem } from "../api/problems";

type Advice = NonNullable<Problem["advice"]>[number];

/** Fields of the page, by the setting that a remedy speaks of. What is not here cannot be set. */
const FIELDS: Readonly<Record<string, { field: string; values?: Readonly<Record<string, string>> }>> =
  {
    window: { field: "Window" },
    path_semantics: { field: "Paths" },
    evaluate: {
      field: "Results right",
      values: { eager: "at once", slide: "once per slide" },
    },
  };

/** The hint of a problem; the service's own where it has no advice as data. */
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

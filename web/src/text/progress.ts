/** The progress of a search, for people. */

import type { SearchDocument, Unit } from "../api/schema";
import { cost, counted } from "./numbers";

const DOING: Readonly<Record<string, string>> = {
  exploring: "finding all plans",
  pricing: "pricing all operators",
  ranking: "ranking",
  sampling: "drawing plans",
  counting: "counting all plans",
};

/** `480 groups, 6,200 expressions` of a search, `12 plans, the others cost 108 µs/h or more` of a
 * ranking; costs have the unit of the plan, if it is known. */
export function progressOf(search: SearchDocument, unit: Unit | null): string {
  if (search.state === "waiting") return "waits for a free process";
  if (search.doing === null) return "";
  if (search.doing === "searching")
    return search.groups
      ? `${counted(search.groups, "group")}, ${counted(search.expressions, "expression")}`
      : "";
  const parts = [DOING[search.doing] ?? search.doing];
  if (search.plans) parts.push(counted(search.plans, "plan"));
  if (search.cost_bound !== null && unit)
    parts.push(`the others cost ${cost(search.cost_bound, unit)} or more`);
  return parts.join(", ");
}

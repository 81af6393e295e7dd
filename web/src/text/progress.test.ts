import { describe, expect, it } from "vitest";

import type { SearchDocument } from "../api/schema";
import { progressOf } from "./progress";

const search = {
  kind: "optimize", plan_id: "0a", state: "running", seconds: 1, limit_seconds: 30,
  doing: "searching", groups: 480, expressions: 6200, plans: 0, cost_bound: null,
} as const satisfies SearchDocument;
const UNIT = { factor: 3600, sign: "h" };

describe("the progress of a search", () => {
  it("is the size of its memo, if the service counts it", () => {
    expect(progressOf(search, null)).toBe("480 groups, 6,200 expressions");
    expect(progressOf({ ...search, groups: 0, expressions: 0 }, null)).toBe("");
  });

  it("is the number of plans of a ranking, and what the others cost", () => {
    const ranking = { ...search, doing: "ranking", plans: 1, cost_bound: 0.03 } as const;
    expect(progressOf(ranking, UNIT)).toBe("ranking, 1 plan, the others cost 108 µs/h or more");
    expect(progressOf(ranking, null)).toBe("ranking, 1 plan");
  });

  it("says that it has not begun", () =>
    expect(progressOf({ ...search, state: "waiting", doing: null }, UNIT)).toBe(
      "waits for a free process",
    ));
});

import { describe, expect, it } from "vitest";

import type { OperatorDocument } from "../api/schema";
import { figuresOfRuns, measuredRuns, MOST_RUNS } from "./runsOfPlan";

const line = (id: string, plan_id = "asked", progress: unknown = {}) => ({ id, plan_id, progress });
const operator = (seconds: number) => ({ node: 0, seconds }) as OperatorDocument;
const ACTIVE = new Set(["running"] as const);

type Run = Awaited<ReturnType<Parameters<typeof figuresOfRuns>[3]>>;
const run = (digest: string, seconds: number | null, state: Run["state"] = "finished"): Run => ({
  plan: { digest },
  operators: seconds === null ? [] : [operator(seconds)],
  state,
});

const figures = (runs: Readonly<Record<string, Run>>) =>
  figuresOfRuns(Object.keys(runs), "mine", ACTIVE, (id) => Promise.resolve(runs[id]!));

it("the runs of a question with progress are looked at, the newest first", () => {
  const runs = [line("first"), line("other", "another"), line("second"), line("waits", "asked", null)];
  expect(measuredRuns(runs, "asked")).toEqual(["second", "first"]);
  const many = Array.from({ length: MOST_RUNS + 3 }, (_, k) => line(String(k)));
  expect(measuredRuns(many, "asked")).toEqual(["7", "6", "5", "4", "3"]);
});

describe("the figures of a plan", () => {
  it("are those of the newest run, also after a restart of the service", async () => {
    const { measurement, active } = await figures({ b: run("mine", 2), a: run("mine", 1) });
    expect(measurement?.get(0)?.seconds).toBe(2);
    expect(active).toBe(false);
  });

  it("are not those of another plan of the same question", async () => {
    const { measurement } = await figures({ c: run("other", 3, "running"), b: run("mine", 2) });
    expect(measurement?.get(0)?.seconds).toBe(2);
    const none = await figures({ c: run("other", 3, "running") });
    expect(none).toEqual({ measurement: null, active: false });
  });

  it("are those of an earlier run until a new one has measured", async () => {
    const { measurement, active } = await figures({ b: run("mine", null, "running"), a: run("mine", 1) });
    expect(measurement?.get(0)?.seconds).toBe(1);
    expect(active).toBe(true);
  });

  it("looks at no older run than needed", async () => {
    const asked: string[] = [];
    await figuresOfRuns(["b", "a"], "mine", ACTIVE, (id) => {
      asked.push(id);
      return Promise.resolve(run("mine", 1));
    });
    expect(asked).toEqual(["b"]);
  });
});

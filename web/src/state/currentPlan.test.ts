import { beforeEach, describe, expect, it, vi } from "vitest";

import { ProblemError, UnreachableError } from "../api/problems";
import type { Explanation, Optimized } from "../api/schema";

const service = vi.hoisted(() => ({
  optimize:
    vi.fn<(body: { query: string }, asking: { signal: AbortSignal }) => Promise<Optimized>>(),
  getExplanation: vi.fn<(id: string) => Promise<Explanation>>(),
  getMemo: vi.fn(),
  getTrace: vi.fn(),
  getAlternatives: vi.fn(),
  getSearch: vi.fn(() => Promise.resolve(null)),
  endSearch: vi.fn<(id: string) => Promise<void>>(),
}));
vi.mock("../api/service", () => service);
vi.stubGlobal("location", { hash: "" });
vi.stubGlobal("addEventListener", () => undefined);
const history: string[] = [];
vi.stubGlobal("history", {
  pushState: (_: unknown, __: string, hash: string) => history.push(hash),
  replaceState: (_: unknown, __: string, hash: string) => history.splice(-1, 1, hash),
});
const { route } = await import("./route.svelte");
const { currentPlan } = await import("./currentPlan.svelte");

/** The id of a plan is its query in lower case; a number at its end is not part of the query. */
const queryOf = (id: string) => id.replace(/\d+$/, "").toUpperCase();

beforeEach(() => {
  vi.clearAllMocks();
  service.optimize.mockImplementation(({ query }) =>
    Promise.resolve({ id: query.toLowerCase() } as Optimized),
  );
  service.getExplanation.mockImplementation((id) =>
    Promise.resolve({ id, query: queryOf(id) } as Explanation),
  );
});

describe("a query that is planned", () => {
  it("goes to the address of its plan, another plan of it replaces that", async () => {
    await currentPlan.optimize({ query: "A" });
    expect(route.place).toEqual({ view: "plan", id: "a" });
    await currentPlan.optimize({ query: "B" });
    service.optimize.mockResolvedValueOnce({ id: "b2" } as Optimized);
    await currentPlan.optimize({ query: "B" });
    expect(history).toEqual(["#/plan/a", "#/plan/b2"]);
    expect(currentPlan.id).toBe("b2");
  });

  it("is not fetched again by its address", async () => {
    await currentPlan.optimize({ query: "C" });
    service.getExplanation.mockClear();
    expect(await currentPlan.open("c")).toBeNull();
    expect(service.getExplanation).not.toHaveBeenCalled();
    expect((await currentPlan.open("a"))?.query).toBe("A");
    expect(currentPlan.id).toBe("a");
  });

  it("leaves the address of a running query as it is", async () => {
    route.go({ view: "live", id: "run" });
    await currentPlan.optimize({ query: "D" });
    expect(currentPlan.id).toBe("d");
    expect(route.place).toEqual({ view: "live", id: "run" });
    route.go({ view: "plan", id: "d" });
  });

  it("gives way to a later one", async () => {
    let answer: (found: Optimized) => void = () => undefined;
    service.optimize.mockReturnValueOnce(new Promise((resolve) => (answer = resolve)));
    const first = currentPlan.optimize({ query: "E" });
    await currentPlan.optimize({ query: "F" });
    answer({ id: "e" } as Optimized);
    await first;
    expect(currentPlan.id).toBe("f");
    expect(route.place.id).toBe("f");
  });
});

describe("a wait", () => {
  it("that the user ends gets the plan so far", async () => {
    let answer: (found: Optimized) => void = () => undefined;
    service.optimize.mockReturnValueOnce(new Promise((resolve) => (answer = resolve)));
    const planned = currentPlan.optimize({ query: "J" });
    const wait = currentPlan.wait;
    service.endSearch.mockImplementation((id) => {
      expect(id).toBe(wait?.id);
      answer({ id: "j" } as Optimized);
      return Promise.resolve();
    });
    await wait?.end();
    await planned;
    expect(currentPlan).toMatchObject({ id: "j", busy: false, problem: null });
  });

  it("that cannot be ended is not waited for", async () => {
    service.optimize.mockImplementationOnce(
      (_, { signal }) =>
        new Promise((_resolve, reject) =>
          signal.addEventListener("abort", () =>
            reject(new DOMException("aborted", "AbortError")),
          ),
        ),
    );
    service.endSearch.mockRejectedValue(new Error("gone"));
    const planned = currentPlan.optimize({ query: "K" });
    await currentPlan.wait?.end();
    await planned;
    expect(currentPlan).toMatchObject({ id: "j", busy: false, problem: null });
  });
});

describe("a document", () => {
  const settled = () => new Promise((resolve) => setTimeout(resolve));

  it("is fetched beside the plan that is opened, and shown with it", async () => {
    let answer: (found: Explanation) => void = () => undefined;
    service.getExplanation.mockReturnValueOnce(new Promise((resolve) => (answer = resolve)));
    service.getTrace.mockResolvedValueOnce("the steps");
    const opened = currentPlan.open("l");
    expect(currentPlan.openedId).toBe("l");
    currentPlan.trace.load(currentPlan.openedId);
    await settled();
    expect(service.getTrace).toHaveBeenCalledOnce();
    expect(currentPlan.trace).toMatchObject({ value: null, busy: true });
    answer({ id: "l", query: "L" } as Explanation);
    await opened;
    await settled();
    currentPlan.trace.load(currentPlan.openedId);
    expect(service.getTrace).toHaveBeenCalledOnce();
    expect(currentPlan.trace).toMatchObject({ value: "the steps", of: "l", busy: false });
  });

  it("of the plan that is shown stays when another plan cannot be opened", async () => {
    service.getExplanation.mockRejectedValueOnce(
      new ProblemError({ type: "about:blank", title: "", status: 404, detail: "gone" }),
    );
    service.getTrace.mockReturnValueOnce(new Promise(() => undefined));
    const opened = currentPlan.open("m");
    currentPlan.trace.load(currentPlan.openedId);
    await opened;
    expect(currentPlan.openedId).toBe("l");
    currentPlan.trace.load(currentPlan.openedId);
    expect(service.getTrace).toHaveBeenCalledOnce();
    expect(currentPlan.trace).toMatchObject({ value: "the steps", of: "l", problem: null });
  });
});

describe("a failure", () => {
  const problem = { type: "about:blank", title: "", status: 422, detail: "a comma is missing" };

  it("keeps the plan that is shown, and tells which query it is about", async () => {
    await currentPlan.optimize({ query: "G" });
    service.optimize.mockRejectedValueOnce(new ProblemError(problem));
    await currentPlan.optimize({ query: "H" });
    expect(currentPlan).toMatchObject({ id: "g", problem, problemQuery: "H", busy: false });
    await currentPlan.retry();
    expect(currentPlan.id).toBe("g");
  });

  it("of the service is followed by another attempt", async () => {
    service.optimize.mockRejectedValueOnce(new UnreachableError("away"));
    await currentPlan.optimize({ query: "I" });
    expect(currentPlan.problem?.detail).toBe("away");
    await currentPlan.retry();
    expect(currentPlan).toMatchObject({ id: "i", problem: null });
    service.getExplanation.mockRejectedValueOnce(new UnreachableError("away"));
    expect(await currentPlan.open("a")).toBeNull();
    expect((await currentPlan.open("a"))?.id).toBe("a");
  });
});

import { expect, it, vi } from "vitest";

vi.stubGlobal("location", { hash: "" });
vi.stubGlobal("addEventListener", () => undefined);
const { parsePlace, textOfPlace } = await import("./route.svelte");

it("a link names a view and a plan", () => {
  expect(parsePlace("#/memo/0a1b")).toEqual({ view: "memo", id: "0a1b" });
  expect(textOfPlace(parsePlace("#/memo/0a1b"))).toBe("#/memo/0a1b");
  expect(parsePlace("")).toEqual({ view: "plan", id: null });
  expect(parsePlace("#/nowhere/../../x")).toEqual({ view: "plan", id: null });
  expect(parsePlace("#/plan/<script>")).toEqual({ view: "plan", id: null });
});

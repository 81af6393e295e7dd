import { readFileSync } from "node:fs";

import { describe, expect, it } from "vitest";

const CSS = readFileSync(new URL("./tokens.css", import.meta.url), "utf-8");

/** The colours of a look; dark is light with some of them changed. */
function colours(look: "light" | "dark"): Record<string, string> {
  const [light = "", dark = ""] = CSS.split(':root[data-theme="dark"]');
  const of = (css: string) =>
    Object.fromEntries([...css.matchAll(/--([\w-]+):\s*(#[0-9a-f]{6})/g)].map((m) => [m[1], m[2]]));
  return look === "light" ? of(light) : { ...of(light), ...of(dark) };
}

/** Relative luminance, as WCAG 2 defines it. */
function luminance(colour: string): number {
  const [r = 0, g = 0, b = 0] = [1, 3, 5].map((k) => {
    const part = parseInt(colour.slice(k, k + 2), 16) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

const contrast = (a: string, b: string): number => {
  const [light, dark] = [luminance(a), luminance(b)].sort((x, y) => y - x) as [number, number];
  return (light + 0.05) / (dark + 0.05);
};

const GROUNDS = ["ground", "surface", "raised"];
const PAIRS = [
  ...["ink", "ink-2", "ink-3", "accent-text", "mark", "heat-text"].flatMap((text) =>
    GROUNDS.map((ground) => [text, ground] as const),
  ),
  ["ink-2", "sunken"],
  ...["sunken", "accent-soft", "mark-soft"].map((ground) => ["ink-3", ground] as const),
  ["accent-ink", "accent"],
  ["accent-text", "accent-soft"],
  ["good", "good-soft"],
  ["warn", "warn-soft"],
  ["bad", "bad-soft"],
  ["ink", "bad-soft"],
  ...["keyword", "name", "string", "number", "comment"].map((c) => [`code-${c}`, "raised"] as const),
] as const;

describe.each(["light", "dark"] as const)("text can be read in %s", (look) => {
  const known = colours(look);
  it.each(PAIRS)("%s on %s", (text, ground) =>
    expect(contrast(known[text]!, known[ground]!)).toBeGreaterThanOrEqual(4.5),
  );
});

/** Numbers for people, written as `headrace explain` writes them (api/render/numbers.py). */

import type { Unit } from "../api/schema";

/** Three significant digits, with k, M, G, T above a thousand. */
export function number(value: number): string {
  if (!Number.isFinite(value)) return value > 0 ? "∞" : String(value);
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size < 0.001 || size >= 1e15) return value.toExponential(1).replace(/e([+-])(\d)$/, "e$10$2");
  if (size < 999.5) return String(Number(value.toPrecision(3)));
  let power = 1;
  while (size >= 999.5 * 1000 ** power) power += 1;
  return `${Number((value / 1000 ** power).toPrecision(3))}${" kMGT"[power] ?? ""}`;
}

/**
 * A count with all its digits: `1,204`. The browser can write numbers too, but the first one takes
 * it longer than to draw a list.
 */
export const digits = (count: number): string => String(count).replace(/\B(?=(\d{3})+$)/g, ",");

/** A count with all its digits, and what is counted: `1 group`, `1,204 groups`. */
export const counted = (count: number, noun: string): string =>
  `${digits(count)} ${plural(count, noun)}`;

/** The plural of a noun, unless there is one. */
export const plural = (count: number, noun: string): string => (count === 1 ? noun : `${noun}s`);

/** A rate or cost per time unit of the catalog, in the unit of the plan. */
export const per = (value: number, unit: Unit): string => number(value * unit.factor);

const UNITS: Readonly<Record<string, string>> = {
  ns: "nanosecond",
  µs: "microsecond",
  ms: "millisecond",
  s: "second",
  min: "minute",
  h: "hour",
  d: "day",
};

/** The unit of costs in words: the work of operators for a length of the stream. */
export const costUnit = ({ sign }: Unit): string =>
  `µs of work per ${UNITS[sign] ?? sign} of stream`;

/** A cost with its unit: `8.28 µs/h`. */
export const cost = (value: number, unit: Unit): string => `${per(value, unit)} µs/${unit.sign}`;

const LENGTHS = [
  [86400, "d"],
  [3600, "h"],
  [60, "m"],
  [1, "s"],
  [1e-3, "ms"],
  [1e-6, "µs"],
  [1e-9, "ns"],
] as const;

/** A length of time in the largest unit in which it is at least one; `seconds` is the length of a tick,
 * null if it is not known. */
export function duration(ticks: number | null, seconds: number | null): string {
  if (ticks === null || ticks === Infinity) return "∞";
  if (seconds === null) return number(ticks);
  const length = ticks * seconds;
  for (const [size, sign] of LENGTHS)
    if (length >= size * 0.9995) return `${number(length / size)}${sign}`;
  return length === 0 ? "0" : `${number(length / 1e-9)}ns`;
}

/** `part` of `whole` in percent: `12%`, `<1%`. */
export function share(part: number, whole: number): string {
  if (part <= 0 || whole <= 0) return "0%";
  const percent = (100 * part) / whole;
  return percent < 0.5 ? "<1%" : `${Math.round(percent)}%`;
}

/** How much dearer a cost is than the least one: `+0.3%`, `1.30×`; null if it is the same. */
export function more(cost: number, least: number): string | null {
  if (least <= 0 || cost / least < 1 + 1e-6) return null;
  const percent = 100 * (cost / least - 1);
  if (percent >= 10) return times(cost, least);
  return percent < 0.01 ? "+<0.01%" : `+${Number(percent.toPrecision(2))}%`;
}

/** How many times cheaper: `1.30×`; null if it is not. */
export function times(before: number, after: number): string | null {
  if (after <= 0 || before / after < 1.005) return null;
  const ratio = before / after;
  return `${ratio < 10 ? ratio.toFixed(2) : number(ratio)}×`;
}

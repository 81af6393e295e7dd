/** Instants of application time. */

/** An instant as a date if ticks count real time since 1970, else as its number. */
export function instant(ticks: number, seconds: number | null): string {
  const since = seconds === null ? 0 : ticks * seconds;
  // A smaller number counts something else.
  if (since < 315_532_800 || since > 253_402_300_799) return String(ticks);
  const text = new Date(since * 1000).toISOString();
  return text.endsWith("T00:00:00.000Z") ? text.slice(0, 10) : text.slice(0, 16).replace("T", " ");
}

/** A size in bytes: `1.2 MB`. */
export function bytes(count: number): string {
  if (count < 1000) return `${count} B`;
  const units = ["kB", "MB", "GB", "TB"];
  let value = count / 1000;
  let k = 0;
  while (value >= 999.5 && k < units.length - 1) [value, k] = [value / 1000, k + 1];
  return `${Number(value.toPrecision(3))} ${units[k]}`;
}

/** A length of time by the clock: `1.2 s`, `3 min`. */
export function clock(seconds: number): string {
  if (seconds < 1) return `${Number((seconds * 1000).toPrecision(2))} ms`;
  if (seconds < 100) return `${Number(seconds.toPrecision(3))} s`;
  return seconds < 5400 ? `${Math.round(seconds / 60)} min` : `${(seconds / 3600).toFixed(1)} h`;
}

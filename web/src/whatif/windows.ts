/** Finds the windows in the text of a query, and replaces one. */

export interface WindowText {
  /** The place of its number in the text. */
  readonly from: number;
  readonly to: number;
  readonly value: number;
  readonly unit: string;
  /** Its slide if that has the same unit, else 0: a window is not shorter than its slide. */
  readonly slide: number;
}

const SKIPPED = String.raw`/\*[\s\S]*?\*/|"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'`;
const SPECIAL = /[.*+?^${}()|[\]\\/]/g;
const WINDOW =
  /\bwindow\s*\(?\s*(\d+(?:\.\d+)?)\s*([a-zµ]+)\)?(?:\s+slide\s*\(?\s*(\d+(?:\.\d+)?)\s*([a-zµ]+))?/gi;

/** The windows outside strings and comments; `comment` begins one up to the end of the line. */
export function windowsIn(text: string, comment: string | undefined): readonly WindowText[] {
  const line = comment ? `${comment.replace(SPECIAL, String.raw`\$&`)}[^\n]*|` : "";
  const skipped = new RegExp(line + SKIPPED, "g");
  const code = text.replace(skipped, (part) => " ".repeat(part.length));
  return [...code.matchAll(WINDOW)].map((match) => {
    const [all, value = "", unit = "", slide, slideUnit] = match;
    const from = match.index + all.indexOf(value, "window".length);
    return {
      from,
      to: from + value.length,
      value: Number(value),
      unit,
      slide: slide !== undefined && slideUnit === unit ? Number(slide) : 0,
    };
  });
}

export function withWindow(text: string, { from, to, slide }: WindowText, value: number): string {
  return `${text.slice(0, from)}${Math.max(value, slide)}${text.slice(to)}`;
}

/** The positions of a slider from 1 to 1000, evenly by order of magnitude. */
export const LAST = 60;
export const valueAt = (position: number): number => Math.round(10 ** (position / 20));
export const positionFor = (value: number): number =>
  Math.max(0, Math.min(LAST, Math.round(20 * Math.log10(Math.max(value, 1)))));

/** Measures text, and cuts it to the room that there is. */

/** A font of the page for measuring: `font("mono", 12)`. */
export function font(family: "font" | "mono", size: number, weight = 400): string {
  const name = getComputedStyle(document.documentElement).getPropertyValue(`--${family}`);
  return `${weight} ${size}px ${name.trim() || "sans-serif"}`;
}

let context: CanvasRenderingContext2D | null = null;
const widths = new Map<string, number>();

/** The width of a text in pixels; `font` as CSS has it: `600 13px system-ui`. */
export function widthOf(text: string, font: string): number {
  const key = `${font}\0${text}`;
  const known = widths.get(key);
  if (known !== undefined) return known;
  context ??= document.createElement("canvas").getContext("2d");
  if (context === null) return text.length * 7;
  context.font = font;
  const width = context.measureText(text).width;
  if (widths.size > 20_000) widths.clear();
  widths.set(key, width);
  return width;
}

/** The width of the text of a line. */
export const lineTextWidth = (text: string): number => widthOf(text, font("font", 10.5));

/** The text, or its beginning and an ellipsis. */
export function fitted(text: string, font: string, room: number, width = widthOf): string {
  if (width(text, font) <= room) return text;
  const characters = [...text];
  let [low, high] = [0, characters.length];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (width(`${characters.slice(0, middle).join("")}…`, font) <= room) low = middle;
    else high = middle - 1;
  }
  return `${characters.slice(0, low).join("").trimEnd()}…`;
}

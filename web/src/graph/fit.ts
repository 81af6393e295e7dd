/** Measures text, and cuts it to the room that there is. */

type Family = "font" | "mono";
const families = new Map<Family, string>();

/** A font of the page for measuring: `font("mono", 12)`. */
export function font(family: Family, size: number, weight = 400): string {
  return `${weight} ${size}px ${familyOf(family)}`;
}

/** The names of a family, which is read once: to ask has the browser compute styles. */
function familyOf(family: Family): string {
  const known = families.get(family);
  if (known !== undefined) return known;
  const style = getComputedStyle(document.documentElement);
  const names = style.getPropertyValue(`--${family}`).trim() || "sans-serif";
  families.set(family, names);
  return names;
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

/** Loads the fonts of graphs, so that the first graph need not wait for them. */
export function warmFonts(): void {
  for (const family of ["font", "mono"] as const) widthOf("x", font(family, 12));
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

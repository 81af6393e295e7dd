/** A graph as a file: an SVG with the styles of the page, or a PNG of it. */

const STYLES = [
  "fill",
  "fill-opacity",
  "stroke",
  "stroke-width",
  "stroke-dasharray",
  "stroke-opacity",
  "stroke-linecap",
  "opacity",
  "font-family",
  "font-size",
  "font-weight",
  "font-style",
  "letter-spacing",
  "text-anchor",
  "dominant-baseline",
  "paint-order",
];
const MARGIN = 24;

/** The drawing as an SVG document; `drawing` is the group that is panned and zoomed. */
export function svgOf(drawing: SVGGElement, width: number, height: number, title: string): string {
  const ground = getComputedStyle(document.body).backgroundColor;
  const copy = drawing.cloneNode(true) as SVGGElement;
  inline(drawing, copy);
  copy.setAttribute("transform", `translate(${MARGIN},${MARGIN})`);
  for (const shown of copy.querySelectorAll("[tabindex]")) shown.removeAttribute("tabindex");
  for (const hint of copy.querySelectorAll("[data-screen]")) hint.remove();
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  const size = [Math.ceil(width + 2 * MARGIN), Math.ceil(height + 2 * MARGIN)] as const;
  svg.setAttribute("viewBox", `0 0 ${size[0]} ${size[1]}`);
  svg.setAttribute("width", String(size[0]));
  svg.setAttribute("height", String(size[1]));
  const called = document.createElementNS(svg.namespaceURI, "title");
  called.textContent = title;
  const back = document.createElementNS(svg.namespaceURI, "rect");
  back.setAttribute("width", "100%");
  back.setAttribute("height", "100%");
  back.setAttribute("fill", ground);
  svg.append(called, back, copy);
  return new XMLSerializer().serializeToString(svg);
}

/** An SVG document as a PNG with two pixels for each of its own, or fewer if it is very large. */
export async function pngOf(svg: string): Promise<Blob> {
  const address = URL.createObjectURL(new Blob([svg], { type: "image/svg+xml" }));
  try {
    const image = new Image();
    image.src = address;
    await image.decode();
    const most = 16_000 / Math.max(image.width, image.height);
    const scale = Math.min(2, most);
    const canvas = document.createElement("canvas");
    canvas.width = image.width * scale;
    canvas.height = image.height * scale;
    const context = canvas.getContext("2d");
    if (context === null) throw new Error("this browser draws no picture");
    context.scale(scale, scale);
    context.drawImage(image, 0, 0);
    return await new Promise((resolve, reject) =>
      canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error("the picture is too large")))),
    );
  } finally {
    URL.revokeObjectURL(address);
  }
}

/** Downloads a file. */
export function save(name: string, content: Blob | string, type = "application/json"): void {
  const blob = typeof content === "string" ? new Blob([content], { type }) : content;
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

function inline(from: Element, to: Element): void {
  const seen = getComputedStyle(from);
  for (const name of STYLES) to.setAttribute(name, seen.getPropertyValue(name));
  to.removeAttribute("class");
  to.removeAttribute("style");
  for (const [k, child] of [...from.children].entries()) {
    const copied = to.children[k];
    if (copied !== undefined) inline(child, copied);
  }
}

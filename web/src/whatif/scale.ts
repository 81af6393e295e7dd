/** Sliders over orders of magnitude. */

/** Steps of a slider to each side of its middle, and how many of them are a factor of ten. */
export const STEPS = 40;
export const PER_DECADE = 20;

/** The factor of a position between -STEPS and STEPS: 0 is 1, 20 is 10, -20 a tenth. */
export const factorOf = (position: number): number =>
  position === 0 ? 1 : Number((10 ** (position / PER_DECADE)).toPrecision(3));

export const positionOf = (factor: number): number =>
  Math.max(-STEPS, Math.min(STEPS, Math.round(PER_DECADE * Math.log10(factor))));

/** `×2.5`, `÷4`. */
export function factorText(factor: number): string {
  if (factor === 1) return "";
  const ratio = factor > 1 ? factor : 1 / factor;
  const text = ratio < 10 ? ratio.toFixed(1).replace(/\.0$/, "") : String(Math.round(ratio));
  return `${factor > 1 ? "×" : "÷"}${text}`;
}

/** Which of the service's languages a text is written in. */

import type { LanguageDocument } from "../api/schema";
import { COLOURINGS } from "./colourings";

/**
 * Guesses the language of a text by its beginning, until the service has detected it. A text that
 * no language claims is of the last one, as it is for the service. Empty while no list is there.
 */
export function guessedLanguage(text: string, languages: readonly LanguageDocument[]): string {
  const claiming = languages.find(({ name }) => COLOURINGS[name]?.beginning?.test(text));
  return (claiming ?? languages.at(-1))?.name ?? "";
}

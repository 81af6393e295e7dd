/** Colourings as extensions of the editor, apart from them: the page draws plans without an editor. */

import { StreamLanguage } from "@codemirror/language";
import type { Extension } from "@codemirror/state";

import { COLOURINGS } from "./colourings";

const EXTENSIONS: ReadonlyMap<string, Extension> = new Map(
  Object.entries(COLOURINGS).map(([name, { parser }]) => [name, StreamLanguage.define(parser)]),
);

/** What colours a text of a language in the editor; nothing for plain text. */
export const extensionOf = (language: string): Extension => EXTENSIONS.get(language) ?? [];

/** Measured figures of a plan that the user opened from a file. */

import type { Measurement } from "./figures";
import { figuresInFile, type FileOfFigures } from "./measurement";

export class OpenedFigures {
  /** Why the last file was not opened; empty if it was. */
  problem = $state("");
  #file = $state.raw<FileOfFigures | null>(null);

  /** The figures of a plan; null if those of another one, or none, were opened. */
  of(digest: string): Measurement | null {
    return this.#file?.digest === digest ? this.#file.measurement : null;
  }

  /** Has the user choose a file, and reads it for the plan that is shown. */
  choose(digest: string): Promise<void> {
    const input = document.createElement("input");
    input.type = "file";
    input.accept = ".json,application/json";
    return new Promise((resolve) => {
      input.addEventListener("cancel", () => resolve());
      input.addEventListener("change", () => {
        const [file] = input.files ?? [];
        resolve(file ? file.text().then((text) => this.open(text, digest)) : undefined);
      });
      input.click();
    });
  }

  open(text: string, digest: string): void {
    this.problem = "";
    try {
      const file = figuresInFile(text);
      if (file.digest !== digest)
        throw new Error(
          `The file has the figures of plan ${file.digest}, and this is plan ${digest}: show that plan first.`,
        );
      this.#file = file;
    } catch (error) {
      this.problem = (error as Error).message;
    }
  }
}

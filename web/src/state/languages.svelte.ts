/** The query languages that the service reads, in the order of their detection. */

import type { LanguageDocument } from "../api/schema";
import * as service from "../api/service";

class Languages {
  /** Empty until the service has answered. */
  all = $state.raw<readonly LanguageDocument[]>([]);

  named(name: string): LanguageDocument | undefined {
    return this.all.find((language) => language.name === name);
  }

  /** Fetches the list unless it is there. */
  async load(): Promise<void> {
    if (this.all.length) return;
    try {
      this.all = await service.listLanguages();
    } catch {
      // The banner tells of a service that is away; the list is fetched when it is back.
    }
  }
}

export const languages = new Languages();

/** What the newest run of a plan in the service measured, while that plan is shown. */

import * as service from "../api/service";
import { ACTIVE } from "../live/queries.svelte";
import type { Measurement } from "./figures";
import { figuresOfRuns, measuredRuns } from "./runsOfPlan";

const POLL_MS = 2000;

export class RunOfPlan {
  measurement = $state.raw<Measurement | null>(null);

  /** Follows the runs of a plan until the function that it returns is called. */
  follow(planId: string, digest: string): () => void {
    let timer: ReturnType<typeof setTimeout> | undefined;
    let current = true;
    this.measurement = null;
    const poll = async (): Promise<void> => {
      const active = await this.#fetch(planId, digest, () => current);
      if (current && active) timer = setTimeout(() => void poll(), POLL_MS);
    };
    void poll();
    return () => {
      current = false;
      clearTimeout(timer);
    };
  }

  /** Fetches the figures; returns whether there may be newer ones soon. */
  async #fetch(planId: string, digest: string, current: () => boolean): Promise<boolean> {
    try {
      const ids = measuredRuns(await service.listQueries(), planId);
      if (!current()) return false;
      const { measurement, active } = await figuresOfRuns(ids, digest, ACTIVE, service.getQuery);
      if (current() && measurement) this.measurement = measurement;
      return active;
    } catch {
      return false; // The switch says that there are no figures; the view of queries says why.
    }
  }
}

/** The task after the one that mounts a component. */

import { onMount } from "svelte";

/**
 * Splits what a component does at first over several tasks, so that none is long, and keys and
 * clicks are heard between them. Create it in the script of the component.
 */
export class NextTask {
  /** Whether the next task has come. */
  due = $state(false);

  constructor() {
    onMount(() => {
      const timer = setTimeout(() => (this.due = true));
      return () => clearTimeout(timer);
    });
  }
}

/** How plans are shown in all views, until the page is closed. */
class PlanDisplay {
  /** Whether the plan stands as text beside the graph. */
  text = $state(false);
  /** Whether enforcers have boxes of their own. */
  enforcers = $state(false);
}

export const planDisplay = new PlanDisplay();

/** A plan with its picture. */

import type { PictureDocument, PlanDocument } from "../api/schema";

/** A plan, and how it is drawn. */
export interface DrawnPlan {
  readonly plan: PlanDocument;
  readonly picture: PictureDocument;
}

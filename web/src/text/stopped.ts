/** Why a search ended, for people. */
const STOPPED: Readonly<Record<string, string>> = {
  complete: "complete",
  no_gain: "ended, as more expressions brought no cheaper plan",
  budget_ms: "cut by its time limit",
  budget_expressions: "cut by its limit of expressions",
  cancelled: "cancelled",
};

export const stopped = (reason: string): string => STOPPED[reason] ?? reason;

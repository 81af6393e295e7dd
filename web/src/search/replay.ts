/** The memo as it was after a step of the search. Going on or back by a step takes as long as the
 * step changes things, whichever way. */

import type { PlanFound, SeenMember, Steps } from "../api/schema";

export type Step = Steps["steps"][number];

export interface ReplayedGroup {
  readonly id: number;
  /** The ids of its expressions. */
  readonly members: Set<number>;
  /** The cheapest plan so far for what is required. */
  readonly plans: Map<string, PlanFound>;
}

type Undo = () => void;

export class Replay {
  readonly groups = new Map<number, ReplayedGroup>();
  readonly members = new Map<number, SeenMember>();
  readonly steps: readonly Step[];
  readonly #undo: Undo[][] = [];

  constructor(steps: readonly Step[]) {
    this.steps = steps;
  }

  /** How many steps were taken: the memo is as it was after the last of them. */
  get at(): number {
    return this.#undo.length;
  }

  /** Goes to where so many steps were taken. */
  go(at: number): void {
    const to = Math.max(0, Math.min(at, this.steps.length));
    while (this.at < to) this.#forward(this.steps[this.at]!);
    while (this.at > to) for (const undo of this.#undo.pop()!.reverse()) undo();
  }

  #forward(step: Step): void {
    const undo: Undo[] = [];
    switch (step.kind) {
      case "plan":
        this.#plan(step.plan, undo);
        break;
      case "forget":
        for (const group of this.groups.values()) {
          const before = new Map(group.plans);
          group.plans.clear();
          undo.push(() => restore(group.plans, before));
        }
        break;
      case "query":
      case "rule":
        for (const id of step.groups) this.#group(id, undo);
        for (const member of step.added) this.#enter(member, undo);
        for (const { into, group } of step.merged) this.#merge(into, group, undo);
        for (const member of step.changed) this.#change(member, undo);
        for (const id of step.removed) this.#remove(id, undo);
    }
    this.#undo.push(undo);
  }

  /** The group; a new one if what made it was not kept. */
  #group(id: number, undo: Undo[]): ReplayedGroup {
    const known = this.groups.get(id);
    if (known) return known;
    const group = { id, members: new Set<number>(), plans: new Map<string, PlanFound>() };
    this.groups.set(id, group);
    undo.push(() => this.groups.delete(id));
    return group;
  }

  #enter(member: SeenMember, undo: Undo[]): void {
    const { members } = this.#group(member.group, undo);
    members.add(member.id);
    this.members.set(member.id, member);
    undo.push(() => {
      members.delete(member.id);
      this.members.delete(member.id);
    });
  }

  #plan(plan: PlanFound, undo: Undo[]): void {
    const { plans } = this.#group(plan.group, undo);
    const before = plans.get(plan.required);
    plans.set(plan.required, plan);
    undo.push(() => {
      if (before) plans.set(plan.required, before);
      else plans.delete(plan.required);
    });
  }

  /** What was in one group is in the other, which keeps the cheaper plans of both. */
  #merge(into: number, from: number, undo: Undo[]): void {
    const kept = this.#group(into, undo);
    const gone = this.groups.get(from);
    if (!gone) return;
    const plans = new Map(kept.plans);
    for (const id of gone.members) {
      kept.members.add(id);
      const member = this.members.get(id)!;
      this.members.set(id, { ...member, group: into });
      undo.push(() => {
        kept.members.delete(id);
        this.members.set(id, member);
      });
    }
    for (const [required, plan] of gone.plans)
      if (plan.cost < (kept.plans.get(required)?.cost ?? Infinity))
        kept.plans.set(required, { ...plan, group: into });
    this.groups.delete(from);
    undo.push(() => {
      this.groups.set(from, gone);
      restore(kept.plans, plans);
    });
  }

  #change(member: SeenMember, undo: Undo[]): void {
    const before = this.members.get(member.id);
    if (!before) return;
    this.members.set(member.id, member);
    undo.push(() => this.members.set(member.id, before));
  }

  #remove(id: number, undo: Undo[]): void {
    const member = this.members.get(id);
    if (!member) return;
    const members = this.groups.get(member.group)?.members;
    members?.delete(id);
    this.members.delete(id);
    undo.push(() => {
      members?.add(id);
      this.members.set(id, member);
    });
  }
}

function restore<K, V>(map: Map<K, V>, before: ReadonlyMap<K, V>): void {
  map.clear();
  for (const [key, value] of before) map.set(key, value);
}

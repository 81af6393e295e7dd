/** The memo as it was after any step of the search. */

import type { PlanFound, SeenMember, Steps } from "../api/schema";

export type Step = Steps["steps"][number];

export interface GroupSnapshot {
  readonly id: number;
  /** The ids of its expressions. */
  readonly expressions: readonly number[];
  /** The cheapest plan so far, by required properties. */
  readonly plans: ReadonlyMap<string, PlanFound>;
}

export interface MemoSnapshot {
  readonly groups: ReadonlyMap<number, GroupSnapshot>;
  readonly expressions: ReadonlyMap<number, SeenMember>;
}

interface ReplayedGroup {
  readonly id: number;
  readonly members: Set<number>;
  readonly plans: Map<string, PlanFound>;
}

type Undo = () => void;

/**
 * Applies steps one by one, and takes them back, in a time that depends only on what a step changes.
 * Each call returns a copy of the memo, which stays as it is.
 */
export class Replay {
  readonly steps: readonly Step[];
  readonly #groups = new Map<number, ReplayedGroup>();
  readonly #members = new Map<number, SeenMember>();
  readonly #undo: Undo[][] = [];

  constructor(steps: readonly Step[]) {
    this.steps = steps;
  }

  /** How many steps are applied. */
  get applied(): number {
    return this.#undo.length;
  }

  /** Applies or takes back steps until `count` are applied, and returns the memo then. */
  goTo(count: number): MemoSnapshot {
    const to = Math.max(0, Math.min(count, this.steps.length));
    while (this.applied < to) this.#forward(this.steps[this.applied]!);
    while (this.applied > to) for (const undo of this.#undo.pop()!.reverse()) undo();
    return this.#snapshot();
  }

  #snapshot(): MemoSnapshot {
    const groups = new Map<number, GroupSnapshot>();
    for (const { id, members, plans } of this.#groups.values())
      groups.set(id, { id, expressions: [...members], plans: new Map(plans) });
    return { groups, expressions: new Map(this.#members) };
  }

  #forward(step: Step): void {
    const undo: Undo[] = [];
    switch (step.kind) {
      case "plan":
        this.#plan(step.plan, undo);
        break;
      case "forget":
        for (const group of this.#groups.values()) {
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

  /** The group; a new one if the trace leaves out the step that created it. */
  #group(id: number, undo: Undo[]): ReplayedGroup {
    const known = this.#groups.get(id);
    if (known) return known;
    const group = { id, members: new Set<number>(), plans: new Map<string, PlanFound>() };
    this.#groups.set(id, group);
    undo.push(() => this.#groups.delete(id));
    return group;
  }

  #enter(member: SeenMember, undo: Undo[]): void {
    const { members } = this.#group(member.group, undo);
    members.add(member.id);
    this.#members.set(member.id, member);
    undo.push(() => {
      members.delete(member.id);
      this.#members.delete(member.id);
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

  /** Moves all of one group to another one, which keeps the cheaper plans of both. */
  #merge(into: number, from: number, undo: Undo[]): void {
    const kept = this.#group(into, undo);
    const gone = this.#groups.get(from);
    if (!gone) return;
    const plans = new Map(kept.plans);
    for (const id of gone.members) {
      kept.members.add(id);
      const member = this.#members.get(id)!;
      this.#members.set(id, { ...member, group: into });
      undo.push(() => {
        kept.members.delete(id);
        this.#members.set(id, member);
      });
    }
    for (const [required, plan] of gone.plans)
      if (plan.cost < (kept.plans.get(required)?.cost ?? Infinity))
        kept.plans.set(required, { ...plan, group: into });
    this.#groups.delete(from);
    undo.push(() => {
      this.#groups.set(from, gone);
      restore(kept.plans, plans);
    });
  }

  #change(member: SeenMember, undo: Undo[]): void {
    const before = this.#members.get(member.id);
    if (!before) return;
    this.#members.set(member.id, member);
    undo.push(() => this.#members.set(member.id, before));
  }

  #remove(id: number, undo: Undo[]): void {
    const member = this.#members.get(id);
    if (!member) return;
    const members = this.#groups.get(member.group)?.members;
    members?.delete(id);
    this.#members.delete(id);
    undo.push(() => {
      members?.add(id);
      this.#members.set(id, member);
    });
  }
}

function restore<K, V>(map: Map<K, V>, before: ReadonlyMap<K, V>): void {
  map.clear();
  for (const [key, value] of before) map.set(key, value);
}

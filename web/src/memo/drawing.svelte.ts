/** The part of a memo that is drawn, and how the user changes it. */

import * as drawn from "./drawn";
import type { MemoIndex } from "./memo";

/** The chosen plan, a group and those around it, or all groups. */
export type Mode = "plan" | "around" | "all";

/** What can be added to the drawing or taken from it, for a group. */
export type Change = "inputs" | "readers" | "only" | "hide";

export class MemoDrawing {
  groups = $state.raw<drawn.DrawnGroups>({ groups: new Set(), open: new Set() });
  /** null: groups were added to a mode, or taken from it. */
  mode = $state<Mode | null>(null);
  /** In the mode `around`, how many steps the groups are away at most. */
  hops = $state(1);
  /** The group to bring into view. */
  focus = $state<number | null>(null);

  /** Draws a memo; with a group that is selected in it. */
  constructor(
    readonly index: MemoIndex,
    selected: number | null,
  ) {
    this.groups = drawn.atFirst(index);
    this.mode = index.places.size === this.groups.groups.size ? "all" : "plan";
    if (selected !== null) this.reveal(selected);
  }

  /** Whether there are more groups than can be drawn. */
  get cut(): boolean {
    return this.groups.groups.size === drawn.MOST_DRAWN;
  }

  /** Whether there are too many groups to lay them out by their lines. */
  get inRows(): boolean {
    return this.groups.groups.size > drawn.MOST_LAYERED;
  }

  /** Draws the plan, all groups, or those around a group. */
  show(mode: Mode, group: number): void {
    this.mode = mode;
    this.focus = null;
    if (mode === "plan") this.groups = drawn.chosenPlan(this.index);
    else if (mode === "all") this.groups = drawn.everything(this.index);
    else this.groups = drawn.focused(this.index, group, this.hops);
  }

  /** Brings a group into view, and draws it if it is not drawn. */
  reveal(group: number): void {
    if (!this.index.places.has(group)) return;
    this.focus = group;
    if (!this.groups.groups.has(group)) this.#add([group]);
  }

  change(group: number, what: Change): void {
    const place = this.index.places.get(group);
    if (!place) return;
    if (what === "only") this.show("around", group);
    else if (what === "hide") this.groups = drawn.without(this.groups, group);
    else this.#add(place[what]);
  }

  /** Opens a group, or folds it. */
  toggle(group: number): void {
    this.focus = null;
    this.groups = drawn.withToggled(this.groups, group);
  }

  openAll(): void {
    this.groups = drawn.allOpen(this.groups);
  }

  foldAll(): void {
    this.groups = drawn.allFolded(this.groups);
  }

  #add(groups: Iterable<number>): void {
    this.mode = null;
    this.groups = drawn.withGroups(this.groups, groups);
  }
}

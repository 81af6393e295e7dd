/** The address of the page, `#/<view>/<id>`: it names the view, and the plan or the running query. */

export const VIEWS = ["plan", "memo", "search", "live"] as const;
export type View = (typeof VIEWS)[number];

export interface Place {
  readonly view: View;
  /** The id of the plan, or in `live` of the running query. */
  readonly id: string | null;
}

export function parsePlace(hash: string): Place {
  const [view = "", id = ""] = hash.replace(/^#?\/?/, "").split("/");
  return {
    view: VIEWS.find((one) => one === view) ?? "plan",
    id: /^[0-9A-Za-z_-]{1,64}$/.test(id) ? id : null,
  };
}

export const textOfPlace = ({ view, id }: Place): string => `#/${view}${id ? `/${id}` : ""}`;

class Route {
  place = $state.raw<Place>(parsePlace(location.hash));

  constructor() {
    addEventListener("hashchange", () => (this.place = parsePlace(location.hash)));
  }

  /** Goes to a place; with `replace`, Back does not lead to the present one. */
  go(place: Place, replace = false): void {
    const hash = textOfPlace(place);
    if (hash === location.hash) return;
    if (replace) history.replaceState(null, "", hash);
    else history.pushState(null, "", hash);
    this.place = place;
  }
}

export const route = new Route();

/** Where the page is: `#/<view>/<id of the plan>`, so that a link names what is seen. */

export const VIEWS = ["plan", "memo", "search", "live"] as const;
export type View = (typeof VIEWS)[number];

export interface Place {
  readonly view: View;
  /** Of the plan, or in `live` of the running query. */
  readonly id: string | null;
}

export function parsePlace(hash: string): Place {
  const [view = "", id = ""] = hash.replace(/^#?\/?/, "").split("/");
  return {
    view: VIEWS.find((known) => known === view) ?? "plan",
    id: /^[0-9A-Za-z_-]{1,64}$/.test(id) ? id : null,
  };
}

export const textOfPlace = ({ view, id }: Place): string => `#/${view}${id ? `/${id}` : ""}`;

class Route {
  place = $state.raw<Place>(parsePlace(location.hash));

  constructor() {
    addEventListener("hashchange", () => (this.place = parsePlace(location.hash)));
  }

  /** Goes there; with `replace` there is no way back to where we are. */
  go(place: Place, replace = false): void {
    const hash = textOfPlace(place);
    if (hash === location.hash) return;
    if (replace) history.replaceState(null, "", hash);
    else history.pushState(null, "", hash);
    this.place = place;
  }
}

export const route = new Route();

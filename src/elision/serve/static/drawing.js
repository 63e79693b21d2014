// The states of a script: the path of a telling lights up in a drawing that stays as it is.

import { Viewport } from "./viewport.js";

const PARTS = ["told", "silent", "filled"];

export class Drawing extends Viewport {
  constructor(place, hears) {
    super(place, { kind: "state", things: ".node", lines: ".edge", ...hears });
  }

  ends(edge) {
    return [[Number(edge.dataset.source)], [Number(edge.dataset.target)]];
  }

  /** Light up a path. */
  mark(path) {
    const parts = new Map(path.states.map(({ state, part }) => [String(state), part]));
    for (const node of this.all()) {
      node.classList.remove(...PARTS);
      const part = parts.get(node.dataset.state);
      if (part) node.classList.add(part);
    }
    const taken = new Set(path.edges.map((edge) => edge.join("-")));
    for (const edge of this.svg.querySelectorAll(".edge"))
      edge.classList.toggle("taken", taken.has(`${edge.dataset.source}-${edge.dataset.target}`));
    this.svg.classList.toggle("lit", path.states.length > 0);
  }
}

// What is to be said about one state.

import { byId, make, named, percent, shareRow } from "./dom.js";

const LIKELY = 0.04;

/** Show a state of a script; `onGo` is called with another state that was clicked. */
export function showDetails(script, number, onGo) {
  const place = byId("details");
  const state = script?.states[number];
  if (!state) {
    place.replaceChildren(
      make(
        "p",
        { class: "hint" },
        "Point at a step, tap it or move there with the arrow keys: ",
        "here stands what people say at it, how often they leave it out, and what comes before and after.",
      ),
    );
    return;
  }
  const terminal = number === 0 || number === script.states.length - 1;
  const passed = `Passed by ${percent(state.chance)} of courses`;
  place.replaceChildren(
    make("h3", {}, named(state.name)),
    make(
      "p",
      {},
      terminal
        ? "Where every course ends or begins."
        : `${passed}; left unsaid in ${percent(state.elision)} of them.`,
    ),
    ...part("What people say", said(state.events)),
    ...part("Comes from", ways(script, state.before, onGo)),
    ...part("Goes to", ways(script, state.after, onGo)),
  );
}

function part(title, rows) {
  return rows.length ? [make("h4", {}, title), ...rows] : [];
}

/** The likeliest events, and the others where they are asked for. */
function said(events) {
  const shown = Math.max(1, events.filter((one) => one.probability >= LIKELY).length);
  const rows = events.map((one) => shareRow(one.event, one.probability));
  const rest = rows.slice(shown);
  const title = `${rest.length} more`;
  return rest.length
    ? [...rows.slice(0, shown), make("details", {}, make("summary", {}, title), ...rest)]
    : rows;
}

/** Edges as buttons; the share is the edge's probability. */
function ways(script, edges, onGo) {
  return edges.slice(0, 12).map((one) => {
    const row = shareRow(script.states[one.state].name, one.probability, () => onGo(one.state));
    row.title = `taken by ${percent(Math.min(1, one.flow))} of courses`;
    return row;
  });
}

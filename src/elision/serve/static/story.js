// A telling explained: its lines, what was left unsaid between them, answers and oddities.

import { byId, make, named, percent, shareRow } from "./dom.js";

/** Show an answer; `onFill` is called with a line and the event that was chosen for it. */
export function showStory(found, onFill) {
  const rows = [];
  found.unsaid.forEach((gap, place) => {
    rows.push(...gap.events.map((one) => unsaidRow(one, gap.flags)));
    if (place < found.items.length) rows.push(itemRow(found.items[place], onFill));
  });
  if (!found.items.length)
    rows.splice(
      0,
      rows.length,
      make("li", { class: "hint" }, "Type a telling, or click an example."),
    );
  byId("story").replaceChildren(...rows);
  byId("verdict").textContent = verdict(found);
}

function unsaidRow(one, flags) {
  const odd = flags.filter((flag) => flag.event === one.event).map(flagNote);
  return make("li", { class: "unsaid" }, shareRow(one.event, one.probability), ...odd);
}

const flagNote = (flag) => make("span", { class: "flag" }, `⚠ ${flag.note}`);

function itemRow(item, onFill) {
  const kinds = { event: "told", sentence: "told", gap: "gap", unknown: "unknown" };
  const row = make("li", {
    class: item.kind !== "gap" && item.state === null ? "unknown" : kinds[item.kind],
  });
  row.append(named(item.text));
  if (item.kind === "sentence" && item.event)
    row.append(make("span", { class: "means" }, "taken for ", named(item.event)));
  row.append(...item.flags.map(flagNote));
  const offered = item.kind === "gap" ? item.answers : item.candidates;
  if (offered.length) {
    const title = item.kind === "gap" ? "what is missing, likeliest first" : "may stand for";
    row.append(
      make("span", { class: "means" }, title),
      make(
        "span",
        { class: "answers" },
        ...offered.map((one) =>
          shareRow(one.event, one.probability, () => onFill(item.line, one.event)),
        ),
      ),
    );
  }
  return row;
}

function verdict(found) {
  if (found.note) return found.note;
  if (!found.items.length || found.oddness === null) return "";
  const ends = found.ended >= 0.5 ? "it seems to be complete" : next(found);
  const odd = found.odd ? "An odd telling: few are as odd as this" : "A usual telling";
  return ends ? `${odd}; ${ends}.` : `${odd}.`;
}

function next(found) {
  const [best] = found.next;
  return best
    ? `told next, most probably (${percent(best.probability)}): ${best.event.slice(0, 100)}`
    : "";
}

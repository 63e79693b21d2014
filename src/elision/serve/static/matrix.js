// Rows and cells of the matrix of tellings.

import { chance, cut, make, named, percent } from "./dom.js";

export const ROW = 28; // pixels, as in the style sheet
const PROBABLE = 0.5;
const SEEN = 0.05; // less is shown as absent

/** Names of the steps, each a button, and how many of the tellings tell them. */
export function headRows({ columns, tellings }, chosen, onStep) {
  const share = (number) => percent(tellings ? number / tellings : 0);
  const step = ({ name, told, unsaid }) =>
    make(
      "th",
      {
        scope: "col",
        class: name === chosen ? "chosen" : null,
        title: `${name.slice(0, 200)}: told in ${share(told)}, unsaid in ${share(unsaid)}`,
      },
      make(
        "button",
        {
          type: "button",
          "aria-pressed": String(name === chosen),
          onclick: () => onStep(name === chosen ? "" : name),
        },
        named(cut(name, 60)),
      ),
    );
  const other = (text, title) => make("th", { scope: "col", title }, make("span", {}, text));
  return [
    make(
      "tr",
      {},
      make("th", { scope: "col", class: "label" }, "Telling"),
      ...columns.map(step),
      other("others", "events that are no step"),
      other("odd", "how odd it is: the more, the odder; 0 is as likely odd as not; bold where hardly any usual telling is as odd"),
    ),
    make(
      "tr",
      { class: "shares" },
      make("th", { scope: "row", class: "label" }, "told in %"),
      ...columns.map(({ told }) => make("td", {}, share(told).replace("%", ""))),
      make("td"),
      make("td"),
    ),
  ];
}

/** A variant: a button that loads it, and a cell for each step; Tab goes to the current one. */
export function bodyRow(row, at, { current, onLoad, onKey }) {
  const text = row.lines.join(", ") || "nothing that the script knows";
  return make(
    "tr",
    { class: row.odd ? "odd" : null },
    make(
      "th",
      { scope: "row", class: "label" },
      make(
        "button",
        {
          type: "button",
          "data-at": at,
          tabindex: at === current ? 0 : -1,
          title: `${text.slice(0, 500)}${someIds(row)}`,
          onclick: () => onLoad(row, at),
          onkeydown: (event) => onKey(event, at),
        },
        make("span", { class: "times" }, `${row.count}×`),
        named(cut(text, 160)),
      ),
    ),
    ...row.told.map((told, place) => cell(told, row.unsaid[place])),
    make("td", { class: "number" }, row.other ? String(row.other) : ""),
    make("td", { class: "number" }, row.oddness === null ? "" : row.oddness.toFixed(1)),
  );
}

function someIds({ ids, count }) {
  if (!ids[0]) return "";
  return `\n(${ids.join(", ").slice(0, 200)}${count > ids.length ? ", …" : ""})`;
}

function cell(told, unsaid) {
  if (told > 1)
    return make("td", { class: "told", "aria-label": `told ${told} times` }, `${told}×`);
  if (told) return make("td", { class: "told", "aria-label": "told" }, "●");
  if (unsaid < SEEN) return make("td", { "aria-label": "absent" });
  const number = Math.min(99, Math.round(100 * unsaid));
  const kind = unsaid > PROBABLE ? "unsaid" : "maybe";
  const found = make(
    "td",
    { class: kind, "aria-label": `unsaid, ${chance(unsaid)}` },
    String(number),
  );
  found.style.setProperty("--chance", unsaid.toFixed(2));
  return found;
}

/** Room for rows that are not seen. */
export function space(rows) {
  const row = make("tr", { class: "space", "aria-hidden": "true" });
  row.style.height = `${rows * ROW}px`;
  row.hidden = rows <= 0;
  return row;
}

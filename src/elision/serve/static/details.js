// What is to be said about one step of the outline, or what leads from one to another.

import { byId, chance, make, named, percent } from "./dom.js";

const MOST = 12;
const HARDLY = 0.05; // a step less probable than this counts as not done

function put(...content) {
  const place = byId("details");
  place.replaceChildren(...content);
  place.scrollTop = 0;
  delete place.dataset.step;
}

export function showHint() {
  put(
    make(
      "p",
      { class: "hint" },
      "Point at a step or an arrow, tap it, or move there with Tab and the arrow keys: here stands how often it is told and done, and what comes before and after.",
    ),
  );
}

/** Show a step of the outline and what the telling says of it; `onGo` hears of another step. */
export function showStep(outline, number, answer, onGo) {
  const step = outline?.steps[number];
  if (!step) return showHint();
  const now = answer?.steps[number];
  const here = now?.lines.length
    ? `In this telling: line ${now.lines.map((line) => line + 1).join(", ")}.`
    : now?.denied.length
      ? `In this telling: line ${now.denied.map((line) => line + 1).join(", ")} says that it did not happen.`
      : answer?.lines.some((line) => line.heard.length)
        ? untold(now.unsaid)
        : "";
  const rows = (steps) =>
    steps.slice(0, MOST).map((other) =>
      make(
        "button",
        { type: "button", onclick: () => onGo(other) },
        make("span", { class: "row" }, named(outline.steps[other].name), counted(outline, number, other)),
      ),
    );
  put(
    make("h3", {}, named(step.name)),
    make("p", {}, `Told in ${percent(step.told)} of tellings, done about ${percent(step.happens)} of the time.`),
    here ? make("p", { class: "here" }, here) : "",
    ...part("Done if", step.given === null ? [] : rows([step.given])),
    ...part("In people's words", step.wording.map((said) => make("p", {}, "“", named(said), "”"))),
    ...part("Comes after", rows(step.before)),
    ...part("Comes before", rows(step.after)),
    ...part("Instead of it", rows(step.instead)),
  );
  byId("details").dataset.step = number;
}

/** What is known of a step that was not told. */
function untold(unsaid) {
  if (unsaid < HARDLY) return "In this telling: not told, and hardly done so far.";
  return `In this telling: not told; ${chance(unsaid)} sure that it was done all the same.`;
}

/** In how many tellings two steps come in this order. */
function counted(outline, one, other) {
  const bond = outline.bonds.find(
    ({ before, after }) => (before === one && after === other) || (before === other && after === one),
  );
  const all = bond ? bond.holds + bond.broken : 0;
  const text = `${bond?.holds} of ${all}`;
  const title = `${text} tellings that tell both have them in this order`;
  return all ? make("span", { class: "share", title }, text) : null;
}

/** Show what leads from some steps of the outline to others. */
export function showBond(outline, before, after) {
  const found = outline.bonds.filter(
    (bond) => before.includes(bond.before) && after.includes(bond.after),
  );
  const name = (step) => named(outline.steps[step].name);
  if (!before.length || !after.length) {
    const steps = [...before, ...after].flatMap((step, at) => (at ? [" or ", name(step)] : [name(step)]));
    const lead = before.length ? "Most tellings end with " : "Most tellings begin with ";
    return put(make("h3", {}, before.length ? "The end" : "The beginning"), make("p", {}, lead, ...steps, "."));
  }
  return put(
    make("h3", {}, "What comes first"),
    found.length
      ? make("p", {}, "In this order, of the tellings that tell both:")
      : make("p", {}, "No telling tells both of these steps."),
    ...found.slice(0, MOST).map((bond) =>
      make(
        "p",
        {},
        name(bond.before),
        ", then ",
        name(bond.after),
        bond.holds + bond.broken
          ? `: ${bond.holds} of ${bond.holds + bond.broken}`
          : ": both are done, or neither",
      ),
    ),
  );
}

function part(title, rows) {
  return rows.length ? [make("h4", {}, title), ...rows] : [];
}

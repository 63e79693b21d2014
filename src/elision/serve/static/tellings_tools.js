// What can be said about which tellings to show: order, step, gap, words, and two sliders.

import { cut, make, percent } from "./dom.js";

const PAUSE = 150; // milliseconds after the last key before words are sought
const MOST_WORDS = 200; // characters that are taken from a link
const [START, END] = ["start", "end"];
const SORTS = {
  count: "how often",
  oddness: "oddness",
  length: "length",
  similarity: "likeness to your telling",
};
const PARTS = { told: "told", unsaid: "left unsaid", absent: "absent" };

/** Everything is shown, the most frequent first. */
export const all = () => ({
  sort: "count",
  step: "",
  part: "told",
  gap: null,
  words: "",
  steps: 1,
  paths: 1,
});

/** What is wanted otherwise than usual, as text for a link. */
export function asLink(wanted) {
  const usual = all();
  const other = Object.keys(usual).filter((key) => wanted[key] !== usual[key]);
  return other.length ? JSON.stringify(Object.fromEntries(other.map((key) => [key, wanted[key]]))) : "";
}

/** What a link says is wanted; what it cannot mean is passed over. */
export function fromLink(text, names) {
  const wanted = all();
  let given = {};
  try {
    given = text ? JSON.parse(text) : {};
  } catch {
    return wanted;
  }
  const isStep = (name) => typeof name === "string" && (name === "" || names.includes(name));
  const isShare = (value) => typeof value === "number" && value >= 0.05 && value <= 1;
  const fits = {
    sort: (value) => Object.hasOwn(SORTS, value),
    step: isStep,
    part: (value) => Object.hasOwn(PARTS, value),
    gap: (gap) =>
      isStep(gap?.after) && isStep(gap?.before) && typeof gap.direct === "boolean" &&
      Object.keys(gap).length === 3,
    words: (value) => typeof value === "string" && value.length <= MOST_WORDS,
    steps: isShare,
    paths: isShare,
  };
  for (const [key, fit] of Object.entries(fits))
    if (given !== null && Object.hasOwn(given, key) && fit(given[key])) wanted[key] = given[key];
  return wanted;
}

export class Tools {
  /** `onChange` hears what is wanted otherwise. */
  constructor(names, onChange) {
    this.names = names;
    this.onChange = onChange;
    const steps = names.map((name, at) => [String(at), name]);
    this.sort = this.choice("Sort by", Object.entries(SORTS), (sort) => onChange({ sort }));
    this.step = this.choice("Step", [["", "any"], ...steps], (at) =>
      onChange({ step: names[at] ?? "" }),
    );
    this.part = this.choice("which is", Object.entries(PARTS), (part) => onChange({ part }));
    this.after = this.choice("Gap after", [["", "any"], [START, "the beginning"], ...steps], () =>
      this.gap(),
    );
    this.before = this.choice("and before", [[END, "the end"], ...steps], () => this.gap());
    this.words = make("input", {
      type: "search",
      autocomplete: "off",
      spellcheck: "false",
      oninput: () => this.seek(),
    });
    this.steps = this.slider("steps");
    this.paths = this.slider("paths");
    this.clear = make("button", { type: "button", onclick: () => this.clearAll() }, "Show all");
    this.element = make(
      "div",
      { class: "tools", role: "group", "aria-label": "Which tellings" },
      ...[this.sort, this.step, this.part, this.after, this.before].map((one) => one.parentNode),
      make("label", { title: "Only tellings with these words" }, "Words ", this.words),
      make("label", { title: "Hide the steps that are told least" }, "Steps ", this.steps.range, this.steps.shown),
      make("label", { title: "Hide the rarest variants" }, "Paths ", this.paths.range, this.paths.shown),
      this.clear,
    );
  }

  choice(title, options, onchange) {
    const select = make(
      "select",
      { onchange: () => onchange(select.value) },
      ...options.map(([value, text]) => make("option", { value }, cut(text, 60))),
    );
    make("label", {}, `${title} `, select);
    return select;
  }

  slider(name) {
    const range = make("input", {
      type: "range",
      min: 5,
      max: 100,
      step: 5,
      value: 100,
      oninput: () => this.onChange({ [name]: Number(range.value) / 100 }),
    });
    return { range, shown: make("output", {}, "all") };
  }

  gap() {
    const named = (value) => this.names[value] ?? "";
    const { value: after } = this.after;
    const gap = { after: named(after), before: named(this.before.value), direct: true };
    this.onChange({ gap: after === "" ? null : gap });
  }

  seek() {
    clearTimeout(this.seeking);
    this.seeking = setTimeout(() => this.onChange({ words: this.words.value }), PAUSE);
  }

  clearAll() {
    this.sort.focus();
    this.onChange({ ...all(), sort: this.sort.value });
  }

  /** Show what is wanted; words are left as they are being typed. */
  show({ sort, step, part, gap, words, steps, paths }) {
    const at = (name, otherwise) => (name ? String(this.names.indexOf(name)) : otherwise);
    this.sort.value = sort;
    this.step.value = at(step, "");
    this.part.value = part;
    this.part.disabled = step === "";
    this.after.value = gap ? at(gap.after, START) : "";
    this.before.value = gap ? at(gap.before, END) : this.before.value;
    this.before.disabled = gap === null;
    if (this.words !== document.activeElement) this.words.value = words;
    this.steps.range.value = 100 * steps;
    this.paths.range.value = 100 * paths;
    this.clear.hidden = !step && !gap && !words && steps === 1 && paths === 1;
  }

  /** Say beside the sliders how much is left. */
  count({ columns, all_steps: steps }, paths) {
    this.steps.shown.textContent =
      columns.length < steps ? `${columns.length} of ${steps}` : `all ${steps}`;
    this.paths.shown.textContent = paths < 1 ? percent(paths) : "all";
  }
}

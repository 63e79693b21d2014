// A file before it is learned from: what it seems to be, and what can be said about it by hand.

import { ask } from "./api.js";
import { byId, counted, make, named } from "./dom.js";

const ROLES = [
  ["case", "Which telling it belongs to (case)"],
  ["activity", "What happened (activity)"],
  ["time", "When (time)"],
  ["domain", "Which activity is told (domain)"],
];
const NEEDED = ["case", "activity"];

export class Looked {
  /** `onLearn` and `onBeside` hear the upload and the choices; `onProblem` what went wrong. */
  constructor({ onLearn, onBeside, onProblem }) {
    this.place = byId("looked");
    Object.assign(this, { onLearn, onBeside, onProblem });
    this.script = null;
    document.addEventListener("elision:script-shown", ({ detail }) => {
      this.script = detail;
      if (this.found) this.show(this.found);
    });
  }

  hide() {
    this.found = null;
    this.place.hidden = true;
    this.place.replaceChildren();
  }

  /** Show a file for the first time: nothing was said about it by hand yet. */
  begin(found) {
    this.choices = { columns: {}, sentences: null, each_row: null, names: {} };
    this.show(found);
    this.place.scrollIntoView({ block: "nearest" });
    (this.place.querySelector("select[data-missing]") ?? byId("learn-it"))?.focus();
  }

  show(found) {
    this.found = found;
    this.place.hidden = false;
    const ready = found.domains.length > 0;
    this.place.replaceChildren(
      make("h3", {}, named(found.name)),
      make("p", { class: "hint", role: "status" }, summary(found)),
      ...(found.columns.length ? [this.chooser(found)] : []),
      ...(found.problem ? [make("p", { class: "wrong", role: "alert" }, found.problem)] : []),
      ...(ready ? [this.kind(found), first(found), this.buttons(found)] : []),
    );
  }

  chooser(found) {
    const option = (value, text, chosen) =>
      make("option", { value, selected: value === (chosen ?? "") }, text);
    const select = ([role, title]) =>
      make(
        "label",
        {},
        title,
        make(
          "select",
          {
            name: role,
            "data-missing": NEEDED.includes(role) && !found.chosen[role],
            onchange: ({ target }) => this.choose({ columns: { [role]: target.value } }),
          },
          option("", NEEDED.includes(role) ? "choose a column" : "none", found.chosen[role]),
          ...found.columns.map((name) => option(name, name, found.chosen[role])),
        ),
      );
    const taken = new Map(
      ROLES.filter(([role]) => !found.each_row && found.chosen[role]).map(([role]) => [found.chosen[role], role]),
    );
    const mark = (name) => ({ class: taken.has(name) ? "taken" : null });
    return make(
      "fieldset",
      { class: "columns" },
      make("legend", {}, found.each_row ? "Each row is one telling" : "Which column is which?"),
      ...(found.each_row === null ? [] : [this.shape(found)]),
      ...(found.each_row ? [] : [make("div", { class: "roles" }, ...ROLES.map(select))]),
      make(
        "div",
        { class: "scrolled", tabindex: "0", role: "group", "aria-label": "The first rows" },
        make(
          "table",
          {},
          make(
            "thead",
            {},
            make(
              "tr",
              {},
              ...found.columns.map((name) =>
                make(
                  "th",
                  { ...mark(name), scope: "col" },
                  named(name),
                  taken.has(name) ? make("small", {}, taken.get(name)) : null,
                ),
              ),
            ),
          ),
          make(
            "tbody",
            {},
            ...found.rows.map((row) =>
              make(
                "tr",
                {},
                ...row.map((cell, at) => make("td", mark(found.columns[at]), named(cell))),
              ),
            ),
          ),
        ),
      ),
    );
  }

  /** Whether a row of the table is an event or a telling. */
  shape(found) {
    const radio = (each_row, text) =>
      make(
        "label",
        {},
        make("input", {
          type: "radio",
          name: "shape",
          checked: found.each_row === each_row,
          onchange: () => this.choose({ each_row }),
        }),
        text,
      );
    return make(
      "div",
      { class: "kind" },
      radio(false, "each row is one event: the telling is named in a column"),
      radio(true, "each row is one telling: its events stand side by side"),
    );
  }

  kind(found) {
    const radio = (sentences, text) =>
      make(
        "label",
        {},
        make("input", {
          type: "radio",
          name: "kind",
          checked: found.sentences === sentences,
          onchange: () => this.choose({ sentences }),
        }),
        text,
      );
    const by = this.choices.sentences === null ? "These seem to be" : "Taken for";
    return make(
      "fieldset",
      { class: "kind" },
      make("legend", {}, `${by} ${found.sentences ? "sentences" : "events"}`),
      radio(false, "events: the same words whenever the same thing happened"),
      radio(true, "sentences: everybody used words of their own"),
    );
  }

  /** What was said by hand, and what is shown besides: it is to be learned as it was seen. */
  seen() {
    const { chosen, sentences, recognised, each_row } = this.found;
    const { choices } = this;
    return {
      ...choices,
      columns: chosen,
      each_row,
      sentences: choices.sentences ?? (recognised ? sentences : null),
    };
  }

  buttons(found) {
    const tellings = found.domains.reduce((sum, one) => sum + one.tellings, 0);
    const { script } = this;
    return make(
      "p",
      { class: "buttons" },
      make(
        "button",
        {
          type: "button",
          id: "learn-it",
          class: "primary",
          onclick: () => this.onLearn(found.upload, this.seen()),
        },
        `Learn from ${tellings === 1 ? "this telling" : `these ${tellings} tellings`}`,
      ),
      script
        ? make(
            "button",
            { type: "button", onclick: () => this.onBeside(found.upload, this.seen(), script.id) },
            "Show them beside “",
            named(script.name),
            "”",
          )
        : null,
    );
  }

  /** Say something by hand, and look at the file once more. */
  async choose({ columns = {}, ...others }) {
    this.choices = { ...this.choices, ...others, columns: { ...this.choices.columns, ...columns } };
    const { upload } = this.found;
    const focused = document.activeElement?.name;
    try {
      const found = await ask(`/api/uploads/${upload}/look`, this.choices);
      if (this.found?.upload !== upload) return;
      this.show(found);
      if (focused) this.place.querySelector(`[name="${focused}"]:is(select, :checked)`)?.focus();
    } catch (error) {
      this.onProblem(error.message);
    }
  }
}

function summary(found) {
  if (!found.domains.length) return found.columns.length ? "A table." : "No tellings yet.";
  const tellings = found.domains.reduce((sum, one) => sum + one.tellings, 0);
  const lines = found.domains.reduce((sum, one) => sum + one.lines, 0);
  const many = found.domains.length > 1 ? `, of ${found.domains.length} activities` : "";
  return `${counted(tellings, "telling")} with ${counted(lines, "line")}${many}.`;
}

function first(found) {
  return make(
    "div",
    { class: "first" },
    ...found.first.map((lines, number) =>
      make(
        "div",
        {},
        make("h4", {}, number ? `And number ${number + 1}` : "The first one"),
        make("ol", {}, ...lines.map((line) => make("li", {}, named(line)))),
      ),
    ),
  );
}

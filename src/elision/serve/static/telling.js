// The telling as one types it: one event or sentence a line, with the script's events offered.

import { byId, make, named, percent } from "./dom.js";

const MOST = 8;

export class Telling {
  constructor(onChange) {
    this.field = byId("telling");
    this.list = byId("suggestions");
    this.onChange = onChange;
    this.events = [];
    this.next = [];
    this.active = -1;
    this.field.addEventListener("input", () => {
      this.suggest();
      this.onChange();
    });
    this.field.addEventListener("keydown", (event) => this.key(event));
    this.field.addEventListener("click", () => this.suggest());
    this.field.addEventListener("blur", () => setTimeout(() => this.close(), 150));
  }

  get text() {
    return this.field.value;
  }

  set text(value) {
    this.field.value = value;
    this.close();
  }

  get lines() {
    return this.text.split("\n");
  }

  /** Replace one line, as a person would by typing. */
  replace(number, line) {
    this.text = this.lines.map((old, at) => (at === number ? line : old)).join("\n");
    this.onChange();
  }

  /** Which line the caret is in, and where that line begins. */
  here() {
    const before = this.text.slice(0, this.field.selectionStart);
    return { number: before.split("\n").length - 1, start: before.lastIndexOf("\n") + 1 };
  }

  // --- suggestions ----------------------------------------------------------------------------

  /** Offer events that fit the line, or those that probably come next on an empty one. */
  suggest() {
    const line = this.lines[this.here().number].trim();
    const found = line ? this.matching(line) : this.text.trim() ? this.next : [];
    this.active = -1;
    this.list.replaceChildren(
      ...found.slice(0, MOST).map(({ event, probability }, number) =>
        make(
          "li",
          {
            role: "option",
            id: `suggestion-${number}`,
            "aria-selected": "false",
            onpointerdown: (press) => {
              press.preventDefault();
              this.accept(event);
            },
          },
          named(event),
          probability === undefined
            ? null
            : make("span", { class: "share" }, `next: ${percent(probability)}`),
        ),
      ),
    );
    this.offered = found.slice(0, MOST).map(({ event }) => event);
    this.list.hidden = this.offered.length === 0;
    this.field.removeAttribute("aria-activedescendant");
  }

  matching(line) {
    const wanted = line.toLowerCase();
    const words = wanted.split(/\s+/);
    const fits = (event) => {
      const name = event.toLowerCase();
      return name !== wanted && words.every((word) => name.includes(word));
    };
    const begins = (event) => (event.toLowerCase().startsWith(wanted) ? 0 : 1);
    return this.events
      .filter(fits)
      .sort((one, other) => begins(one) - begins(other))
      .map((event) => ({ event }));
  }

  accept(event) {
    const { number, start } = this.here();
    const lines = this.lines;
    lines[number] = event.replaceAll("\n", " ");
    const isLast = number === lines.length - 1;
    this.text = lines.join("\n") + (isLast ? "\n" : "");
    const caret = start + lines[number].length + 1;
    this.field.setSelectionRange(caret, caret);
    this.field.focus();
    this.onChange();
  }

  close() {
    this.list.hidden = true;
    this.active = -1;
    this.field.removeAttribute("aria-activedescendant");
  }

  /** Arrows go through the list only from the last line, where the caret has nowhere to go. */
  key(event) {
    if (this.list.hidden) return;
    const isLast = this.here().number === this.lines.length - 1;
    if (event.key === "ArrowDown" && (isLast || this.active >= 0)) this.move(1);
    else if (event.key === "ArrowUp" && this.active >= 0) this.move(-1);
    else if (event.key === "Enter" && this.active >= 0) this.accept(this.offered[this.active]);
    else if (event.key === "Escape") this.close();
    else return;
    event.preventDefault();
  }

  move(step) {
    const items = [...this.list.children];
    this.active = Math.min(items.length - 1, Math.max(-1, this.active + step));
    items.forEach((item, number) => item.setAttribute("aria-selected", number === this.active));
    if (this.active < 0) this.field.removeAttribute("aria-activedescendant");
    else {
      this.field.setAttribute("aria-activedescendant", items[this.active].id);
      items[this.active].scrollIntoView({ block: "nearest" });
    }
  }
}

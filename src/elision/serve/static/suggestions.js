// Events that fit what is being typed, offered below the line. Enter takes the first if it completes
// what was typed or is spelt nearly so; any other only once it was chosen.

import { make, named } from "./dom.js";
import { Spelling } from "./spelling.js";

const MOST = 6;

export class Suggestions {
  constructor(list, onTake) {
    this.list = list;
    this.onTake = onTake;
    this.events = [];
    this.close();
  }

  set events(events) {
    this.names = events;
    this.spelling = new Spelling(events);
  }

  get events() {
    return this.names;
  }

  /** The event that Enter would take, null if none is offered. */
  get chosen() {
    return this.list.hidden ? null : (this.offered[this.active] ?? null);
  }

  get shown() {
    return !this.list.hidden;
  }

  /** Offer events for a line: those that have its words, or else those nearest to it. */
  suggest(field, near) {
    const line = field.value.trim();
    const matching = line ? this.matching(line) : [];
    const known = this.events.some((event) => event.toLowerCase() === line.toLowerCase());
    this.offered = (matching.length || known || !line ? matching : near).slice(0, MOST);
    if (!this.offered.length) return this.close();
    this.field = field;
    this.list.replaceChildren(
      ...this.offered.map((event, number) =>
        make(
          "li",
          {
            role: "option",
            id: `suggestion-${number}`,
            onpointerdown: (press) => {
              press.preventDefault();
              this.onTake(event);
            },
          },
          named(event),
        ),
      ),
    );
    field.closest("li").append(this.list);
    this.list.hidden = false;
    const [first] = this.offered;
    const completes = first.toLowerCase().startsWith(line.toLowerCase());
    this.point(completes || this.spelling.isNearly(line, first) ? 0 : -1);
    return true;
  }

  matching(line) {
    const wanted = line.toLowerCase();
    const words = wanted.split(/\s+/);
    const fits = (event) => {
      const name = event.toLowerCase();
      return name !== wanted && words.every((word) => name.includes(word));
    };
    const begins = (event) => (event.toLowerCase().startsWith(wanted) ? 0 : 1);
    return this.events.filter(fits).sort((one, other) => begins(one) - begins(other));
  }

  /** Go up or down in the list; says whether there is one. */
  move(step) {
    if (this.list.hidden) return false;
    this.point(Math.min(this.offered.length - 1, Math.max(0, this.active + step)));
    return true;
  }

  point(number) {
    this.active = number;
    const items = [...this.list.children];
    items.forEach((item, at) => item.setAttribute("aria-selected", at === number));
    if (number < 0) return this.field.removeAttribute("aria-activedescendant");
    this.field.setAttribute("aria-activedescendant", items[number].id);
    items[number].scrollIntoView({ block: "nearest" });
  }

  /** Offer nothing; says whether something was offered. */
  close() {
    const was = !this.list.hidden;
    this.list.hidden = true;
    this.active = -1;
    this.field?.removeAttribute("aria-activedescendant");
    return was;
  }
}

// The tellings beside a script: a row a variant, a column a step; told, unsaid or absent.
//
// The rest of the page is spoken to by events only: `elision:script-shown` and
// `elision:tellings-opened` say what to show, `elision:step-chosen` and `elision:edge-chosen` which
// tellings, `elision:telling-shown` what they may be like; `elision:load-telling` gives a row to
// whoever holds the telling, and `elision:thinned` says which steps are left.

import { ask, isAborted, scriptPath } from "./api.js";
import { byId, counted, make } from "./dom.js";
import { ROW, bodyRow, headRows, space } from "./matrix.js";
import { Tools, all, asLink, fromLink } from "./tellings_tools.js";

const CHUNK = 60;
const SPARE = 12; // rows above and below those that are seen
const WAIT = 2000; // milliseconds before it is asked how many more were judged

export class Tellings {
  /** `kept` reads and writes what is wanted, for links. */
  constructor(place, kept) {
    this.place = place;
    this.kept = kept;
    this.script = null;
    this.told = [];
    document.addEventListener("elision:telling-shown", ({ detail }) => (this.told = detail.lines));
    document.addEventListener("elision:script-shown", ({ detail }) => this.open(detail));
    document.addEventListener("elision:tellings-opened", ({ detail }) => {
      if (detail.script === this.script?.id) this.open(this.script);
    });
    document.addEventListener("elision:step-chosen", ({ detail }) =>
      this.pass({ step: detail.name ?? this.names?.[detail.step] ?? "" }),
    );
    document.addEventListener("elision:edge-chosen", ({ detail }) =>
      this.pass({ gap: { after: detail.after ?? "", before: detail.before ?? "", direct: false } }),
    );
  }

  /** Show the tellings of a script, or how to get some. */
  async open(script) {
    this.script = script;
    this.wanted = all();
    this.matrix = null;
    this.place.hidden = false;
    const found = await this.ask(0, 1).catch(() => null); // what else is asked will say why
    if (this.script !== script || found === null) return;
    if (!found.all_tellings) {
      this.place.replaceChildren(...this.none());
      return;
    }
    this.names = found.columns.map((one) => one.name);
    this.wanted = fromLink(this.kept.read(), this.names);
    this.build();
    await this.refresh();
  }

  /** Another link of the same script may want other rows. */
  bringBack() {
    if (this.matrix && this.kept.read() !== asLink(this.wanted))
      this.change(fromLink(this.kept.read(), this.names));
  }

  none() {
    return [
      make("h3", {}, "The tellings"),
      make(
        "p",
        { class: "hint" },
        "There are no tellings beside this script. Open a file of them to see what each tells, leaves unsaid and does not do.",
      ),
      make(
        "label",
        { class: "file" },
        "Open a file of tellings ",
        make("input", { type: "file", class: "tellings-file", accept: byId("file").accept }),
      ),
    ];
  }

  /** Only tellings that pass a step or an edge, which somebody chose elsewhere. */
  pass(changes) {
    if (!this.matrix) return;
    if (changes.step !== undefined && !this.names.includes(changes.step)) changes = { step: "" };
    if (
      changes.gap &&
      ![changes.gap.after, changes.gap.before].every((one) => !one || this.names.includes(one))
    )
      return;
    this.change({ part: "told", ...changes });
  }

  // --- what is asked for ------------------------------------------------------------------------

  ask(offset, limit, signal) {
    const like = this.wanted.sort === "similarity" ? this.told : [];
    const question = { ...this.wanted, like, offset, limit };
    return ask(`${scriptPath(this.script.id)}/tellings`, question, signal);
  }

  async change(changes) {
    Object.assign(this.wanted, changes);
    this.kept.write(asLink(this.wanted));
    this.tools.show(this.wanted);
    await this.refresh();
    if ("steps" in changes || "paths" in changes) this.thinned();
  }

  /** Whoever draws the steps may leave out the same ones. */
  thinned() {
    const steps = this.matrix.columns.map((one) => one.name);
    const { paths } = this.wanted;
    document.dispatchEvent(new CustomEvent("elision:thinned", { detail: { steps, paths } }));
  }

  /** Ask anew, from the first row on. */
  async refresh({ stay = false } = {}) {
    this.asking?.abort();
    const { signal } = (this.asking = new AbortController());
    clearTimeout(this.later);
    const first = stay ? CHUNK * Math.floor(this.first() / CHUNK) : 0;
    try {
      const found = await this.ask(first, CHUNK, signal);
      this.matrix = found;
      this.rows = new Map(found.rows.map((row, at) => [first + at, row]));
      this.coming = new Set([first / CHUNK]);
      if (!stay) this.window.scrollTop = this.at = 0;
      this.showHead();
      this.showRows();
      this.showCounts();
      if (found.judged < found.all_variants)
        this.later = setTimeout(() => this.refresh({ stay: true }), WAIT);
    } catch (error) {
      if (!isAborted(error)) this.count.textContent = error.message;
    }
  }

  /** Ask for rows that are about to be seen. */
  async fetch(chunk) {
    if (this.coming.has(chunk)) return;
    this.coming.add(chunk);
    const { signal } = this.asking;
    try {
      const found = await this.ask(chunk * CHUNK, CHUNK, signal);
      found.rows.forEach((row, at) => this.rows.set(chunk * CHUNK + at, row));
      this.showRows();
    } catch (error) {
      this.coming.delete(chunk);
      if (!isAborted(error)) this.count.textContent = error.message;
    }
  }

  // --- what is shown ----------------------------------------------------------------------------

  build() {
    this.head = make("thead");
    this.body = make("tbody");
    this.count = make("p", { class: "count", role: "status" });
    this.table = make("table", { class: "matrix" }, this.head, this.body);
    this.window = make(
      "div",
      {
        class: "window",
        tabindex: "0",
        role: "region",
        "aria-label": "Tellings against steps",
        onscroll: () => this.showRows(),
      },
      this.table,
    );
    this.tools = new Tools(this.names, (changes) => this.change(changes));
    this.place.replaceChildren(
      make("h3", { id: "tellings-title" }, "The tellings"),
      make(
        "p",
        { class: "hint" },
        make("span", { class: "told" }, "●"),
        " told ",
        make("span", { class: "unsaid" }, "75"),
        " probably done and left unsaid, so many percent sure; ",
        make("span", { class: "maybe" }, "26"),
        " perhaps done; empty: probably not done. Others: events that are no step. Odd: how unusual it is, in bold where hardly any telling is so unusual. Click a row to tell it yourself.",
      ),
      this.tools.element,
      this.count,
      this.window,
    );
    this.tools.show(this.wanted);
  }

  showCounts() {
    const { variants, tellings, all_variants: all, all_tellings: every, judged } = this.matrix;
    const judging = judged < all ? ` Judged so far: ${judged} of ${all}.` : "";
    const some = tellings < every;
    this.count.textContent = some
      ? `${tellings} of ${counted(every, "telling")}, ${variants} of ${counted(all, "variant")}.${judging}`
      : `${counted(every, "telling")}, ${counted(all, "variant")}.${judging}`;
    this.tools.count(this.matrix, this.wanted.paths);
  }

  showHead() {
    const { columns } = this.matrix;
    this.table.style.setProperty("--columns", columns.length + 2);
    this.head.replaceChildren(
      ...headRows(this.matrix, this.wanted.step, (step) => this.change({ step })),
    );
  }

  first() {
    return Math.max(0, Math.floor(this.window.scrollTop / ROW) - SPARE);
  }

  /** Show the rows that are seen, and room for the others. */
  showRows() {
    if (!this.matrix) return;
    const { variants } = this.matrix;
    const first = Math.min(this.first(), Math.max(0, variants - 1));
    const last = Math.min(variants, first + Math.ceil(this.window.clientHeight / ROW) + 2 * SPARE);
    const focused = this.body.contains(document.activeElement)
      ? document.activeElement.dataset.at
      : null;
    const current = this.at >= first && this.at < last ? this.at : first;
    const handlers = {
      current,
      onLoad: (row, at) => this.load(row, at),
      onKey: (event, at) => this.key(event, at),
    };
    const rows = [];
    for (let at = first; at < last; at += 1) {
      const row = this.rows.get(at);
      if (row === undefined) this.fetch(Math.floor(at / CHUNK));
      rows.push(row ? bodyRow(row, at, handlers) : space(1));
    }
    this.body.replaceChildren(space(first), ...rows, space(variants - last));
    if (focused !== null)
      this.body.querySelector(`[data-at="${focused}"]`)?.focus({ preventScroll: true });
  }

  load(row, at) {
    this.at = at;
    const detail = { lines: row.lines, count: row.count };
    document.dispatchEvent(new CustomEvent("elision:load-telling", { detail, cancelable: true }));
  }

  /** Arrows go from row to row. */
  key(event, at) {
    const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: 10, PageUp: -10 };
    if (!(event.key in steps)) return;
    event.preventDefault();
    const to = Math.min(this.matrix.variants - 1, Math.max(0, at + steps[event.key]));
    const top = to * ROW;
    const space = this.window.clientHeight - this.head.offsetHeight - ROW;
    if (top < this.window.scrollTop) this.window.scrollTop = top;
    else if (top > this.window.scrollTop + space) this.window.scrollTop = top - space;
    this.at = to;
    this.showRows();
    this.body.querySelector(`[data-at="${to}"]`)?.focus({ preventScroll: true });
  }
}

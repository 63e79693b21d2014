// The telling: one column of lines that are edited in place, with ghost lines between them.

import { byId, make } from "./dom.js";
import { gapContent, isSaid, nextContent } from "./ghosts.js";
import { Keys } from "./keys.js";
import { notes } from "./notes.js";
import { Past } from "./past.js";
import { Suggestions } from "./suggestions.js";

const MOST_LINES = 100;

export class Telling {
  /** `onChange` hears that something was written, `onShow` that more or less is to be said. */
  constructor({ onChange, onShow }) {
    this.place = byId("lines");
    this.onChange = onChange;
    this.onShow = onShow;
    this.lines = [""];
    this.finished = false;
    this.answer = null;
    this.steps = []; // what is known of the outline's steps
    this.threshold = 0.5;
    this.opened = new Set();
    this.words = new Map(); // how each event is said
    this.keys = new Keys(this);
    this.past = new Past((any) => (byId("undo").disabled = !any));
    this.suggestions = new Suggestions(byId("suggestions"), (event) => this.take(event));
    this.render();
  }

  get text() {
    return this.lines.join("\n").trim() ? this.lines.join("\n").trimEnd() : "";
  }

  /** Put another telling in place of this one; `anew` if there is no way back to it. */
  set(text, { finished = false, anew = false } = {}) {
    if (anew) this.past.forget();
    else this.past.keep(this);
    this.lines = text.split("\n").slice(0, MOST_LINES);
    this.finished = finished && Boolean(text.trim());
    if (!this.finished && this.lines.at(-1).trim()) this.lines.push("");
    this.answer = null;
    this.opened.clear();
    this.render();
  }

  /** The events and steps of another script. */
  know(steps, events, sentences) {
    this.steps = steps;
    this.sentences = sentences;
    this.words = new Map(steps.map((step) => [step.event, step.words]));
    this.suggestions.events = events;
  }

  /** The line that somebody is typing in, null if nobody is. */
  get writing() {
    const field = document.activeElement?.closest?.("#lines textarea");
    return field ? this.fields().indexOf(field) : null;
  }

  fields() {
    return [...this.place.querySelectorAll("textarea")];
  }

  // --- what is shown ----------------------------------------------------------------------------

  /** Make the rows anew: a gap before each line, and one after the last. */
  render(focus = null, caret = null) {
    byId("editor").append(this.suggestions.list); // it is to stay while rows come and go
    const rows = this.lines.flatMap((line, at) => [this.gapRow(at), this.lineRow(line, at)]);
    this.place.replaceChildren(...rows, this.gapRow(this.lines.length));
    this.grow();
    this.place.classList.toggle("finished", this.finished);
    this.suggestions.close();
    if (this.answer && this.answer.lines.length === this.lines.length) this.fill();
    if (focus !== null) {
      const field = this.fields()[Math.max(0, Math.min(focus, this.lines.length - 1))];
      field.focus();
      field.setSelectionRange(caret ?? field.value.length, caret ?? field.value.length);
    }
  }

  /** Make all fields as high as their texts, which cannot be seen while they are hidden. */
  grow() {
    for (const field of this.fields()) grow(field);
  }

  gapRow(at) {
    return make("li", { class: "gap", "data-gap": at });
  }

  lineRow(line, at) {
    const field = make("textarea", {
      rows: 1,
      spellcheck: "false",
      autocomplete: "off",
      "aria-label": `Line ${at + 1}`,
      "aria-autocomplete": "list",
      "aria-controls": "suggestions",
      oninput: (event) => this.typed(event.target),
      onkeydown: (event) => this.keys.press(event),
      onblur: () => this.left(),
    });
    field.value = line;
    return make("li", { class: "line", "data-line": at }, field, make("div", { class: "below" }));
  }

  /** Show an answer; the lines themselves stay as they are. */
  show(answer) {
    this.answer = answer;
    if (answer.lines.length !== this.lines.length) return;
    if (this.split()) return;
    this.fill();
    const at = this.writing;
    const { kind, near, text } = answer.lines[at] ?? {};
    // Where sentences are understood, whatever one types may be a sentence.
    const strange = ["writing", "unknown"].includes(kind) && text === this.lines[at];
    if (strange && !this.sentences && !this.suggestions.shown && this.keys.dismissed !== text)
      this.suggestions.suggest(this.fields()[at], near);
  }

  /** Give each part of a line that tells several things a line of its own; says whether one did. */
  split() {
    const { lines } = this.answer;
    const at = lines.findIndex(({ parts }, number) => parts.length > 1 && number !== this.writing);
    if (at < 0 || this.lines.length >= MOST_LINES) return false;
    this.lines.splice(at, 1, ...lines[at].parts);
    this.answer = null;
    const { writing } = this;
    this.render(writing === null ? null : writing + (writing > at ? lines[at].parts.length - 1 : 0));
    this.changed({ goesOn: this.finished });
    return true;
  }

  fill() {
    const { answer, threshold } = this;
    const focused = this.focused();
    for (const row of this.place.querySelectorAll(".gap")) {
      const at = Number(row.dataset.gap);
      const gap = answer.gaps[at];
      const content = gapContent({
        gap,
        answer,
        steps: this.steps,
        threshold,
        open: this.opened.has(at),
        onTake: (step) => this.insert(at, step.words, step.event),
        onToggle: () => this.toggle(at),
      });
      if (at === this.lines.length && !this.finished && this.lines.at(-1).trim() === "")
        content.push(this.nextLine());
      row.replaceChildren(...content.filter(Boolean));
      row.classList.toggle("said", isSaid(gap, threshold) || this.opened.has(at));
    }
    for (const row of this.place.querySelectorAll(".line")) this.fillLine(row);
    const last = this.fields().at(-1);
    last.placeholder = this.text ? "and then?" : "What happened first?";
    focused?.();
  }

  /** Who stands on a button of a row stays there when the row is made anew. */
  focused() {
    const row = document.activeElement?.closest?.("#lines > li");
    const at = row ? [...row.querySelectorAll("button")].indexOf(document.activeElement) : -1;
    if (at < 0) return null;
    return () => {
      const buttons = row.querySelectorAll("button");
      buttons[Math.min(at, buttons.length - 1)]?.focus();
    };
  }

  nextLine() {
    const { answer } = this;
    if (!answer.lines.some((line) => line.heard.length)) return null;
    const offered = this.next();
    const content = nextContent({ answer, offered, onTake: (event, words) => this.take(event, words) });
    return content.length ? make("span", { class: "next" }, ...content) : null;
  }

  next() {
    return this.answer.next.map((one) => ({ ...one, words: this.words.get(one.event) ?? one.event }));
  }

  fillLine(row) {
    const at = Number(row.dataset.line);
    const line = this.answer.lines[at];
    const shown = row.querySelector("textarea").value.trim() === line.text.trim();
    const strange = shown && line.kind === "unknown" && at !== this.writing;
    row.classList.toggle("strange", strange);
    row.classList.toggle("odd", shown && line.flags.length > 0);
    row.classList.toggle("open", line.kind === "gap");
    row.classList.toggle("denied", shown && line.kind === "denied");
    const put = (event) => () => this.replace(at, this.words.get(event) ?? event);
    const below = shown ? notes(line, { strange, isWritten: at === this.writing, put }) : [];
    row.querySelector(".below").replaceChildren(...below);
  }

  /** Say more or less of what was left out. */
  say(threshold) {
    this.threshold = threshold;
    this.opened.clear();
    if (this.answer?.lines.length === this.lines.length) this.fill();
  }

  toggle(at) {
    if (!this.answer) return;
    if (!this.opened.delete(at)) this.opened.add(at);
    this.fill();
    this.place.querySelector(`[data-gap="${at}"] :is(.more, .tick)`)?.focus();
    this.onShow();
  }

  // --- what is written --------------------------------------------------------------------------

  changed({ goesOn = false } = {}) {
    if (!goesOn) this.finished = false;
    this.place.classList.toggle("finished", this.finished);
    this.onChange();
  }

  typed(field) {
    // Browsers put several lines in one after the other: rows are made when all are there.
    if (field.value.includes("\n")) {
      clearTimeout(this.pasting);
      this.pasting = setTimeout(() => this.pasted(field), 0);
      return;
    }
    const at = this.fields().indexOf(field);
    this.past.keep(this, at);
    this.lines[at] = field.value;
    grow(field);
    const row = field.closest(".line");
    row.classList.remove("strange", "odd", "denied");
    row.querySelector(".below").replaceChildren();
    this.suggestions.suggest(field, []);
    this.changed();
  }

  pasted(field) {
    const at = this.fields().indexOf(field);
    const parts = field.value.split("\n");
    this.past.keep(this);
    this.lines.splice(at, 1, ...parts);
    this.lines.length = Math.min(this.lines.length, MOST_LINES);
    this.answer = null;
    this.render(at + parts.length - 1);
    this.changed();
  }

  replace(at, line) {
    this.past.keep(this);
    this.lines[at] = line;
    this.render(at);
    this.changed({ goesOn: this.finished });
  }

  /** Put a line in where something was left out. */
  insert(at, line) {
    this.past.keep(this);
    this.lines.splice(at, 0, line.replaceAll("\n", " "));
    this.opened.clear();
    this.answer = null;
    this.render(at);
    this.changed({ goesOn: this.finished });
  }

  /** Take an event for the line that is being written, and go on below it. */
  take(event, words = this.words.get(event) ?? event) {
    const at = this.writing ?? this.lines.length - 1;
    this.past.keep(this);
    this.lines[at] = words.replaceAll("\n", " ");
    if (at === this.lines.length - 1) this.lines.push("");
    this.answer = null;
    this.render(at + 1);
    this.changed();
  }

  /** Say that this is all, or that it is not. */
  finish(finished) {
    this.past.keep(this);
    this.finished = finished;
    while (finished && this.lines.length > 1 && !this.lines.at(-1).trim()) this.lines.pop();
    if (!finished && this.lines.at(-1).trim()) this.lines.push("");
    this.answer = null;
    this.render(finished ? null : this.lines.length - 1);
    this.onChange();
  }

  /** Enter below the last line: that is all, if anything was told. */
  finishIfTold() {
    if (!this.answer?.lines.some((line) => line.heard.length)) return;
    this.finish(true);
    byId("finish").focus();
  }

  /** Take the last change back. */
  undo() {
    const before = this.past.back();
    if (!before) return;
    const at = before.lines.findIndex((line, number) => line !== this.lines[number]);
    Object.assign(this, before);
    this.answer = null;
    this.opened.clear();
    this.render(at < 0 ? null : at);
    this.changed({ goesOn: true });
  }

  /** A line that was left is read as it stands. */
  left() {
    setTimeout(() => {
      if (this.writing !== null) return;
      this.suggestions.close();
      this.onChange({ quietly: true });
    }, 150);
  }

  go(at) {
    const field = this.fields()[at];
    field?.focus();
    return Boolean(field);
  }

  /** Break a line in two. */
  cut(at, before, after) {
    this.past.keep(this);
    this.lines.splice(at, 1, before, after);
    this.render(at + 1, 0);
    this.changed();
  }

  /** Put a line behind the one before it. */
  join(at) {
    const caret = this.lines[at - 1].length;
    this.past.keep(this);
    this.lines.splice(at - 1, 2, this.lines[at - 1] + this.lines[at]);
    this.answer = null;
    this.render(at - 1, caret);
    this.changed();
    return true;
  }
}

/** Make a field as high as its text. */
function grow(field) {
  field.style.height = "auto";
  field.style.height = `${field.scrollHeight}px`;
}

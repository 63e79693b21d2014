// What the keys do in a line of the telling.

import { isSaid, likeliest } from "./ghosts.js";

export class Keys {
  constructor(telling) {
    this.telling = telling;
    this.leaving = false; // whether Tab leads on, whatever is offered
    this.dismissed = null; // the line for which nothing is to be offered any more
  }

  press(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    const { telling } = this;
    const { suggestions } = telling;
    const field = event.target;
    const at = telling.fields().indexOf(field);
    const [start, end] = [field.selectionStart, field.selectionEnd];
    const atStart = start === 0 && end === 0;
    const atEnd = start === field.value.length;
    const isLast = at === telling.lines.length - 1;
    const keys = {
      Enter: () => this.enter(field, at),
      Tab: () => !event.shiftKey && this.tab(at),
      Escape: () => this.escape(at),
      ArrowDown: () => suggestions.move(1) || (atEnd && telling.go(at + 1)),
      ArrowUp: () => suggestions.move(-1) || (atStart && telling.go(at - 1)),
      Backspace: () => atStart && at > 0 && telling.join(at),
      Delete: () => atEnd && start === end && !isLast && telling.join(at + 1),
    };
    if (event.key !== "Escape" && event.key !== "Tab") this.leaving = false;
    if (keys[event.key]?.()) event.preventDefault();
  }

  /** Enter takes what is offered, or goes on to another line. */
  enter(field, at) {
    const { telling } = this;
    if (this.take(at)) return true;
    const { value, selectionStart, selectionEnd } = field;
    if (value.trim()) telling.cut(at, value.slice(0, selectionStart), value.slice(selectionEnd));
    return true;
  }

  /** Tab takes what is offered here; after Escape, or where nothing is, it leads on. */
  tab(at) {
    const { telling } = this;
    if (this.leaving) return false;
    const gap = telling.answer?.gaps[at + 1];
    if (telling.suggestions.chosen === null && gap && isSaid(gap, telling.least)) {
      telling.insert(at + 1, telling.steps[likeliest(gap, telling.answer)].words);
      return true;
    }
    return this.take(at);
  }

  /** Take the event that fits the line, or on the empty last line what probably comes next. */
  take(at) {
    const { telling } = this;
    if (telling.suggestions.chosen !== null) {
      telling.take(telling.suggestions.chosen);
      return true;
    }
    const isOpen = at === telling.lines.length - 1 && !telling.lines[at].trim();
    const [best] = isOpen ? telling.offered() : [];
    if (!best) return false;
    telling.take(best.event, best.words);
    return true;
  }

  escape(at) {
    this.dismissed = this.telling.lines[at];
    if (this.telling.suggestions.close()) return true;
    this.leaving = true;
    return false;
  }
}

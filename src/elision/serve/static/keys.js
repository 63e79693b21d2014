// What the keys do in a line of the telling.

export class Keys {
  constructor(telling) {
    this.telling = telling;
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
      Tab: () => !event.shiftKey && this.take(),
      Escape: () => this.escape(at),
      ArrowDown: () => suggestions.move(1) || (atEnd && telling.go(at + 1)),
      ArrowUp: () => suggestions.move(-1) || (atStart && telling.go(at - 1)),
      Backspace: () => atStart && at > 0 && telling.join(at),
      Delete: () => atEnd && start === end && !isLast && telling.join(at + 1),
    };
    if (keys[event.key]?.()) event.preventDefault();
  }

  /** Enter takes what is chosen or goes on to another line; on the empty last one, that is all. */
  enter(field, at) {
    const { telling } = this;
    if (this.take()) return true;
    const { value, selectionStart, selectionEnd } = field;
    if (value.trim()) telling.cut(at, value.slice(0, selectionStart), value.slice(selectionEnd));
    else if (at === telling.lines.length - 1) telling.finishIfTold();
    return true;
  }

  /** Take the event that completes what was typed, if one is chosen; else Tab leads on. */
  take() {
    const { suggestions } = this.telling;
    if (suggestions.chosen === null) return false;
    this.telling.take(suggestions.chosen);
    return true;
  }

  escape(at) {
    this.dismissed = this.telling.lines[at];
    return this.telling.suggestions.close();
  }
}

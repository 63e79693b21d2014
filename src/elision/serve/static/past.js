// What the telling was before each change, so that changes can be taken back.

const MOST = 100;
const PAUSE = 1000; // milliseconds without a key, after which typing counts as another change

export class Past {
  /** `onChange` hears whether there is anything to take back. */
  constructor(onChange) {
    this.onChange = onChange;
    this.forget();
  }

  get any() {
    return this.kept.length > 0;
  }

  /** Keep what the telling is now, before it changes; `typing` is the line that is typed in. */
  keep({ lines, finished }, typing = null) {
    const now = Date.now();
    const goesOn = typing !== null && typing === this.typing && now - this.when < PAUSE;
    this.typing = typing;
    this.when = now;
    if (goesOn) return;
    this.kept.push({ lines: [...lines], finished });
    if (this.kept.length > MOST) this.kept.shift();
    this.onChange(true);
  }

  /** Take the last change back: what the telling was before it. */
  back() {
    const found = this.kept.pop();
    this.typing = null;
    this.onChange(this.any);
    return found;
  }

  forget() {
    this.kept = [];
    this.typing = null;
    this.when = 0;
    this.onChange(false);
  }
}

/** Hear Ctrl+Z, wherever nothing but the telling is being written. */
export function onUndoKey(undo) {
  document.addEventListener("keydown", (event) => {
    const wanted = (event.ctrlKey || event.metaKey) && !event.shiftKey && event.key === "z";
    if (!wanted || event.target.closest("input, textarea:not(#lines *)")) return;
    event.preventDefault();
    undo();
  });
}

// Play: the telling runs through the outline, line after line, with what was left unsaid.

const WHOLE = 4200; // milliseconds for all of it
const LONGEST = 700; // and for one line at most
const LAST = 900;

export class Player {
  /** `onFrame` is called with how many lines and gaps have been shown, `onEnd` when all have. */
  constructor({ onFrame, onEnd }) {
    this.onFrame = onFrame;
    this.onEnd = onEnd;
    this.timer = null;
  }

  get playing() {
    return this.timer !== null;
  }

  /** Show so many frames, one after the other. */
  play(frames) {
    this.stop();
    const pause = Math.min(LONGEST, WHOLE / Math.max(frames, 1));
    let shown = 0;
    const next = () => {
      this.onFrame(shown);
      shown += 1;
      this.timer = setTimeout(shown <= frames ? next : () => this.stop(), shown <= frames ? pause : LAST);
    };
    next();
  }

  stop() {
    if (!this.playing) return;
    clearTimeout(this.timer);
    this.timer = null;
    this.onEnd();
  }
}

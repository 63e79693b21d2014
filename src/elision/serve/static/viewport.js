// A drawing that can be looked at: zoom, pan and keys. The server draws; this moves and chooses.

import { drawn } from "./dom.js";

const CLOSEST = 8;
const STEP = 1.3;
const SCROLLING = 350; // milliseconds after which a wheel that moved the page may zoom

let scrolled = 0;
window.addEventListener("scroll", () => (scrolled = performance.now()), { passive: true });

export class Viewport {
  /**
   * `things` selects what can be chosen, each with its number in `data-[kind]`. `onLook` hears
   * which is looked at, `onChoose` which was chosen, `onEdge` that a line was, `onMove` that the
   * view has changed.
   */
  constructor(place, { kind, things, lines, onLook, onChoose, onEdge, onMove }) {
    Object.assign(this, { place, kind, things, lines, onLook, onChoose, onEdge, onMove });
    this.svg = null;
    this.chosen = null;
    this.pointers = new Map();
    this.listen();
  }

  /** Put a drawing in place, as the whole of it. */
  show(text) {
    this.svg = drawn(text);
    this.whole = this.svg.getAttribute("viewBox").split(" ").map(Number);
    this.svg.setAttribute("role", "group");
    this.svg.setAttribute("preserveAspectRatio", "xMidYMid meet");
    for (const name of ["width", "height"]) this.svg.removeAttribute(name);
    for (const thing of this.all()) {
      thing.setAttribute("role", "button");
      thing.setAttribute("tabindex", "-1");
      thing.setAttribute("aria-label", thing.querySelector("title").textContent);
    }
    for (const line of this.svg.querySelectorAll(this.lines)) widen(line);
    this.place.replaceChildren(this.svg);
    this.place.style.setProperty("--shape", this.whole[3] / this.whole[2]);
    this.place.style.setProperty("--natural", `${this.whole[2]}px`);
    this.choose(this.chosen, { quietly: true });
    this.fit();
  }

  all() {
    return this.svg ? [...this.svg.querySelectorAll(this.things)] : [];
  }

  number(thing) {
    return thing ? Number(thing.dataset[this.kind]) : null;
  }

  find(number) {
    return this.all().find((thing) => this.number(thing) === number);
  }

  /** Point out some things; says which of them are in the drawing. */
  search(numbers) {
    const hits = [];
    this.svg.classList.toggle("searching", numbers !== null);
    for (const thing of this.all()) {
      const hit = numbers?.has(this.number(thing)) ?? false;
      thing.classList.toggle("hit", hit);
      if (hit) hits.push(this.number(thing));
    }
    return hits;
  }

  /** Choose something, or nothing: keys start from it. */
  choose(number, { quietly = false } = {}) {
    this.chosen = number;
    for (const thing of this.all()) {
      const here = this.number(thing) === number;
      thing.classList.toggle("chosen", here);
      thing.setAttribute("aria-pressed", here);
      thing.setAttribute("tabindex", "-1");
    }
    (this.find(number) ?? this.all()[0])?.setAttribute("tabindex", "0");
    this.touch(number);
    if (!quietly) this.onChoose(number);
  }

  /** Make the lines of a thing stand out. */
  touch(number) {
    if (!this.svg) return;
    for (const line of this.svg.querySelectorAll(this.lines))
      line.classList.toggle("touching", number !== null && this.ends(line).flat().includes(number));
  }

  /** The numbers of what a line leads from and to. */
  ends(line) {
    return [this.listed(line, "before"), this.listed(line, "after")];
  }

  listed(line, side) {
    return (line.dataset[side] ?? "").split(" ").filter(Boolean).map(Number);
  }

  /** Bring a thing into the middle if it is not to be seen. */
  reveal(number) {
    const box = this.find(number)?.querySelector("rect");
    if (!box) return;
    const [x, y, width, height] = ["x", "y", "width", "height"].map((name) =>
      Number(box.getAttribute(name)),
    );
    const [left, top, wide, high] = this.view;
    const seen = x >= left && x + width <= left + wide && y >= top && y + height <= top + high;
    if (!seen) this.look([x + width / 2 - wide / 2, y + height / 2 - high / 2, wide, high]);
  }

  // --- zoom and pan ---------------------------------------------------------------------------

  look(view) {
    this.view = view;
    this.svg.setAttribute("viewBox", view.map((value) => value.toFixed(1)).join(" "));
    this.svg.classList.toggle("zoomed", this.inside());
    this.onMove(this);
  }

  inside() {
    return this.view[2] < this.whole[2] * 0.99 || this.view[3] < this.whole[3] * 0.99;
  }

  /** See all of it. */
  fit() {
    this.look([...this.whole]);
  }

  get moved() {
    return this.view.some((value, at) => Math.abs(value - this.whole[at]) > 0.5);
  }

  /** Zoom about a point of the drawing, by default its middle; never further out than all of it. */
  zoom(factor, about) {
    const [left, top, width, height] = this.view;
    const [x, y] = about ?? [left + width / 2, top + height / 2];
    const closest = Math.min(this.whole[2] / CLOSEST, 400);
    const wide = Math.max(closest, width / factor);
    if (wide >= this.whole[2]) return this.fit();
    const scale = wide / width;
    this.look([x - (x - left) * scale, y - (y - top) * scale, wide, height * scale]);
  }

  point(event) {
    const matrix = this.svg.getScreenCTM().inverse();
    const point = new DOMPoint(event.clientX, event.clientY).matrixTransform(matrix);
    return [point.x, point.y];
  }

  // --- what people do -------------------------------------------------------------------------

  listen() {
    const on = (kind, hear, options) => this.place.addEventListener(kind, hear, options);
    const here = (event) => this.number(event.target.closest(this.things));
    on("pointerover", (event) => {
      const number = here(event);
      if (number === null || event.pointerType === "touch") return;
      this.touch(number);
      this.onLook(number);
    });
    on("pointerleave", () => {
      this.touch(this.chosen);
      this.onLook(this.chosen);
    });
    on("focusin", (event) => {
      const number = here(event);
      this.reveal(number);
      this.touch(number);
      this.onLook(number);
    });
    on("click", (event) => {
      if (this.dragged) return;
      const line = event.target.closest(this.lines);
      const number = here(event);
      if (number === null && line) return this.onEdge(...this.ends(line));
      this.choose(number === this.chosen ? null : number);
    });
    on("keydown", (event) => this.key(event, here(event)));
    on("wheel", (event) => this.wheel(event), { passive: false });
    on("pointerdown", (event) => this.press(event));
    on("pointermove", (event) => this.drag(event));
    for (const end of ["pointerup", "pointercancel"]) on(end, (event) => this.release(event));
  }

  key(event, here) {
    const steps = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };
    const actions = {
      Enter: () => this.choose(here === this.chosen ? null : here),
      " ": () => this.choose(here === this.chosen ? null : here),
      "+": () => this.zoom(STEP, this.middle(here)),
      "=": () => this.zoom(STEP, this.middle(here)),
      "-": () => this.zoom(1 / STEP),
      0: () => this.fit(),
      Escape: () => this.choose(null),
    };
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key in steps) {
      const all = this.all();
      const at = all.findIndex((thing) => this.number(thing) === here);
      const next = all[Math.min(all.length - 1, Math.max(0, at + steps[event.key]))];
      for (const thing of all) thing.setAttribute("tabindex", thing === next ? "0" : "-1");
      next.focus();
    } else if (event.key in actions) actions[event.key]();
    else return;
    event.preventDefault();
  }

  middle(number) {
    const box = this.find(number)?.querySelector("rect");
    if (!box) return undefined;
    const value = (name) => Number(box.getAttribute(name));
    return [value("x") + value("width") / 2, value("y") + value("height") / 2];
  }

  /**
   * The wheel zooms, and with Ctrl a pinch on a touch pad. It scrolls the page where there is
   * nothing to zoom out of, and while the page is being scrolled past the drawing.
   */
  wheel(event) {
    const pinch = event.ctrlKey || event.metaKey;
    const passing = performance.now() - scrolled < SCROLLING;
    if (!pinch && (passing || (event.deltaY > 0 && !this.inside()))) return;
    event.preventDefault();
    const most = pinch ? event.deltaY / 100 : Math.max(-0.5, Math.min(0.5, event.deltaY / 300));
    this.zoom(Math.exp(-most), this.point(event));
  }

  press(event) {
    this.pointers.set(event.pointerId, event);
    this.dragged = false;
    this.from = { gap: this.gap() };
  }

  gap() {
    const [one, other] = [...this.pointers.values()];
    return other ? Math.hypot(one.clientX - other.clientX, one.clientY - other.clientY) : 0;
  }

  drag(event) {
    const before = this.pointers.get(event.pointerId);
    if (!before) return;
    if (this.pointers.size === 2) return this.pinch(event);
    const [right, down] = [event.clientX - before.clientX, event.clientY - before.clientY];
    if (!this.inside() || (!this.dragged && Math.hypot(right, down) < 4)) return;
    this.pointers.set(event.pointerId, event);
    this.dragged = true;
    this.place.setPointerCapture(event.pointerId);
    this.svg.classList.add("dragging");
    const scale = this.svg.getScreenCTM().a;
    const [left, top, width, height] = this.view;
    this.look([left - right / scale, top - down / scale, width, height]);
  }

  pinch(event) {
    this.pointers.set(event.pointerId, event);
    const gap = this.gap();
    if (this.from.gap > 0 && gap > 0) this.zoom(gap / this.from.gap, this.point(event));
    this.from.gap = gap;
    this.dragged = true;
  }

  release(event) {
    this.pointers.delete(event.pointerId);
    this.svg?.classList.remove("dragging");
    // The click that follows belongs to the drag.
    if (this.dragged) setTimeout(() => (this.dragged = false), 50);
  }
}

/** Thin lines can be hit: each gets a wide one that is not seen. */
function widen(line) {
  const shaft = line.querySelector("path");
  if (!shaft) return;
  const wide = shaft.cloneNode(false);
  for (const name of ["class", "stroke-dasharray", "stroke-width"]) wide.removeAttribute(name);
  wide.setAttribute("class", "reach");
  line.prepend(wide);
}

// The drawing: zoom, pan, hover, tap and keys. The server draws; this moves, marks and chooses.

import { drawn } from "./dom.js";

const CLOSEST = 8;
const STEP = 1.3;
const PARTS = ["told", "silent", "filled"];

export class Drawing {
  /** `onState` hears which state is looked at, `onMove` that the view has changed. */
  constructor(place, { onState, onChoose, onMove }) {
    this.place = place;
    this.onState = onState;
    this.onChoose = onChoose;
    this.onMove = onMove;
    this.svg = null;
    this.chosen = null;
    this.pointers = new Map();
    this.listen();
  }

  /** Put another drawing in place, as the whole of it. */
  show(text) {
    const hadFocus = this.place.contains(document.activeElement);
    this.svg = drawn(text);
    this.whole = this.svg.getAttribute("viewBox").split(" ").map(Number);
    this.svg.setAttribute("role", "group");
    this.svg.setAttribute("preserveAspectRatio", "xMidYMid meet");
    for (const node of this.nodes()) {
      node.setAttribute("role", "button");
      node.setAttribute("tabindex", "-1");
      node.setAttribute("aria-label", node.querySelector("title").textContent);
    }
    this.place.replaceChildren(this.svg);
    this.place.style.setProperty("--shape", this.whole[3] / this.whole[2]);
    this.choose(this.chosen, { quietly: true });
    this.fit();
    if (hadFocus) this.focused()?.focus();
  }

  nodes() {
    return this.svg ? [...this.svg.querySelectorAll(".node")] : [];
  }

  node(state) {
    return this.nodes().find((node) => Number(node.dataset.state) === state);
  }

  edges() {
    return [...this.svg.querySelectorAll(".edge")];
  }

  /** Light up a path. */
  mark(path) {
    const parts = new Map(path.states.map(({ state, part }) => [String(state), part]));
    for (const node of this.nodes()) {
      node.classList.remove(...PARTS);
      const part = parts.get(node.dataset.state);
      if (part) node.classList.add(part);
    }
    const taken = new Set(path.edges.map((edge) => edge.join("-")));
    for (const edge of this.edges())
      edge.classList.toggle("taken", taken.has(`${edge.dataset.source}-${edge.dataset.target}`));
    this.svg.classList.toggle("lit", path.states.length > 0);
  }

  /** Point out some states; says which of them are in the drawing. */
  search(states) {
    const hits = [];
    this.svg.classList.toggle("searching", states !== null);
    for (const node of this.nodes()) {
      const hit = states?.has(Number(node.dataset.state)) ?? false;
      node.classList.toggle("hit", hit);
      if (hit) hits.push(Number(node.dataset.state));
    }
    return hits;
  }

  /** Choose a state, or none: its edges stand out and keys start from it. */
  choose(state, { quietly = false } = {}) {
    this.chosen = state;
    for (const node of this.nodes()) {
      const here = Number(node.dataset.state) === state;
      node.classList.toggle("chosen", here);
      node.setAttribute("aria-pressed", here);
      node.setAttribute("tabindex", "-1");
    }
    (this.node(state) ?? this.nodes()[0])?.setAttribute("tabindex", "0");
    this.touch(state);
    if (!quietly) this.onChoose(state);
  }

  touch(state) {
    if (!this.svg) return;
    for (const edge of this.edges()) {
      const ends = [Number(edge.dataset.source), Number(edge.dataset.target)];
      edge.classList.toggle("touching", ends.includes(state));
    }
  }

  focused() {
    return this.svg.querySelector('.node[tabindex="0"]');
  }

  /** Bring a state into the middle if it is not to be seen. */
  reveal(state) {
    const box = this.node(state)?.querySelector(".box");
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
    const inside = view[2] < this.whole[2] * 0.99 || view[3] < this.whole[3] * 0.99;
    this.svg.classList.toggle("zoomed", inside);
    this.onMove();
  }

  /** See all of it; of what is far higher than the screen, the beginning in full width. */
  fit() {
    this.look(this.fitting());
  }

  fitting() {
    const [left, top, width, height] = this.whole;
    const high = (width * this.place.clientHeight) / (this.place.clientWidth || 1);
    return height > 1.5 * high ? [left, top, width, high] : [left, top, width, height];
  }

  get moved() {
    const fitting = this.fitting();
    return this.view.some((value, at) => Math.abs(value - fitting[at]) > 0.5);
  }

  /** Zoom about a point of the drawing, by default its middle. */
  zoom(factor, about) {
    const [left, top, width, height] = this.view;
    const [x, y] = about ?? [left + width / 2, top + height / 2];
    const least = this.whole[2] / CLOSEST;
    const wide = Math.min(this.whole[2] * 1.5, Math.max(least, width / factor));
    const scale = wide / width;
    this.look([x - (x - left) * scale, y - (y - top) * scale, wide, height * scale]);
  }

  pan(right, down) {
    const [left, top, width, height] = this.view;
    this.look([left + right * width, top + down * height, width, height]);
  }

  point(event) {
    const matrix = this.svg.getScreenCTM().inverse();
    const point = new DOMPoint(event.clientX, event.clientY).matrixTransform(matrix);
    return [point.x, point.y];
  }

  // --- what people do -------------------------------------------------------------------------

  listen() {
    const state = (event) => {
      const node = event.target.closest(".node");
      return node ? Number(node.dataset.state) : null;
    };
    this.place.addEventListener("pointerover", (event) => {
      const here = state(event);
      if (here === null || event.pointerType === "touch") return;
      this.touch(here);
      this.onState(here);
    });
    this.place.addEventListener("pointerleave", () => {
      this.touch(this.chosen);
      this.onState(this.chosen);
    });
    this.place.addEventListener("focusin", (event) => {
      const here = state(event);
      this.reveal(here);
      this.touch(here);
      this.onState(here);
    });
    this.place.addEventListener("click", (event) => {
      if (this.dragged) return;
      const here = state(event);
      this.choose(here === this.chosen ? null : here);
    });
    this.place.addEventListener("keydown", (event) => this.key(event, state(event)));
    this.place.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    this.place.addEventListener("pointerdown", (event) => this.press(event));
    this.place.addEventListener("pointermove", (event) => this.drag(event));
    for (const end of ["pointerup", "pointercancel"])
      this.place.addEventListener(end, (event) => this.release(event));
  }

  key(event, here) {
    const steps = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };
    const actions = {
      Enter: () => this.choose(here === this.chosen ? null : here),
      " ": () => this.choose(here === this.chosen ? null : here),
      "+": () => this.zoom(STEP),
      "=": () => this.zoom(STEP),
      "-": () => this.zoom(1 / STEP),
      0: () => this.fit(),
      Escape: () => this.choose(null),
    };
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key in steps) {
      const nodes = this.nodes();
      const at = nodes.findIndex((node) => Number(node.dataset.state) === here);
      const next = nodes[Math.min(nodes.length - 1, Math.max(0, at + steps[event.key]))];
      for (const node of nodes) node.setAttribute("tabindex", node === next ? "0" : "-1");
      next.focus();
    } else if (event.key in actions) actions[event.key]();
    else return;
    event.preventDefault();
  }

  /** The wheel zooms with Ctrl (a pinch on touch pads); alone it scrolls the page. */
  wheel(event) {
    if (!event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    this.zoom(Math.exp(-event.deltaY / 300), this.point(event));
  }

  press(event) {
    this.pointers.set(event.pointerId, event);
    this.dragged = false;
    this.from = { view: [...this.view], gap: this.gap() };
  }

  gap() {
    const [one, other] = [...this.pointers.values()];
    return other ? Math.hypot(one.clientX - other.clientX, one.clientY - other.clientY) : 0;
  }

  drag(event) {
    const before = this.pointers.get(event.pointerId);
    if (!before) return;
    this.pointers.set(event.pointerId, event);
    if (this.pointers.size === 2) {
      const gap = this.gap();
      if (this.from.gap > 0 && gap > 0) this.zoom(gap / this.from.gap, this.point(event));
      this.from.gap = gap;
      this.dragged = true;
      return;
    }
    const scale = this.svg.getScreenCTM().a;
    const [right, down] = [event.clientX - before.clientX, event.clientY - before.clientY];
    if (!this.dragged && Math.hypot(right, down) < 4) {
      this.pointers.set(event.pointerId, before);
      return;
    }
    this.dragged = true;
    this.place.setPointerCapture(event.pointerId);
    this.svg.classList.add("dragging");
    const [left, top, width, height] = this.view;
    this.look([left - right / scale, top - down / scale, width, height]);
  }

  release(event) {
    this.pointers.delete(event.pointerId);
    this.svg.classList.remove("dragging");
    // The click that follows belongs to the drag.
    if (this.dragged) setTimeout(() => (this.dragged = false), 50);
  }
}

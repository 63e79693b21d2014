// Below the telling: the outline, which never moves, and the states that it can be split into.

import { ask, askFile, get, scriptPath } from "./api.js";
import { showBond, showHint, showState, showStep, showWay } from "./details.js";
import { announce, byId, cut, keep, make, percent } from "./dom.js";
import { Drawing } from "./drawing.js";
import { OutlineView } from "./outline.js";
import { shownTheme } from "./theme.js";

const SHARES = [0, 0.005, 0.01, 0.02, 0.03, 0.05, 0.08, 0.12, 0.2, 0.3, 0.5];
const MAIN = 0.25; // share of what a state tells that is mainly what it tells
const NARROW = 360; // pixels of an outline on a phone
export const narrow = matchMedia("(width < 700px)");

export class Pictures {
  /** `state` is the page's; `remember` writes into it, `attempt` says what fails. */
  constructor({ page, remember, attempt, onStates }) {
    Object.assign(this, { page, remember, attempt, onStates });
    this.answer = null;
    this.outline = null; // what is known of the outline
    const onMove = (view) => {
      if (page.loading || view !== this.shown) return;
      remember({ box: view.moved ? view.view.map(Math.round).join(",") : "" });
    };
    this.steps = new OutlineView(byId("outline"), {
      onLook: (step) => this.tellStep(step),
      onChoose: (step) => {
        remember({ step: step === null ? "" : String(step) });
        this.tellStep(step);
        announce("step-chosen", { step, name: this.outline.steps[step]?.name });
      },
      onEdge: (before, after) => {
        showBond(this.outline, before, after);
        const name = (steps) => this.outline.steps[steps[0]]?.name;
        announce("edge-chosen", { after: name(before), before: name(after) });
      },
      onMove,
    });
    this.states = new Drawing(byId("drawing"), {
      onLook: (state) => this.tellState(state),
      onChoose: (state) => {
        remember({ state: state === null ? "" : String(state) });
        this.tellState(state);
      },
      onEdge: ([source], [target]) => showWay(this.page.script, source, target),
      onMove,
    });
    this.listen();
  }

  get split() {
    return this.page.state.states === "1";
  }

  get shown() {
    return this.split ? this.states : this.steps;
  }

  tellStep(step) {
    showStep(this.outline, step, this.answer, (other) => this.go(other));
  }

  tellState(state) {
    showState(this.page.script, state, (other) => this.go(other));
  }

  // --- what is drawn ----------------------------------------------------------------------------

  /** Draw the outline of another script, or for another shape of the window. */
  async load() {
    const path = `${scriptPath(this.page.script.id)}/outline`;
    this.outline = await get(narrow.matches ? `${path}?width=${NARROW}` : path);
    this.steps.chosen = null;
    this.states.chosen = null;
    this.states.svg = null;
    this.steps.show(this.outline.svg);
    this.steps.names = this.outline.steps.map((step) => step.name);
    byId("events").replaceChildren(
      ...this.outline.steps.slice(0, 500).map((step) => make("option", { value: cut(step.name) })),
    );
    showHint();
  }

  /** Bring back what a link says: outline or states, what was chosen, sought and looked at. */
  async restore() {
    const { state, step, search, box } = this.page.state;
    byId("search").value = search;
    await this.showSplit();
    const [view, chosen, most] = this.split
      ? [this.states, state, this.page.script.states.length]
      : [this.steps, step, this.outline.steps.length];
    const number = /^\d+$/.test(chosen) && Number(chosen) < most ? Number(chosen) : null;
    view.choose(number, { quietly: true });
    view.onLook(number);
    const wanted = box.split(",").map(Number);
    if (wanted.length === 4 && wanted.every(Number.isFinite) && wanted[2] > 0 && wanted[3] > 0)
      view.look(wanted);
  }

  async showSplit() {
    byId("split").textContent = this.split ? "Back to the outline" : "Split into states";
    byId("outline").hidden = this.split;
    byId("drawing").hidden = !this.split;
    byId("hiding").hidden = !this.split;
    byId("drawing-title").textContent = this.split ? "The states of the script" : "What usually happens";
    byId("reading").textContent = this.split ? STATES : OUTLINE;
    if (this.split && !this.states.svg) await this.drawStates();
    this.find();
  }

  /** Draw the states for another threshold; they do not move with the telling either. */
  async drawStates() {
    const { min_share: share } = this.page.state;
    const value = Number(share);
    const found = await ask(`${scriptPath(this.page.script.id)}/drawing`, {
      min_share: share !== "" && value >= 0 && value <= 1 ? value : null,
      direction: narrow.matches ? "TB" : "LR",
    });
    this.states.show(found.svg);
    this.showShare(found);
    this.find();
    this.mark(this.answer, this.said);
  }

  showShare({ min_share: share, hidden_states: states, hidden_edges: edges }) {
    const slider = byId("min-share");
    const nearest = SHARES.reduce(
      (best, value, at) => (Math.abs(value - share) < Math.abs(SHARES[best] - share) ? at : best),
      0,
    );
    if (document.activeElement !== slider) slider.value = nearest;
    const digits = share > 0 && share < 0.02 ? 1 : 0;
    byId("min-share-shown").textContent = `${(100 * share).toFixed(digits)}%`;
    byId("min-share-shown").title = `${states} states and ${edges} edges are hidden`;
    slider.setAttribute("aria-valuetext", `${percent(share)} of courses`);
  }

  /** Show an answer in the drawing; `until` leaves out what comes after so many lines. */
  mark(answer, said, until) {
    const isOther = answer !== this.answer;
    this.answer = answer;
    this.said = said;
    if (!answer) return;
    if (this.steps.svg) this.steps.mark(answer, said, until);
    if (this.states.svg && answer.path) this.states.mark(answer.path);
    const details = byId("details");
    if (isOther && details.dataset.step && !details.contains(document.activeElement))
      this.tellStep(Number(details.dataset.step));
  }

  // --- finding ----------------------------------------------------------------------------------

  /** Go to another step or state, if need be by showing more of them. */
  go(number) {
    const view = this.shown;
    if (!view.find(number) && this.split)
      return this.attempt(async () => {
        this.remember({ min_share: String(Math.min(this.page.script.states[number].chance, 1)) });
        await this.drawStates();
        view.choose(number);
      });
    view.choose(number);
    view.reveal(number);
    return undefined;
  }

  find() {
    const text = byId("search").value.trim().toLowerCase();
    this.remember({ search: byId("search").value.trim() });
    if (!this.shown.svg) return null;
    if (!text) {
      this.shown.search(null);
      byId("found").textContent = "";
      return null;
    }
    const found = this.split ? this.mainly(text) : this.worded(text);
    const hits = this.shown.search(new Set(found));
    const hidden = found.length - hits.length;
    const also = hidden ? `, and ${hidden} that ${hidden === 1 ? "is" : "are"} not drawn` : "";
    byId("found").textContent = found.length
      ? `${hits.length} ${hits.length === 1 ? "step is" : "steps are"} told like this${also}.`
      : "No step is told like this.";
    return hits[0] ?? found[0] ?? null;
  }

  /** States that mainly tell something like this. */
  mainly(text) {
    return this.page.script.states
      .filter(({ name, events }) =>
        [name, ...events.filter((one) => one.probability >= MAIN).map((one) => one.event)].some(
          (event) => event.toLowerCase().includes(text),
        ),
      )
      .map(({ state }) => state);
  }

  worded(text) {
    return this.outline.steps
      .filter(({ name, wording }) => [name, ...wording].some((said) => said.toLowerCase().includes(text)))
      .map(({ step }) => step);
  }

  // --- what people do ---------------------------------------------------------------------------

  listen() {
    const click = (id, action) => byId(id).addEventListener("click", action);
    click("zoom-in", () => this.shown.zoom(1.4));
    click("zoom-out", () => this.shown.zoom(1 / 1.4));
    click("zoom-fit", () => this.shown.fit());
    click("split", () => this.turn());
    click("pin", () => {
      const pinned = byId("drawings").classList.toggle("pinned");
      byId("pin").setAttribute("aria-pressed", pinned);
    });
    for (const kind of ["svg", "png"]) click(`save-${kind}`, () => this.save(kind));
    document.addEventListener("elision:thinned", ({ detail }) => this.steps.thin(detail.steps));
    byId("search").addEventListener("input", () => this.find());
    byId("search").addEventListener("keydown", (event) => {
      if (event.key !== "Enter") return;
      const first = this.find();
      if (first !== null) this.go(first);
    });
    byId("min-share").addEventListener("input", (event) => {
      this.remember({ min_share: String(SHARES[event.target.value]), box: "" });
      this.attempt(() => this.drawStates());
    });
  }

  /** Open the states, or go back to the outline. */
  turn() {
    this.remember({ states: this.split ? "" : "1", box: "" });
    return this.attempt(async () => {
      await this.showSplit();
      this.shown.onLook(this.shown.chosen);
      this.shown.fit();
      await this.onStates();
    });
  }

  save(kind) {
    return this.attempt(async () => {
      const { script, state } = this.page;
      const { min_share: share } = state;
      const question = {
        telling: this.page.lines(),
        theme: shownTheme(),
        direction: narrow.matches ? "TB" : "LR",
        min_share: share === "" ? null : Number(share),
      };
      const path = this.split ? "drawing" : "outline";
      const sharing = {
        telling: this.page.lines(),
        theme: shownTheme(),
        finished: this.page.finished(),
        min_probability: this.said,
      };
      const asked = this.split ? question : sharing;
      keep(await askFile(`${scriptPath(script.id)}/${path}.${kind}`, asked), `${script.id}.${kind}`);
    });
  }
}

const OUTLINE =
  "The steps in their usual order. Blue: told above. Amber: probably done, but not told, by the same numbers. The small bars: how many tellings mention a step.";
const STATES =
  "The states of the script that was learned: thick lines are common ways; the more broken a border, the more often a state is passed without a word. The likeliest way of the telling is lit.";

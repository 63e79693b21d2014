// The outline below the telling: laid out once. A telling changes the ink of its steps, never their places.

import { askFile, get, scriptPath } from "./api.js";
import { showBond, showHint, showStep } from "./details.js";
import { announce, byId, chance, cut, keep, make } from "./dom.js";
import { shownTheme } from "./theme.js";
import { Viewport } from "./viewport.js";

const SVG = "http://www.w3.org/2000/svg";
const PARTS = ["told", "unsaid", "astray", "denied"];
const NARROW = 360; // pixels of an outline on a phone
export const narrow = matchMedia("(width < 700px)");

export class Outline extends Viewport {
  /** `page` is the page; `remember` writes into its state, `attempt` says what fails. */
  constructor({ page, remember, attempt }) {
    super(byId("outline"), {
      kind: "step",
      things: ".step[data-step]",
      lines: ".link",
      onLook: (step) => this.tell(step),
      onChoose: (step) => {
        remember({ step: step === null ? "" : String(step) });
        this.tell(step);
        announce("step-chosen", { step, name: this.steps[step]?.name });
      },
      onEdge: (before, after) => {
        showBond(this.known, before, after);
        const name = (steps) => this.steps[steps[0]]?.name;
        announce("edge-chosen", { after: name(before), before: name(after) });
      },
      onMove: () => {
        if (!page.loading) remember({ box: this.moved ? this.view.map(Math.round).join(",") : "" });
      },
    });
    Object.assign(this, { page, remember, attempt });
    this.answer = null;
    this.known = null; // what the server says of the outline
    this.offer();
  }

  get steps() {
    return this.known.steps;
  }

  tell(step) {
    showStep(this.known, step, this.answer, (other) => this.go(other));
  }

  // --- what is drawn ----------------------------------------------------------------------------

  /** Draw the outline of another script, or for another shape of the window. */
  async load() {
    const path = `${scriptPath(this.page.script.id)}/outline`;
    this.known = await get(narrow.matches ? `${path}?width=${NARROW}` : path);
    this.chosen = null;
    this.show(this.known.svg);
    for (const step of this.all()) {
      step.spoken = step.getAttribute("aria-label");
      step.mark = marking(step);
    }
    this.notes = [...this.svg.querySelectorAll(".note")];
    byId("events").replaceChildren(
      ...this.steps.slice(0, 500).map((step) => make("option", { value: cut(step.name) })),
    );
    showHint();
  }

  /** Bring back what a link says: what was chosen, sought and looked at. */
  restore() {
    const { step, search, box } = this.page.state;
    byId("search").value = search;
    this.seek();
    const number = /^\d+$/.test(step) && Number(step) < this.steps.length ? Number(step) : null;
    this.choose(number, { quietly: true });
    this.tell(number);
    const wanted = box.split(",").map(Number);
    if (wanted.length === 4 && wanted.every(Number.isFinite) && wanted[2] > 0 && wanted[3] > 0)
      this.look(wanted);
  }

  /** Show what an answer says of each step; `until` leaves out what comes after so many lines. */
  mark(answer, threshold, until = Infinity) {
    const isOther = answer !== this.answer;
    Object.assign(this, { answer, threshold });
    if (!answer || !this.svg) return;
    const steps = new Map(answer.steps.map((one) => [one.step, partOf(answer, one, threshold, until)]));
    for (const thing of this.all()) ink(thing, steps.get(this.number(thing)));
    for (const note of this.notes) {
      const parts = this.listed(note, "steps").map((step) => steps.get(step)?.part);
      for (const part of PARTS) note.classList.toggle(part, parts.includes(part));
    }
    this.svg.classList.toggle("lit", answer.lines.some((line) => line.heard.length));
    const details = byId("details");
    if (isOther && details.dataset.step && !details.contains(document.activeElement))
      this.tell(Number(details.dataset.step));
  }

  /** Fade the steps that are not among these. */
  thin(names) {
    for (const thing of this.all())
      thing.classList.toggle("thinned", !names.includes(this.steps[this.number(thing)].name));
  }

  // --- what people do ---------------------------------------------------------------------------

  /** Go to another step. */
  go(step) {
    this.choose(step);
    this.reveal(step);
  }

  /** Point out the steps that are told like what is sought; returns the first. */
  seek() {
    if (!this.svg) return null;
    const sought = byId("search").value.trim();
    this.remember({ search: sought });
    if (!sought) {
      this.search(null);
      byId("found").textContent = "";
      return null;
    }
    const like = (said) => said.toLowerCase().includes(sought.toLowerCase());
    const found = this.steps.filter(({ name, wording }) => [name, ...wording].some(like));
    const hits = this.search(new Set(found.map(({ step }) => step)));
    byId("found").textContent = hits.length
      ? `${hits.length} ${hits.length === 1 ? "step is" : "steps are"} told like this.`
      : "No step is told like this.";
    return hits[0] ?? null;
  }

  /** Listen to what stands around the drawing. */
  offer() {
    const click = (id, action) => byId(id).addEventListener("click", action);
    click("zoom-in", () => this.zoom(1.4));
    click("zoom-out", () => this.zoom(1 / 1.4));
    click("zoom-fit", () => this.fit());
    click("pin", () => {
      const pinned = byId("drawings").classList.toggle("pinned");
      byId("pin").setAttribute("aria-pressed", pinned);
    });
    for (const kind of ["svg", "png"]) click(`save-${kind}`, () => this.save(kind));
    document.addEventListener("elision:thinned", ({ detail }) => this.thin(detail.steps));
    byId("search").addEventListener("input", () => this.seek());
    byId("search").addEventListener("keydown", (event) => {
      const first = event.key === "Enter" ? this.seek() : null;
      if (first !== null) this.go(first);
    });
  }

  save(kind) {
    return this.attempt(async () => {
      const { id } = this.page.script;
      const question = {
        telling: this.page.lines(),
        theme: shownTheme(),
        finished: this.page.finished(),
        min_probability: this.threshold,
      };
      keep(await askFile(`${scriptPath(id)}/outline.${kind}`, question), `${id}.${kind}`);
    });
  }
}

function ink(thing, found) {
  thing.classList.remove(...PARTS);
  if (found?.part) thing.classList.add(found.part);
  thing.style.setProperty("--share", found?.share ?? 0);
  thing.mark.textContent = found?.text ?? "";
  thing.setAttribute("aria-label", found?.text ? `${thing.spoken}\n${found.text}` : thing.spoken);
}

/** What a step is for a telling, and in which words. */
function partOf(answer, { step, lines, denied, unsaid, astray }, threshold, until) {
  const told = lines.filter((line) => line < until);
  if (told.length) {
    const where = told.slice(0, 3).map((line) => line + 1);
    const text = `line${where.length > 1 ? "s" : ""} ${where.join(", ")}${told.length > 3 ? ", …" : ""}`;
    return { part: astray ? "astray" : "told", share: 1, text: astray ? `odd: ${text}` : text };
  }
  if (denied.some((line) => line < until)) return { part: "denied", share: 0, text: "not done" };
  const place = answer.gaps.findIndex((gap) => gap.steps.includes(step));
  if (lines.length || unsaid < threshold || place >= until) return { part: null };
  return { part: "unsaid", share: unsaid, text: `unsaid ${chance(unsaid)}` };
}

/** Room for a few words at the foot of a step's box. */
function marking(step) {
  const inside = step.querySelector("svg");
  const texts = [...inside.querySelectorAll("text")];
  const foot = texts.find((text) => !text.classList.contains("name")) ?? texts.at(-1);
  const text = document.createElementNS(SVG, "text");
  text.setAttribute("class", "note mark");
  text.setAttribute("x", texts[0]?.getAttribute("x") ?? "8");
  text.setAttribute("y", foot?.getAttribute("y") ?? "12");
  inside.append(text);
  return text;
}

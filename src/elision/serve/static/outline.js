// The outline: laid out once. A telling changes the ink of its steps, never their places.

import { chance } from "./dom.js";
import { Viewport } from "./viewport.js";

const SVG = "http://www.w3.org/2000/svg";
const PARTS = ["told", "unsaid", "astray", "denied"];

export class OutlineView extends Viewport {
  constructor(place, hears) {
    super(place, { kind: "step", things: ".step[data-step]", lines: ".link", ...hears });
  }

  show(text) {
    super.show(text);
    for (const step of this.all()) {
      step.spoken = step.getAttribute("aria-label");
      step.mark = marking(step);
    }
    this.notes = [...this.svg.querySelectorAll(".note")];
  }

  /** Show what an answer says of each step; `until` leaves out what comes after so many lines. */
  mark(answer, threshold, until = Infinity) {
    const steps = new Map(answer.steps.map((one) => [one.step, partOf(answer, one, threshold, until)]));
    for (const thing of this.all()) {
      const found = steps.get(this.number(thing));
      this.put(thing, found);
    }
    for (const note of this.notes) {
      const parts = this.listed(note, "steps").map((step) => steps.get(step)?.part);
      for (const part of PARTS) note.classList.toggle(part, parts.includes(part));
    }
    const any = answer.lines.some((line) => line.heard.length);
    this.svg.classList.toggle("lit", any);
  }

  /** Fade the steps that are not among these. */
  thin(names) {
    for (const thing of this.all())
      thing.classList.toggle("thinned", !names.includes(this.names[this.number(thing)]));
  }

  put(thing, found) {
    thing.classList.remove(...PARTS);
    if (found?.part) thing.classList.add(found.part);
    thing.style.setProperty("--share", found?.share ?? 0);
    thing.mark.textContent = found?.text ?? "";
    thing.setAttribute("aria-label", found?.text ? `${thing.spoken}\n${found.text}` : thing.spoken);
  }
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

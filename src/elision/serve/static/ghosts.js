// What was left out, in words: one ghost line in a gap, as dark as it is probable, or a thin tick.

import { chance, cut, make, named } from "./dom.js";

const LISTED = 0.05; // steps of a gap less probable than this are not named
const TICK = 0.1; // gaps less probable than this have no tick
const NAMED = 4;
const PROBABLE = 0.5; // steps more probable than this are never folded away
const WORDS = [
  { word: "surely", threshold: 0.95, last: " and " },
  { word: "probably", threshold: PROBABLE, last: " and " },
  { word: "perhaps", threshold: 0, last: " or " },
];
const NEXT = 0.25; // share of the likeliest next event that is worth the word
const PALEST = 0.84; // paler is not legible

/** How dark what is so probable is drawn; it stays legible. */
const ink = (share) => ({
  "--ink": (PALEST + (1 - PALEST) * share).toFixed(3),
  "--weight": Math.round(350 + 350 * share),
});

/** Steps of a gap that are named at a threshold: those above it, or else the likeliest one. */
export function namedSteps(gap, answer, threshold) {
  const above = gap.steps.filter((step) => answer.steps[step].unsaid >= threshold);
  if (above.length) return above;
  return likeliest(gap, answer) === null ? [] : [likeliest(gap, answer)];
}

/** The likeliest step of a gap, null if there is none. */
export function likeliest(gap, answer) {
  return gap.steps.reduce(
    (best, step) =>
      best === null || answer.steps[step].unsaid > answer.steps[best].unsaid ? step : best,
    null,
  );
}

/** Whether a gap is spoken of at a threshold. */
export const isSaid = (gap, threshold) => gap.steps.length > 0 && gap.something >= threshold;

/** What stands in a gap: a ghost line, a tick that opens, or nothing. */
export function gapContent({ gap, answer, steps, threshold, open, onTake, onToggle }) {
  const flags = gap.flags.map((flag) =>
    make("span", { class: "flag" }, named(flag.event), `: ${flag.note}`),
  );
  if (!gap.steps.length || (gap.something < TICK && !isSaid(gap, threshold))) return flags;
  if (!isSaid(gap, threshold) && !open) return [tick(gap, onToggle), ...flags];
  const every = gap.steps.filter((step) => answer.steps[step].unsaid >= LISTED);
  const chosen = open ? every : shortened(namedSteps(gap, answer, threshold), answer);
  const rest = every.filter((step) => !chosen.includes(step)).length;
  const words = worded(chosen, answer, (step, share, sure) =>
    taken(steps[step], share, onTake, { number: !sure }),
  );
  const lead = `something was left out here (${chance(gap.something)}): `;
  const more = rest || open ? toggle(open, rest, gap, threshold, onToggle) : null;
  return [make("span", { class: "ghost", ...ink(gap.something) }, lead, ...words, more), ...flags];
}

/** Steps that are named: all above even odds, and some of the others. */
function shortened(steps, answer) {
  const others = steps.filter((step) => answer.steps[step].unsaid < PROBABLE).slice(NAMED);
  return steps.filter((step) => !others.includes(step));
}

/** "surely this and that; probably this (72%); perhaps this (11%) or that (9%)". */
function worded(steps, answer, show) {
  const share = (step) => answer.steps[step].unsaid;
  return WORDS.map(({ word, threshold, last }, at) => {
    const most = WORDS[at - 1]?.threshold ?? Infinity;
    const here = steps.filter((step) => share(step) >= threshold && share(step) < most);
    const shown = here.map((step) => show(step, share(step), word === "surely"));
    return here.length ? [`${word} `, ...joined(shown, last)] : [];
  })
    .filter((part) => part.length)
    .flatMap((part, at) => (at ? ["; ", ...part] : part));
}

/** What probably comes next, as a ghost line below the last one. */
export function nextContent({ answer, offered, onTake }) {
  if (answer.ended >= 0.5) return ["nothing more, probably; is that all?"];
  const words = offered.slice(0, 3).map(({ event, words: said, probability }) =>
    taken({ event, words: said }, probability, () => onTake(event, said)),
  );
  const lead = offered[0]?.probability >= NEXT ? "next, probably " : "next, perhaps ";
  return words.length ? [lead, ...joined(words, " or ")] : [];
}

function taken(step, share, onTake, { number = true } = {}) {
  return make(
    "button",
    {
      type: "button",
      class: "take",
      ...ink(share),
      title: "Put this line in",
      "data-step": step.step,
      onclick: () => onTake(step),
    },
    named(cut(step.words, 80)),
    make("span", { class: number ? "odds" : "unseen" }, " (", shown(share), ")"),
  );
}

const shown = (share) => make("span", { class: "share" }, chance(share));

function joined(words, last) {
  return words.flatMap((word, at) =>
    at === 0 ? [word] : [at === words.length - 1 ? last : ", ", word],
  );
}

function tick(gap, onToggle) {
  const text = `Something may have been left out here (${chance(gap.something)})`;
  return make(
    "button",
    { type: "button", class: "tick", "aria-label": text, title: text, onclick: onToggle },
    make("span", { "aria-hidden": "true" }),
  );
}

function toggle(open, rest, gap, threshold, onToggle) {
  const text = open ? (isSaid(gap, threshold) ? "fewer" : "hide") : `${rest} more`;
  return make(
    "button",
    { type: "button", class: "more", "aria-expanded": String(open), onclick: onToggle },
    text,
  );
}

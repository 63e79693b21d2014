// The page: what is shown, and what happens when something changes.

import { ask, askFile, get, isAborted, scriptPath } from "./api.js";
import { announce, byId, chance, complain, cut, keep, make } from "./dom.js";
import { isSaid, namedSteps } from "./ghosts.js";
import { Learning } from "./learning.js";
import { readLink, writeLink, writeSoon } from "./link.js";
import { Outline, narrow } from "./outline.js";
import { onUndoKey } from "./past.js";
import { Player } from "./play.js";
import { copyAddress, startSharing } from "./share.js";
import { loadScripts, showScripts, showWhich } from "./shelf.js";
import { Telling } from "./telling.js";
import { Tellings } from "./tellings.js";
import { startTheme } from "./theme.js";

const VIEWS = ["explore", "scripts", "learn"];
const PAUSE = 5; // milliseconds between two keys within which nothing is asked
const PATIENCE = 150; // after which the page says that it is at work
const REST = 500; // without a key, after which a line counts as written, and other scripts are asked

const page = {
  scripts: [],
  script: null, // what is known of the one that is shown
  state: readLink(),
  asking: null,
  isExample: false, // whether the telling is one that the page brought itself
  lines: () => telling.lines.slice(0, 100),
  finished: () => telling.finished,
};

const telling = new Telling({
  onChange: ({ quietly = false } = {}) => {
    if (!quietly) {
      page.isExample = false;
      player.stop();
      rememberTelling();
    }
    clearTimeout(page.waiting);
    page.waiting = setTimeout(restore, PAUSE);
  },
  onShow: () => outline.mark(telling.answer, telling.threshold),
});
const outline = new Outline({ page, remember, attempt });
const player = new Player({ onFrame: showFrame, onEnd: endPlay });
new Learning({
  onLearned: addLearned,
  // Another script begins with an example of its own.
  onOpen: (id) => openScript(id, id === page.script?.id ? {} : { telling: "", done: "" }),
  onView: () => page.state.view !== "learn" && openView("learn"),
});
const tellings = new Tellings(byId("tellings"), {
  read: () => page.state.rows,
  write: (rows) => remember({ rows }),
});

function remember(changes) {
  Object.assign(page.state, changes);
  if (!page.loading) writeSoon(page.state);
}

function rememberTelling() {
  const { text, finished } = telling;
  remember({ telling: page.isExample ? "" : text, done: finished && !page.isExample ? "1" : "" });
}

/** Go to another state of the page, from which the browser's back button leads to this one. */
function turnTo(changes) {
  writeLink(page.state);
  Object.assign(page.state, changes);
  writeLink(page.state, { entry: true });
}

/** Do something that may fail for a reason that the person should know. */
async function attempt(action) {
  complain("");
  try {
    await action();
  } catch (error) {
    if (!isAborted(error)) complain(error.message);
  }
}

// --- views ------------------------------------------------------------------------------------

async function showView() {
  const { view } = page.state;
  for (const name of VIEWS) byId(name).hidden = name !== view;
  for (const link of document.querySelectorAll("nav a"))
    if (link.dataset.view === view) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  if (view === "explore") telling.grow();
  if (view === "scripts") await showScripts(page.scripts, page.state.telling, openScript);
}

function openView(view) {
  turnTo({ view });
  return attempt(showView);
}

async function addLearned(id) {
  page.scripts = await loadScripts();
  return page.scripts.find((one) => one.id === id);
}

function openScript(id, changes = {}) {
  const anew = { step: "", search: "", box: "", rows: "" };
  turnTo({ view: "explore", script: id, ...anew, ...changes });
  return attempt(load);
}

/** Bring the page to the state that the link says. */
async function load() {
  page.loading = true;
  try {
    const { script } = page.state;
    const known = page.scripts.some((one) => one.id === script);
    page.state.script = known ? script : (page.scripts[0]?.id ?? "");
    if (!VIEWS.includes(page.state.view))
      page.state.view = page.scripts.length ? "explore" : "learn";
    if (page.state.script && page.script?.id !== page.state.script) await loadScript();
    else if (page.state.view === "explore" && !page.script) page.state.view = "learn";
    await showView();
    if (page.script) await bringBack();
    if (script && !known) complain(`There is no script “${cut(script, 60)}” here.`);
  } finally {
    page.loading = false;
  }
  writeLink(page.state);
}

async function loadScript() {
  page.script = await get(scriptPath(page.state.script));
  const { name, summary, sentences, events, examples } = page.script;
  byId("name").replaceChildren(make("bdi", {}, cut(name)));
  document.title = `${cut(name, 60)} – Elision`;
  byId("summary").textContent = summary;
  const kind = sentences ? "sentence" : "event";
  byId("hint").textContent =
    `In solid ink what is told, in amber what was probably left out. Change any line: one ${kind} each, ? for what you do not know. A click puts an amber step in, Ctrl+Z takes it back. Enter goes on to the next line; on the empty last one, that is all.`;
  byId("examples").replaceChildren(
    "Examples:",
    ...examples.map((example) =>
      make("button", { type: "button", onclick: () => tellWhole(example.telling) }, example.title),
    ),
    make("button", { type: "button", onclick: clear }, "Write your own"),
  );
  await outline.load();
  telling.know(outline.steps, events, sentences);
  announce("script-shown", page.script);
}

/** Show the telling of the link, or the script's own example. */
async function bringBack() {
  const { telling: text, done, say } = page.state;
  const share = Number(say);
  const threshold = say !== "" && share >= 0.05 && share <= 0.95 ? share : 0.5;
  byId("say").value = Math.round(100 * (1 - threshold));
  telling.threshold = threshold;
  showLeast();
  const [first] = page.script.examples;
  page.isExample = !text && Boolean(first);
  if (page.isExample) telling.set(first.telling.join("\n"), { finished: true, anew: true });
  else telling.set(text, { finished: done === "1", anew: true });
  await restore();
  outline.restore();
  tellings.bringBack();
}

// --- the telling ------------------------------------------------------------------------------

/** Say in words how much is said. */
function showLeast() {
  const text = `only what is at least ${Math.round(100 * telling.threshold)}% sure`;
  byId("said").textContent = text;
  byId("say").setAttribute("aria-valuetext", text);
}

/** Show a telling that is complete. */
function tellWhole(lines) {
  page.isExample = false;
  telling.set(lines.join("\n"), { finished: true });
  rememberTelling();
  player.stop();
  restore();
}

function clear() {
  page.isExample = false;
  telling.set("");
  telling.go(0);
  rememberTelling();
  restore();
}

/** Ask about the telling as it is now, and forget questions about what it was before. */
async function restore() {
  page.asking?.abort();
  clearTimeout(page.resting);
  if (!telling.finished) byId("verdict").textContent = "";
  const { signal } = (page.asking = new AbortController());
  const late = setTimeout(() => working(true), PATIENCE);
  await attempt(async () => {
    const { finished } = telling;
    const question = { telling: page.lines(), finished };
    const { writing } = telling;
    if (writing !== null && !page.rested && !finished) question.writing = writing;
    const found = await ask(`${scriptPath(page.script.id)}/restore`, question, signal);
    showAnswer(found);
    page.resting = setTimeout(() => rest(signal), REST);
  });
  clearTimeout(late);
  if (!signal.aborted) working(false);
}

/** When nobody has typed for a while, a line counts as written; and is it of another script? */
async function rest(signal) {
  if (telling.writing !== null && telling.answer?.lines[telling.writing]?.kind === "writing") {
    page.rested = true;
    restore().finally(() => (page.rested = false));
    return;
  }
  speak();
  if (page.isExample) return;
  try {
    await showWhich(page.scripts, telling.text, page.script.id, openScript, signal);
  } catch (error) {
    if (!isAborted(error)) complain(error.message); // nobody asked: what was said before stays
  }
}

function working(isAtWork) {
  byId("working").textContent = isAtWork ? "Working …" : "";
  byId("lines").setAttribute("aria-busy", isAtWork);
}

function showAnswer(found) {
  telling.show(found);
  outline.mark(found, telling.threshold);
  byId("lines").dataset.for = telling.text;
  const told = found.lines.some((line) => line.heard.length);
  const button = byId("finish");
  button.disabled = !told;
  button.title = told ? "" : "There is no line yet that the script knows";
  button.textContent = telling.finished ? "Go on writing" : "That is all";
  byId("play").disabled = !told;
  byId("verdict").textContent = found.judged?.summary ?? "";
  byId("verdict").classList.toggle("odd", found.judged?.odd ?? false);
  if (page.isExample) byId("which").replaceChildren();
  announce("telling-shown", { lines: page.lines() });
}

/** Say for those who do not see it what was left out. */
function speak() {
  const { answer, threshold, steps } = telling;
  if (!answer) return; // another one is on its way
  const gaps = answer.gaps.filter((gap) => isSaid(gap, threshold));
  const words = gaps.flatMap((gap) =>
    namedSteps(gap, answer, threshold).map(
      (step) => `${cut(steps[step].words, 60)}, ${chance(answer.steps[step].unsaid)}`,
    ),
  );
  const [best] = answer.next;
  const next = best && !telling.finished ? ` Next, probably ${cut(best.event, 60)}.` : "";
  byId("spoken").textContent = words.length
    ? `Probably left out: ${words.slice(0, 6).join("; ")}.${next}`
    : next.trim();
}

// --- play -------------------------------------------------------------------------------------

/** So many lines have been played: the gap before the next is shown with them. */
function showFrame(shown) {
  byId("play").textContent = "Stop";
  byId("lines").classList.add("playing");
  for (const row of byId("lines").children) {
    const at = Number(row.dataset.gap ?? row.dataset.line) + (row.dataset.gap ? 0 : 0.5);
    row.classList.toggle("played", at < shown);
    if (at < shown && at >= shown - 1) row.scrollIntoView({ block: "nearest" });
  }
  outline.mark(telling.answer, telling.threshold, shown);
}

function endPlay() {
  byId("play").textContent = "Play";
  byId("lines").classList.remove("playing");
  for (const row of byId("lines").children) row.classList.remove("played");
  outline.mark(telling.answer, telling.threshold);
}

// --- files and links --------------------------------------------------------------------------

const saveAnswers = (kind) =>
  attempt(async () => {
    const path = `${scriptPath(page.script.id)}/restore${kind === "csv" ? ".csv" : ""}`;
    const question = { telling: page.lines(), finished: telling.finished };
    keep(await askFile(path, question), `${page.script.id}-answers.${kind}`);
  });

function copyLink() {
  if (page.isExample) remember({ telling: telling.text, done: telling.finished ? "1" : "" });
  writeLink(page.state);
  return copyAddress(byId("copy"));
}

// --- start ------------------------------------------------------------------------------------

function listen() {
  const click = (id, action) => byId(id).addEventListener("click", action);
  for (const link of document.querySelectorAll("nav a"))
    link.addEventListener("click", (event) => {
      event.preventDefault();
      const view = link.dataset.view === "explore" && !page.script ? "learn" : link.dataset.view;
      openView(view);
    });
  click("skip", (event) => {
    event.preventDefault();
    telling.go(0);
  });
  document.addEventListener("elision:load-telling", (event) => {
    event.preventDefault();
    tellWhole(event.detail.lines);
    byId("telling").scrollIntoView({ block: "start" });
  });
  click("finish", () => telling.finish(!telling.finished));
  click("undo", () => telling.undo());
  onUndoKey(() => page.state.view === "explore" && telling.undo());
  click("play", () => (player.playing ? player.stop() : player.play(telling.lines.length + 1)));
  for (const kind of ["json", "csv"]) click(`save-${kind}`, () => saveAnswers(kind));
  click("copy", copyLink);
  startSharing(attempt, () => ({
    script: page.script.id,
    telling: page.lines(),
    finished: telling.finished,
    threshold: telling.threshold,
  }));
  byId("say").addEventListener("input", (event) => {
    const threshold = 1 - event.target.value / 100;
    remember({ say: threshold === 0.5 ? "" : threshold.toFixed(2) });
    telling.say(threshold);
    showLeast();
    outline.mark(telling.answer, threshold);
  });
  narrow.addEventListener("change", () => page.script && attempt(reshape));
  window.addEventListener("popstate", () => {
    page.state = readLink();
    attempt(load);
  });
}

/** Draw for another shape of the window. */
async function reshape() {
  await outline.load();
  outline.restore();
  outline.mark(telling.answer, telling.threshold);
}

startTheme();
listen();
await attempt(async () => {
  page.scripts = await loadScripts();
  await load();
});
document.body.dataset.ready = "true";

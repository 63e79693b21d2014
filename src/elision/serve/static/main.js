// The page: what is shown, and what happens when something changes.

import { ask, askFile, get, isAborted, scriptPath } from "./api.js";
import { showDetails } from "./details.js";
import { byId, complain, cut, keep, make, percent } from "./dom.js";
import { Drawing } from "./drawing.js";
import { Learning } from "./learning.js";
import { readLink, writeLink, writeSoon } from "./link.js";
import { loadScripts, showScripts, showWhich } from "./shelf.js";
import { showStory } from "./story.js";
import { Telling } from "./telling.js";
import { Tellings, fillField } from "./tellings.js";
import { shownTheme, startTheme } from "./theme.js";

const VIEWS = ["explore", "scripts", "learn"];
const LEAST = [0, 0.005, 0.01, 0.02, 0.03, 0.05, 0.08, 0.12, 0.2, 0.3, 0.5];
const PAUSE = 10; // milliseconds between two keys within which nothing is asked
const narrow = matchMedia("(width < 700px)");

const page = {
  scripts: [],
  script: null, // what is known of the one that is shown
  state: readLink(),
  plain: null, // the drawing without a telling
  shown: null, // that one, or the one that was drawn for the telling
  asking: null,
};

const drawing = new Drawing(byId("drawing"), {
  onState: (state) => showDetails(page.script, state, goTo),
  onChoose: (state) => {
    remember({ state: state === null ? "" : String(state) });
    showDetails(page.script, state, goTo);
    const detail = { step: state, name: page.script.states[state]?.name };
    document.dispatchEvent(new CustomEvent("elision:step-chosen", { detail }));
  },
  onMove: () => remember({ box: drawing.moved ? drawing.view.map(Math.round).join(",") : "" }),
});
const telling = new Telling(() => {
  remember({ telling: telling.text.trim() ? telling.text : "" });
  clearTimeout(page.waiting);
  page.waiting = setTimeout(explain, PAUSE);
});
new Learning({
  onLearned: addLearned,
  onOpen: openScript,
  onView: () => page.state.view !== "learn" && openView("learn"),
});
new Tellings(byId("tellings"));
fillField();

function remember(changes) {
  Object.assign(page.state, changes);
  if (!page.loading) writeSoon(page.state);
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

function openScript(id) {
  turnTo({ view: "explore", script: id, state: "", search: "", box: "", least: "" });
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
    if (page.script) await restore();
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
  byId("telling-hint").textContent =
    `One ${sentences ? "sentence or event" : "event"} a line; ? where you do not know what happened.`;
  byId("events").replaceChildren(
    ...events.slice(0, 500).map((event) => make("option", { value: cut(event) })),
  );
  telling.events = events;
  byId("examples").replaceChildren(
    "Examples:",
    ...examples.map((example) =>
      make(
        "button",
        { type: "button", onclick: () => tell(example.telling.join("\n")) },
        example.title,
      ),
    ),
  );
  drawing.chosen = null;
  document.dispatchEvent(new CustomEvent("elision:script-shown", { detail: page.script }));
}

async function restore() {
  const { state, search, box } = page.state;
  telling.text = page.state.telling;
  byId("search").value = search;
  await redraw();
  if (/^\d+$/.test(state) && Number(state) < page.script.states.length)
    drawing.choose(Number(state), { quietly: true });
  const view = box.split(",").map(Number);
  if (view.length === 4 && view.every(Number.isFinite) && view[2] > 0 && view[3] > 0)
    drawing.look(view);
  showDetails(page.script, drawing.chosen, goTo);
}

// --- the drawing ------------------------------------------------------------------------------

function shape() {
  const { least } = page.state;
  const value = Number(least);
  return {
    least: least !== "" && value >= 0 && value <= 1 ? value : null,
    direction: narrow.matches ? "TB" : "LR",
  };
}

const lines = () => telling.lines.slice(0, 100);

function show(found) {
  page.shown = found;
  drawing.show(found.svg);
  showLeast(found);
  find();
}

/** Draw once more, for another threshold or another shape of the window, and with the path. */
async function redraw() {
  const before = page.shown;
  page.plain = await ask(`${scriptPath(page.script.id)}/drawing`, shape());
  await explain();
  if (page.shown === before) show(page.plain); // the telling got no answer
}

function showLeast({ least, hidden_states: states, hidden_edges: edges }) {
  const slider = byId("least");
  const nearest = LEAST.reduce(
    (best, value, at) => (Math.abs(value - least) < Math.abs(LEAST[best] - least) ? at : best),
    0,
  );
  if (document.activeElement !== slider) slider.value = nearest;
  byId("least-shown").textContent = `${(100 * least).toFixed(least > 0 && least < 0.02 ? 1 : 0)}%`;
  byId("least-shown").title = `${states} states and ${edges} edges are hidden`;
  slider.setAttribute("aria-valuetext", `${percent(least)} of courses`);
}

/** Light up the path; what of it is not in the plain drawing comes with one of its own. */
function light({ path, drawing: own }) {
  byId("legend").hidden = path.states.length === 0;
  if (own) show(own);
  else if (page.shown !== page.plain) show(page.plain);
  drawing.mark(path);
}

function goTo(state) {
  if (drawing.node(state)) {
    drawing.choose(state);
    drawing.reveal(state);
  } else attempt(() => uncover(state));
}

/** Show more of the script until a state is seen. */
async function uncover(state) {
  remember({ least: String(Math.min(page.script.states[state].chance, 1)) });
  await redraw();
  drawing.choose(state);
}

function find() {
  const text = byId("search").value.trim().toLowerCase();
  remember({ search: byId("search").value.trim() });
  if (!text) {
    drawing.search(null);
    byId("found").textContent = "";
    return null;
  }
  const states = page.script.states.filter(({ name, events }) =>
    [name, ...events.map((one) => one.event)].some((event) => event.toLowerCase().includes(text)),
  );
  const hits = drawing.search(new Set(states.map(({ state }) => state)));
  const hidden = states.length - hits.length;
  byId("found").textContent = !states.length
    ? "No step is told like this."
    : `${hits.length} ${hits.length === 1 ? "step is" : "steps are"} told like this${hidden ? `, and ${hidden} that are hidden` : ""}.`;
  return hits[0] ?? states[0]?.state ?? null;
}

// --- the telling ------------------------------------------------------------------------------

function tell(text) {
  telling.text = text;
  remember({ telling: text });
  explain();
}

/** Ask about the telling as it is now, and forget questions about what it was before. */
async function explain() {
  page.asking?.abort();
  const { signal } = (page.asking = new AbortController());
  await attempt(async () => {
    const question = { telling: lines(), drawing: shape() };
    const found = await ask(`${scriptPath(page.script.id)}/explain`, question, signal);
    telling.next = found.next;
    showStory(found, (line, event) => telling.replace(line, event));
    light(found);
    byId("story").dataset.for = telling.text;
    await showWhich(page.scripts, telling.text, page.script.id, openScript, signal);
  });
}

// --- files and links --------------------------------------------------------------------------

const savePicture = (kind) =>
  attempt(async () => {
    const question = { ...shape(), telling: lines(), theme: shownTheme() };
    keep(
      await askFile(`${scriptPath(page.script.id)}/drawing.${kind}`, question),
      `${page.script.id}.${kind}`,
    );
  });

const saveAnswers = (kind) =>
  attempt(async () => {
    const path = `${scriptPath(page.script.id)}/explain${kind === "csv" ? ".csv" : ""}`;
    keep(await askFile(path, { telling: lines() }), `${page.script.id}-answers.${kind}`);
  });

async function copyLink() {
  writeLink(page.state);
  const button = byId("copy");
  const before = "Copy the link to all this";
  try {
    await navigator.clipboard.writeText(location.href);
    button.textContent = "Copied";
  } catch {
    button.textContent = "Copy it from the address bar";
  }
  setTimeout(() => (button.textContent = before), 2000);
}

// --- start ------------------------------------------------------------------------------------

/** The explanation is open until somebody closes it. */
function explainOnce() {
  const how = byId("how");
  how.open = localStorage.getItem("how") !== "closed";
  how.addEventListener("toggle", () => localStorage.setItem("how", how.open ? "open" : "closed"));
}

function listen() {
  const click = (id, action) => byId(id).addEventListener("click", action);
  for (const link of document.querySelectorAll("nav a"))
    link.addEventListener("click", (event) => {
      event.preventDefault();
      openView(link.dataset.view === "explore" && !page.script ? "learn" : link.dataset.view);
    });
  click("skip", (event) => {
    event.preventDefault();
    byId("telling").focus();
  });
  click("zoom-in", () => drawing.zoom(1.4));
  click("zoom-out", () => drawing.zoom(1 / 1.4));
  click("zoom-fit", () => drawing.fit());
  for (const kind of ["svg", "png"]) click(`save-${kind}`, () => savePicture(kind));
  for (const kind of ["json", "csv"]) click(`save-${kind}`, () => saveAnswers(kind));
  click("copy", copyLink);
  byId("search").addEventListener("input", find);
  byId("search").addEventListener("keydown", (event) => {
    if (event.key !== "Enter") return;
    const first = find();
    if (first !== null) goTo(first);
  });
  byId("least").addEventListener("input", (event) => {
    remember({ least: String(LEAST[event.target.value]), box: "" });
    attempt(redraw);
  });
  narrow.addEventListener("change", () => page.script && attempt(redraw));
  window.addEventListener("popstate", () => {
    page.state = readLink();
    attempt(load);
  });
}

startTheme();
explainOnce();
listen();
showDetails(null, null, goTo);
await attempt(async () => {
  page.scripts = await loadScripts();
  await load();
});
document.body.dataset.ready = "true";

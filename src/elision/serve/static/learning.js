// Learning: a file is looked at, learned from, and the result is opened; all of it in one place.

import { ask, get, scriptPath, send } from "./api.js";
import { takeFiles } from "./dropping.js";
import { byId, counted, make, named } from "./dom.js";
import { Looked } from "./looked.js";
import { Progress } from "./progress.js";
import { composed, typesPanel } from "./types.js";

const ENDS = { done: "Done.", stopped: "Stopped.", failed: "That did not work." };

export class Learning {
  /** `onLearned` hears the id of each new script; `onView` that learning wants to be seen. */
  constructor({ onLearned, onOpen, onView }) {
    Object.assign(this, { onLearned, onOpen, onView });
    this.job = null;
    this.progress = new Progress(byId("chart"));
    this.looked = new Looked({
      onLearn: (upload, choices) => this.learn(upload, choices),
      onBeside: (upload, choices, script) => this.beside(upload, choices, script),
      onProblem: (problem) => this.complain(problem),
    });
    takeFiles((files) => this.startAll(files));
    byId("stop").addEventListener("click", () => this.stop());
    this.resume();
  }

  /** Say what is wrong once, where one looks. */
  complain(problem) {
    const place = byId("learn-problem");
    place.textContent = problem;
    place.hidden = !problem;
    if (problem) place.scrollIntoView({ block: "nearest" });
  }

  async attempt(action) {
    this.complain("");
    try {
      await action();
    } catch (error) {
      this.complain(error.message);
    }
  }

  /** Look at files: all scripts are opened, and the first of tellings is shown. */
  startAll(files) {
    this.onView();
    this.looked.hide();
    return this.attempt(async () => {
      const scripts = [];
      for (const file of files) {
        const found = await this.look(file);
        if (found.kind !== "script") {
          this.looked.begin(found);
          return;
        }
        scripts.push((await send(`/api/uploads/${found.upload}/script`)).script);
        await this.onLearned(scripts.at(-1));
      }
      if (scripts.length) this.onOpen(scripts[0]);
    });
  }

  /** Send a file, and hear what it seems to be. */
  async look(file) {
    const name = file.name.slice(-200);
    const place = byId("looking");
    place.hidden = false;
    place.textContent = `Looking at ${name.slice(0, 100)}…`;
    try {
      return await send(`/api/uploads?name=${encodeURIComponent(name)}`, file);
    } finally {
      place.hidden = true;
    }
  }

  beside(upload, choices, script) {
    return this.attempt(async () => {
      await ask(`/api/uploads/${upload}/tellings/${encodeURIComponent(script)}`, choices);
      this.looked.hide();
      await this.onLearned(script);
      this.onOpen(script);
      document.dispatchEvent(new CustomEvent("elision:tellings-opened", { detail: { script } }));
    });
  }

  learn(upload, choices) {
    return this.attempt(async () => {
      const job = await ask(`/api/uploads/${upload}/learning`, choices);
      this.looked.hide();
      this.watch(job);
      byId("job").scrollIntoView({ block: "nearest" });
      byId("stop").focus();
    });
  }

  stop() {
    byId("stop").disabled = true;
    return this.attempt(() => send(`/api/learning/${this.job.id}/stop`));
  }

  /** A page that was loaded again goes on watching; what failed was said before. */
  async resume() {
    const job = (await get("/api/learning")).jobs.at(-1);
    if (job && job.state !== "failed" && !this.job) this.watch(job);
  }

  watch(job) {
    this.job = job;
    this.found = [];
    this.complain("");
    byId("job").hidden = false;
    byId("stop").hidden = byId("stop").disabled = job.state !== "running";
    byId("learned").replaceChildren();
    this.say("Getting ready…");
    if (job.state === "running") this.progress.begin(job.seconds);
    const source = new EventSource(`/api/learning/${job.id}/events`);
    const on = (kind, hear) =>
      source.addEventListener(kind, (event) => hear(JSON.parse(event.data)));
    on("reading", () => this.say(`Reading ${job.name}…`));
    on("domain", (word) => this.domain(word));
    on("stage", (word) => this.stage(word));
    on("learned", (word) => this.found.push(this.learned(word)));
    on("end", (word) => {
      source.close();
      this.end(word, job.state === "running");
    });
    source.onerror = () => {
      if (source.readyState !== EventSource.CLOSED) return;
      this.progress.end();
      this.complain("The server does not answer any more.");
    };
  }

  domain(word) {
    const count = word.of > 1 ? ` (${word.number} of ${word.of})` : "";
    this.title = `${word.domain.slice(0, 100)}${count}, ${counted(word.narratives, "telling")}`;
  }

  stage(word) {
    this.say(`${this.title}: ${word.name}…`);
    if (this.progress.points) this.progress.stage(word);
  }

  async learned(word) {
    const script = await this.onLearned(word.script);
    const explore = make(
      "button",
      { type: "button", class: "primary", onclick: () => this.onOpen(word.script) },
      "Explore it",
    );
    const { upload, choices } = this.job;
    byId("learned").append(
      make(
        "li",
        { "data-script": word.script },
        named(script?.name ?? word.script),
        explore,
        make(
          "a",
          { href: `${scriptPath(word.script)}/file`, download: `${word.script}.json` },
          "Save as a file",
        ),
        typesPanel(word.types, (names) =>
          this.learn(upload, { ...choices, names: composed(choices.names, names) }),
        ),
      ),
    );
    return { id: word.script, name: script?.name ?? word.script, explore };
  }

  /** Say how it ended; what failed is said by the complaint alone. */
  async end(word, live) {
    this.progress.end();
    byId("stop").hidden = true;
    const scripts = await Promise.all(this.found);
    const count = scripts.length === 1 ? "1 script" : `${scripts.length} scripts`;
    const learned = scripts.length
      ? `${count} learned in ${Math.max(1, Math.round(word.at))} s.`
      : "";
    const problem = word.state === "failed" ? "" : word.problem;
    this.say([ENDS[word.state], learned, problem].filter(Boolean).join(" "));
    if (word.state === "failed") {
      byId("job").hidden = scripts.length === 0;
      this.complain(word.problem);
    }
    if (!live) return;
    if (byId("learn").hidden) this.announce(scripts);
    else scripts[0]?.explore.focus();
  }

  /** Whoever is elsewhere on the page hears of it there. */
  announce([first, ...others]) {
    const button = (text, action) => {
      const onclick = () => {
        byId("notice").replaceChildren();
        action();
      };
      return make("button", { type: "button", onclick }, text);
    };
    const more = others.length ? ` and ${others.length} more ` : " ";
    byId("notice").replaceChildren(
      ...(first
        ? ["Learned: ", named(first.name), more, button("Explore it", () => this.onOpen(first.id))]
        : ["Nothing was learned. ", button("Why?", () => this.onView())]),
    );
  }

  say(text) {
    byId("stage").textContent = text;
  }
}

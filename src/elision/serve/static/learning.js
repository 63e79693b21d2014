// Learning: a file goes up, the search is watched as it happens, the result is kept.

import { scriptPath, send } from "./api.js";
import { chart } from "./chart.js";
import { byId, complain, drawn, make, named } from "./dom.js";

export class Learning {
  /** `onLearned` hears the id of each new script. */
  constructor({ onLearned, onOpen }) {
    this.onLearned = onLearned;
    this.onOpen = onOpen;
    this.job = null;
    const [drop, file] = [byId("drop"), byId("file")];
    file.addEventListener("change", () => file.files[0] && this.start(file.files[0]));
    for (const kind of ["dragover", "dragleave", "drop"])
      drop.addEventListener(kind, (event) => {
        event.preventDefault();
        drop.classList.toggle("over", kind === "dragover");
      });
    drop.addEventListener("drop", (event) => {
      const [dropped] = event.dataTransfer.files;
      if (dropped) this.start(dropped);
    });
    byId("stop").addEventListener("click", () => this.stop());
  }

  async start(file) {
    complain("");
    try {
      this.watch(
        await send(`/api/learning?name=${encodeURIComponent(file.name.slice(-200))}`, file),
      );
    } catch (error) {
      complain(`${file.name.slice(0, 100)}: ${error.message}`);
    } finally {
      byId("file").value = "";
    }
  }

  async stop() {
    byId("stop").disabled = true;
    try {
      await send(`/api/learning/${this.job}/stop`);
    } catch (error) {
      complain(error.message);
    }
  }

  watch(job) {
    this.job = job.id;
    this.moves = 0;
    this.gain = 0;
    this.states = [];
    this.edges = [];
    this.scores = [];
    byId("progress").hidden = false;
    byId("stop").hidden = false;
    byId("stop").disabled = false;
    for (const id of ["chart-states", "chart-score", "growing", "learned"])
      byId(id).replaceChildren();
    this.say(`Reading ${job.name}…`);
    const source = new EventSource(`/api/learning/${job.id}/events`);
    const on = (kind, hear) =>
      source.addEventListener(kind, (event) => hear(JSON.parse(event.data)));
    on("domain", (word) => this.domain(word));
    on("moves", (word) =>
      this.say(
        `${this.title}: batch ${word.batch}, ${word.merged} merged, ${word.deleted} edges deleted…`,
      ),
    );
    on("batch", (word) => this.batch(word));
    on("telling", () => this.say(`${this.title}: learning how its events are told…`));
    on("learned", (word) => this.learned(word));
    on("end", (word) => {
      source.close();
      this.end(word);
    });
    source.onerror = () => {
      if (source.readyState === EventSource.CLOSED)
        this.say("The server does not answer any more.");
    };
  }

  domain(word) {
    const count = word.of > 1 ? ` (${word.number} of ${word.of})` : "";
    this.title = `${word.domain.slice(0, 100)}${count}`;
    this.states = [];
    this.edges = [];
    this.scores = [];
    this.moves = this.gain = 0;
    const sentences = word.sentences ? "finding the events behind the sentences" : "searching";
    this.say(`${this.title}: ${word.narratives} tellings, ${sentences}…`);
  }

  /** A batch was absorbed: its moves on the charts, and the script as it is now. */
  batch(word) {
    const first = word.points[0][1];
    const step = word.moves / Math.max(1, word.points.length - 1);
    word.points.forEach(([states, score], number) => {
      this.states.push([this.moves + number * step, states]);
      this.scores.push([this.moves + number * step, this.gain + score - first]);
    });
    this.moves += word.moves;
    this.gain += word.score_after - word.score_before;
    this.edges.push([this.moves, word.edges]);
    chart(
      byId("chart-states"),
      this.states,
      this.edges,
      `${word.states} states, ${word.edges} edges`,
    );
    chart(
      byId("chart-score"),
      this.scores,
      [],
      `${this.gain.toFixed(0)} after ${this.moves} moves`,
    );
    if (word.svg) byId("growing").replaceChildren(drawn(word.svg));
    const fit = word.log_prob === null ? "" : `, mean log-probability ${word.log_prob.toFixed(2)}`;
    this.say(
      `${this.title}: ${word.seen} of ${word.narratives} tellings, ${word.states} states, ${word.edges} edges${fit}`,
    );
  }

  async learned(word) {
    const script = await this.onLearned(word.script);
    byId("learned").append(
      make(
        "li",
        { "data-script": word.script },
        named(script?.name ?? word.script),
        make("button", { type: "button", onclick: () => this.onOpen(word.script) }, "Explore it"),
        make(
          "a",
          { href: `${scriptPath(word.script)}/file`, download: `${word.script}.json` },
          "Save as a file",
        ),
      ),
    );
  }

  end(word) {
    const words = { done: "Done.", stopped: "Stopped.", failed: "Failed." };
    this.say(`${words[word.state]} ${word.problem}`);
    byId("stop").hidden = true;
  }

  say(text) {
    byId("stage").textContent = text;
  }
}

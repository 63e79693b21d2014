// Learning: a file goes up, the page says what is done with it, the result is opened.

import { scriptPath, send } from "./api.js";
import { byId, complain, make, named } from "./dom.js";

export class Learning {
  /** `onLearned` hears the id of each new script, `onDone` that of the only one. */
  constructor({ onLearned, onOpen, onDone }) {
    this.onLearned = onLearned;
    this.onOpen = onOpen;
    this.onDone = onDone;
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
    this.found = [];
    byId("progress").hidden = false;
    byId("stop").hidden = false;
    byId("stop").disabled = false;
    byId("learned").replaceChildren();
    this.say(`Reading ${job.name}…`);
    const source = new EventSource(`/api/learning/${job.id}/events`);
    const on = (kind, hear) =>
      source.addEventListener(kind, (event) => hear(JSON.parse(event.data)));
    on("domain", (word) => this.domain(word));
    on("learning", () => this.say(`${this.title}: learning the script…`));
    on("learned", (word) => this.found.push(this.learned(word)));
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
    const doing = word.sentences ? "finding the events behind the sentences" : "learning the script";
    this.say(`${this.title}: ${word.narratives} tellings, ${doing}…`);
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
    return word.script;
  }

  async end(word) {
    const words = { done: "Done.", stopped: "Stopped.", failed: "Failed." };
    this.say(`${words[word.state]} ${word.problem}`);
    byId("stop").hidden = true;
    const scripts = await Promise.all(this.found);
    if (word.state === "done" && scripts.length === 1) this.onDone(scripts[0]);
  }

  say(text) {
    byId("stage").textContent = text;
  }
}

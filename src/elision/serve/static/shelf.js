// The list of scripts, and which of them a telling is of.

import { ask, get, scriptPath } from "./api.js";
import { byId, counted, make, named, percent } from "./dom.js";

export async function loadScripts() {
  return (await get("/api/scripts")).scripts;
}

/** Show all scripts, the likeliest for the telling first. */
export async function showScripts(scripts, telling, onOpen) {
  const matches = await identify(scripts, telling);
  const share = new Map(matches.map((one) => [one.script, one.probability]));
  const order = [...scripts].sort(
    (one, other) => (share.get(other.id) ?? 0) - (share.get(one.id) ?? 0),
  );
  byId("scripts-hint").textContent = matches.length
    ? "The likeliest script for your telling comes first."
    : "Each is what many tellings of one activity have in common.";
  byId("list").replaceChildren(
    ...order.map((script) =>
      line(script, matches.length ? (share.get(script.id) ?? 0) : null, onOpen),
    ),
  );
}

function line(script, share, onOpen) {
  const open = (event) => {
    event.preventDefault();
    onOpen(script.id);
  };
  const sizes = [
    counted(script.events, "event"),
    script.narratives === null ? null : `from ${counted(script.narratives, "telling")}`,
    script.sentences ? "understands sentences" : null,
    script.tellings ? `${counted(script.tellings, "telling")} beside it` : null,
    script.source || null,
  ].filter(Boolean);
  return make(
    "li",
    {},
    make(
      "a",
      { href: `#view=explore&script=${encodeURIComponent(script.id)}`, onclick: open },
      named(script.name),
    ),
    share === null ? null : make("span", { class: "match" }, ` ${percent(share)}`),
    make("p", { class: "hint" }, sizes.join(" · ")),
    make(
      "a",
      { href: `${scriptPath(script.id)}/file`, download: `${script.id}.json` },
      "Save as a file",
    ),
  );
}

async function identify(scripts, telling, signal) {
  const lines = telling.split("\n").slice(0, 100);
  if (scripts.length < 2 || !lines.some((line) => line.trim())) return [];
  return (await ask("/api/identify", { telling: lines }, signal)).matches;
}

/** Say below the telling which script it sounds like, if it is not the one that is shown. */
export async function showWhich(scripts, telling, current, onOpen, signal) {
  const [best] = await identify(scripts, telling, signal);
  const place = byId("which");
  if (!best || best.script === current || best.script === null) place.replaceChildren();
  else
    place.replaceChildren(
      `This sounds like another script (${percent(best.probability)}): `,
      make("button", { type: "button", onclick: () => onOpen(best.script) }, named(best.name)),
    );
}

// What is to be said about a line of the telling, below it.

import { make, named, percent } from "./dom.js";

const LISTED = 0.05; // what a line stands for less probably is not offered

/**
 * Say what is odd about a line, what it was taken for, and what it may stand for instead. `strange`
 * is whether it is not known, `isWritten` whether somebody types in it; `put` gives what is to
 * happen when an event is chosen.
 */
export function notes(line, { strange, isWritten, put }) {
  const found = line.flags.map((flag) => make("span", { class: "flag" }, flag.note));
  const note = (...words) => found.push(make("span", { class: "means" }, ...words));
  const heard = line.heard.map((one) => one.event).join(", then ");
  if (heard && heard.toLowerCase() !== line.text.trim().toLowerCase() && line.kind !== "event")
    note("taken for ", named(heard));
  if (line.denied.length) note("said not to have happened: ", named(line.denied.join(", ")));
  else if (line.kind === "denied") note("said not to have happened; it is passed over.");
  if (strange) {
    if (!line.flags.length) note("not known here; it is passed over.");
    if (line.near.length) note("Did you mean ", ...offers(line.near, put), "?");
  }
  const events = line.options
    .filter((one) => one.probability >= LISTED && line.heard[0]?.event !== one.event)
    .map((one) => [one.event, percent(one.probability)]);
  if (events.length && (!isWritten || line.kind === "gap"))
    note(line.kind === "gap" ? "probably " : "or is it ", ...offers(events, put));
  return found;
}

function offers(events, put) {
  return events.flatMap((one, at) => {
    const [event, share] = Array.isArray(one) ? one : [one, ""];
    const button = make("button", { type: "button", class: "take", onclick: put(event) }, named(event));
    if (share) button.append(make("span", { class: "share" }, ` ${share}`));
    return at === 0 ? [button] : [at === events.length - 1 ? " or " : ", ", button];
  });
}

// The state of the page, kept in the address after "#", so that a link brings it back.

const PAUSE = 200; // milliseconds
let waiting = null;

const KEYS = ["view", "script", "telling", "done", "say", "step", "search", "box", "rows"];

export function readLink() {
  clearTimeout(waiting);
  const given = new URLSearchParams(location.hash.slice(1));
  return Object.fromEntries(KEYS.map((key) => [key, given.get(key) ?? ""]));
}

/** Write the state into the address soon: browsers refuse to do it many times a second. */
export function writeSoon(state) {
  clearTimeout(waiting);
  waiting = setTimeout(() => writeLink(state), PAUSE);
}

/** Write it now; a new view makes a new entry of the browser's history. */
export function writeLink(state, { entry = false } = {}) {
  clearTimeout(waiting);
  const kept = new URLSearchParams();
  for (const key of KEYS) if (state[key]) kept.set(key, state[key]);
  const hash = `#${kept}`;
  if (hash === location.hash) return;
  if (entry) history.pushState(null, "", hash);
  else history.replaceState(null, "", hash);
}

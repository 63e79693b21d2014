// Elements without markup in strings: whatever a name holds, it stays text.

const LONGEST = 300;

export const byId = (id) => document.getElementById(id);

/**
 * Make an element: attributes by name, listeners by "on...", style properties by "--...", children
 * as nodes or texts.
 */
export function make(tag, attributes = {}, ...children) {
  const found = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) found.addEventListener(name.slice(2), value);
    else if (name.startsWith("--")) found.style.setProperty(name, value);
    else if (value === true) found.setAttribute(name, "");
    else if (value !== false && value != null) found.setAttribute(name, value);
  }
  found.append(...children.filter((child) => child != null));
  return found;
}

/** A name as text of its own direction, cut if it is very long. */
export function named(name) {
  const long = name.length > LONGEST;
  return make("bdi", long ? { title: name.slice(0, 2000) } : {}, cut(name));
}

export function cut(name, most = LONGEST) {
  const letters = name.length > most ? [...name.slice(0, 2 * most)] : [name];
  return letters.length > most ? `${letters.slice(0, most).join("")}…` : letters.join("");
}

export function percent(share) {
  if (share > 0 && share < 0.005) return "<1%";
  if (share >= 0.995 && share < 1 - 1e-9) return ">99%";
  return `${Math.round(100 * share)}%`;
}

/** A number of things, in the singular if there is one. */
export const counted = (number, thing) => `${number} ${thing}${number === 1 ? "" : "s"}`;

/** A probability: nothing that was learned from tellings is quite sure. */
export const chance = (share) => percent(Math.min(share, 0.999));

/** The server's drawing as an element of this page. */
export function drawn(svg) {
  const parsed = new DOMParser().parseFromString(svg, "image/svg+xml");
  return document.adoptNode(parsed.documentElement);
}

/** Offer some content as a file. */
export function keep(content, name) {
  const url = URL.createObjectURL(content);
  const link = make("a", { href: url, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
}

/** Tell the rest of the page what happened; who cares listens to `elision:...` at the document. */
export function announce(what, detail) {
  document.dispatchEvent(new CustomEvent(`elision:${what}`, { detail }));
}

export function complain(problem) {
  const place = byId("problem");
  place.textContent = problem;
  place.hidden = !problem;
}

// Share: a page of the restored telling, made by the server, kept as a file.

import { askFile, scriptPath } from "./api.js";
import { byId, keep } from "./dom.js";

const LOCAL = /^(localhost|127\.|\[::1\])/; // addresses that mean another machine elsewhere

/** Copy the address of the page, and say so on a button for a moment. */
export async function copyAddress(button) {
  const before = "Copy the link";
  try {
    await navigator.clipboard.writeText(location.href);
    button.textContent = LOCAL.test(location.hostname) ? "Copied, for this machine only" : "Copied";
  } catch {
    button.textContent = "Copy it from the address bar";
  }
  setTimeout(() => (button.textContent = before), 2000);
}

/** `current` says what is to be shared: the script, the lines, whether that is all, the threshold. */
export function startSharing(attempt, current) {
  byId("share-html").addEventListener("click", () =>
    attempt(async () => {
      const { script, telling, finished, threshold } = current();
      const question = { telling, finished, min_probability: threshold };
      const made = await askFile(`${scriptPath(script)}/telling.html`, question);
      keep(made, `${script}-telling.html`);
    }),
  );
}

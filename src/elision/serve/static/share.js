// Share: a page or a picture of the restored telling, made by the server, kept as a file.

import { askFile, scriptPath } from "./api.js";
import { byId, keep } from "./dom.js";
import { shownTheme } from "./theme.js";

/** `current` says what is to be shared: the script, the lines, whether that is all, the threshold. */
export function startSharing(attempt, current) {
  for (const kind of ["html", "png"])
    byId(`share-${kind}`).addEventListener("click", () =>
      attempt(async () => {
        const { script, telling, finished, least } = current();
        const question = { telling, finished, least, theme: kind === "png" ? shownTheme() : "auto" };
        const made = await askFile(`${scriptPath(script)}/card.${kind}`, question);
        keep(made, `${script}-telling.${kind}`);
      }),
    );
}

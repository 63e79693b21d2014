// A file may be dropped anywhere on the page.

import { byId } from "./dom.js";

const hasFile = (event) => [...(event.dataTransfer?.types ?? [])].includes("Files");

const BUILT_IN = "built-in example";

/** `onFile` hears of a file that was dropped on the page or chosen in a field. */
export function takeFiles(onFile) {
  document.addEventListener("elision:script-shown", ({ detail }) => {
    byId("own").hidden = detail.source !== BUILT_IN;
  });
  let inside = 0;
  const show = (over) => {
    byId("dropping").hidden = !over;
    byId("drop").classList.toggle("over", over);
  };
  document.addEventListener("dragenter", (event) => {
    if (!hasFile(event)) return;
    inside += 1;
    show(true);
  });
  document.addEventListener("dragleave", () => {
    inside = Math.max(0, inside - 1);
    if (!inside) show(false);
  });
  document.addEventListener("dragover", (event) => hasFile(event) && event.preventDefault());
  document.addEventListener("drop", (event) => {
    const [file] = event.dataTransfer?.files ?? [];
    inside = 0;
    show(false);
    if (!file) return;
    event.preventDefault();
    onFile(file);
  });
  document.addEventListener("change", ({ target }) => {
    if (!target.matches?.("input[type=file].tellings-file") || !target.files[0]) return;
    onFile(target.files[0]);
    target.value = "";
  });
}

// Files, and folders of them, may be dropped anywhere on the page.

import { byId } from "./dom.js";

const hasFile = (event) => [...(event.dataTransfer?.types ?? [])].includes("Files");

const BUILT_IN = "built-in example";

const MOST_FILES = 200;
const INDEX = "library.json"; // of a library: its scripts lie beside it

/** All files that were dropped, also those in folders; has to be asked while they are dropped. */
async function dropped(transfer) {
  const entries = [...transfer.items].map((item) => item.webkitGetAsEntry?.()).filter(Boolean);
  if (!entries.some((entry) => entry.isDirectory)) return [...transfer.files];
  return (await Promise.all(entries.map(within))).flat();
}

async function within(entry) {
  if (entry.isFile) return [await new Promise((done, fail) => entry.file(done, fail))];
  const reader = entry.createReader();
  const found = [];
  for (;;) {
    const some = await new Promise((done, fail) => reader.readEntries(done, fail));
    if (!some.length || found.length > MOST_FILES) break;
    found.push(...some);
  }
  return (await Promise.all(found.map(within))).flat();
}

const useful = (files) => files.filter(({ name }) => name !== INDEX).slice(0, MOST_FILES);

/** `onFiles` hears of files that were dropped on the page or chosen in a field. */
export function takeFiles(onFiles) {
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
    inside = 0;
    show(false);
    if (!hasFile(event)) return;
    event.preventDefault();
    dropped(event.dataTransfer).then((files) => onFiles(useful(files)));
  });
  document.addEventListener("change", ({ target }) => {
    if (!target.matches?.("input[type=file].tellings-file") || !target.files[0]) return;
    onFiles(useful([...target.files]));
    target.value = "";
  });
}

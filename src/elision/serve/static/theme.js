// Light, dark, or as the system has it; remembered by the browser.

import { byId } from "./dom.js";

const NEXT = { auto: "light", light: "dark", dark: "auto" };

function remembered() {
  const kept = localStorage.getItem("theme");
  return kept in NEXT ? kept : "auto";
}

function show(theme) {
  document.documentElement.dataset.theme = theme;
  byId("theme").textContent = `◐ ${theme}`;
  byId("theme").setAttribute("aria-label", `Colours: ${theme}`);
}

export function startTheme() {
  show(remembered());
  byId("theme").addEventListener("click", () => {
    const theme = NEXT[remembered()];
    localStorage.setItem("theme", theme);
    show(theme);
  });
}

/** The colours on the screen now: what a saved picture should have. */
export function shownTheme() {
  const theme = remembered();
  if (theme !== "auto") return theme;
  return matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
}

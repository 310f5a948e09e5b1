// Choosing a theme: "light", "dark", or "system"; kept for all pages of this assistant.

import { keep } from "./kept.js";

const NAME = "prolocutor.theme";
const root = document.documentElement;
const heard = new Set();

// Give the chosen theme.
export function theme() {
  return root.dataset.theme ?? "system";
}

// Choose a theme, in all windows.
export function setTheme(value) {
  show(value);
  keep(NAME, value === "system" ? null : value);
}

// Call back whenever colours change; the function that comes back ends that.
export function onTheme(changed) {
  heard.add(changed);
  return () => heard.delete(changed);
}

function show(value) {
  if (value === "light" || value === "dark") root.dataset.theme = value;
  else delete root.dataset.theme;
  heard.forEach((changed) => changed());
}

matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => heard.forEach((changed) => changed()));
addEventListener("storage", (event) => event.key === NAME && show(event.newValue));

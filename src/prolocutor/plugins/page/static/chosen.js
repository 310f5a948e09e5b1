// What a person has chosen: language, time zone, theme, and whether Enter sends. It is kept with the
// person, and in the browser for the time until the assistant has told it.

import { keep, kept } from "./kept.js";
import { setTheme, theme } from "./themes.js";
import { useEffect, useState } from "./ui.js";
import { ask } from "./visitor.js";

const NAME = "prolocutor.settings";
const NOTHING = { language: null, time_zone: null, theme: null, enter_sends: true };
const heard = new Set();
let chosen = read();

// Give what is chosen now.
export function choices() {
  return chosen;
}

// Give the time zone that is chosen, else the browser's.
export function timezone() {
  return chosen.time_zone ?? (Intl.DateTimeFormat().resolvedOptions().timeZone || null);
}

// Ask the assistant what was chosen, here or elsewhere.
export async function loadChoices() {
  const found = await ask("/api/settings").catch(() => null);
  if (found === null || typeof found !== "object") return;
  const now = { ...NOTHING, ...found };
  if (now.theme && now.theme !== theme()) setTheme(now.theme);
  take(now);
}

// Keep what is chosen; an Error says why it was refused, and then it is as before.
export async function keepChoices(changes) {
  const [before, now] = [chosen, { ...chosen, ...changes }];
  take(now);
  const body = JSON.stringify(now);
  try {
    await ask("/api/settings", { method: "PUT", body, headers: { "Content-Type": "application/json" } });
  } catch (error) {
    take(before);
    throw error;
  }
}

// Give what is chosen, and draw again when it changes.
export function useChoices() {
  const [now, setNow] = useState(chosen);
  useEffect(() => {
    setNow(chosen);
    heard.add(setNow);
    return () => heard.delete(setNow);
  }, []);
  return now;
}

function take(now) {
  chosen = now;
  keep(NAME, JSON.stringify(now));
  heard.forEach((one) => one(now));
}

function read() {
  try {
    return { ...NOTHING, ...JSON.parse(kept(NAME)) };
  } catch {
    return NOTHING;
  }
}

addEventListener("storage", (event) => {
  if (event.key !== NAME) return;
  chosen = read();
  heard.forEach((one) => one(chosen));
});

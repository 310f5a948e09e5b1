// What a person has chosen on the chat page, as the browser keeps it for all pages of this assistant.

import { keep, kept } from "./kept.js";
import { useEffect, useState } from "./ui.js";

const NAME = "prolocutor.settings";
export const NOTHING = { language: null, time_zone: null, theme: null, enter_sends: true, twelve_hours: false };
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

// Take other choices, here and in all windows.
export function take(now) {
  show(now);
  keep(NAME, JSON.stringify(now));
}

function show(now) {
  chosen = now;
  heard.forEach((one) => one(now));
}

function read() {
  try {
    return { ...NOTHING, ...JSON.parse(kept(NAME)) };
  } catch {
    return NOTHING;
  }
}

addEventListener("storage", (event) => event.key === NAME && show(read()));

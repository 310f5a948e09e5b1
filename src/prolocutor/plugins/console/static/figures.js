// Numbers and times as they are written everywhere in the console.

import * as times from "./times.js";
import { html, useEffect, useState } from "./ui.js";

// Give seconds as `1.2 ms`, `412 ms`, `3.41 s`, `4 min`.
export function duration(seconds) {
  if (!Number.isFinite(seconds)) return "–";
  if (seconds < 0.00995) return `${(1000 * seconds).toFixed(1)} ms`;
  if (seconds < 0.9995) return `${(1000 * seconds).toFixed(0)} ms`;
  return seconds < 600 ? `${seconds.toFixed(2)} s` : `${Math.round(seconds / 60)} min`;
}

// Give a share between 0 and 1 as percent.
export function percent(share) {
  if (!Number.isFinite(share)) return "–";
  if (share === 0) return "0";
  return share < 0.01 ? "<1 %" : `${Math.round(100 * share)} %`;
}

// The currency of all costs, "" where it is not known; it comes with the operator.
let currency = "";
export const setCurrency = (name) => (currency = String(name ?? ""));

// Give an amount without its currency, which stands in the heading then (`costName`).
export function amount(value) {
  if (!Number.isFinite(value) || value === 0) return "–";
  return Math.abs(value) < 1 ? value.toFixed(4) : value.toFixed(2);
}

// Give an amount with its currency.
export const money = (value) => (amount(value) === "–" || !currency ? amount(value) : `${amount(value)}\u00a0${currency}`);
export const costName = () => (currency ? `Cost, ${currency}` : "Cost");

export function count(value) {
  return Number.isFinite(value) ? value.toLocaleString("en") : "–";
}

export function plural(number, one, many = `${one}s`) {
  return `${count(number)} ${number === 1 ? one : many}`;
}

// Give a person's name as people read it: without the door, which stands before it.
export function personName(user) {
  const name = String(user ?? "");
  const own = name.slice(name.indexOf(":") + 1);
  return own.replace(/^anonymous-([0-9a-f]{6})[0-9a-f]*$/, "visitor $1") || name;
}

// Give how long ago a time (UNIX seconds) was.
export function ago(at, now = Date.now() / 1000) {
  const past = Math.max(0, now - at);
  if (past < 59.5) return `${Math.round(past)} s`;
  if (past < 3570) return `${Math.round(past / 60)} min`;
  return past < 84600 ? `${Math.round(past / 3600)} h` : `${Math.round(past / 86400)} d`;
}

// Give a time (UNIX seconds) in full, with its zone.
export const wholeTime = (at) => (valid(at) ? times.wholeTime(1000 * at) : "unknown");
export const clock = (at) => (valid(at) ? times.shortTime(1000 * at) : "–");
export const exactClock = (at) => (valid(at) ? times.exactTime(1000 * at) : "–");
export const briefDay = (at) => (valid(at) ? times.briefDay(1000 * at) : "–");
export const day = (at) => (valid(at) ? times.weekday(1000 * at) : "–");

// A time: how long ago, with the whole time as its title.
export function When({ at, className = "" }) {
  const now = useNow();
  if (!valid(at)) return html`<span class=${className}>–</span>`;
  return html`<time class=${className} datetime=${new Date(1000 * at).toISOString()} title=${wholeTime(at)}>${ago(at, now)}</time>`;
}

// Give the time (UNIX seconds) of now, again every ten seconds.
export function useNow() {
  const [now, setNow] = useState(Date.now() / 1000);
  useEffect(() => {
    listeners.add(setNow);
    if (listeners.size === 1) ticking = setInterval(tick, 10_000);
    return () => {
      listeners.delete(setNow);
      if (!listeners.size) clearInterval(ticking);
    };
  }, []);
  return now;
}

const listeners = new Set();
let ticking = null;
const tick = () => listeners.forEach((heard) => heard(Date.now() / 1000));
const valid = (at) => Number.isFinite(at) && Math.abs(at) < 8.64e12;

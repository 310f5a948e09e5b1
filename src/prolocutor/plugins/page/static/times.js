// When something was said: times, days and time zones, in the person's own language.

import { choices, timezone } from "./chosen.js";

const FORMS = {
  short: { hour: "2-digit", minute: "2-digit" },
  whole: { dateStyle: "full", timeStyle: "long" },
  day: { weekday: "long", day: "numeric", month: "long" },
  date: { day: "numeric", month: "long", year: "numeric" },
  month: { month: "long", year: "numeric" },
  zone: { timeZoneName: "short" },
  place: { year: "numeric", month: "numeric", day: "numeric" },
};
const made = new Map();

// Give what writes times in a form, in the language and the time zone that are chosen.
function form(name) {
  const [language, timeZone] = [name === "place" ? "en-US" : choices().language ?? undefined, timezone() ?? undefined];
  const key = `${name} ${language} ${timeZone}`;
  if (!made.has(key)) made.set(key, formOf(language, { ...FORMS[name], timeZone }));
  return made.get(key);
}

function formOf(language, options) {
  try {
    return new Intl.DateTimeFormat(language, options);
  } catch {
    return new Intl.DateTimeFormat(undefined, { ...options, timeZone: undefined });
  }
}

const FIRST = Date.UTC(2001, 0);
const A_DAY = 86_400_000;

// Give when an id was made (milliseconds), null where it does not say so: ids begin with the time.
export function timeOfId(id) {
  const time = typeof id === "string" && /^[0-9a-f]{32}$/i.test(id) ? parseInt(id.slice(0, 12), 16) : NaN;
  return time > FIRST && time < Date.now() + A_DAY ? time : null;
}

export function shortTime(time) {
  return form("short").format(time);
}

// Write a time with its day and zone.
export function wholeTime(time) {
  return form("whole").format(time);
}

export function zoneName(time) {
  return form("zone").formatToParts(time).find((part) => part.type === "timeZoneName")?.value ?? "";
}

// Give what tells two days apart.
export function dayOf(time) {
  return form("place").format(time);
}

export function dayName(time) {
  const days = daysAgo(time);
  if (days < 2) return days < 1 ? "Today" : "Yesterday";
  return days < 300 ? form("day").format(time) : form("date").format(time);
}

// Name the part of a list by date in which this time is.
export function periodName(time) {
  const days = daysAgo(time);
  if (days < 2) return days < 1 ? "Today" : "Yesterday";
  return days < 7 ? "This week" : form("month").format(time);
}

function daysAgo(time) {
  const start = (one) => Date.parse(form("place").format(one));
  return Math.round((start(Date.now()) - start(time)) / A_DAY);
}

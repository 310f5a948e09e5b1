// When something was said: times, days and time zones, in the person's own language, time zone and
// clock, on all pages.

import { choices, timezone } from "./choices.js";

const FORMS = {
  short: { minute: "2-digit" },
  exact: { minute: "2-digit", second: "2-digit" },
  whole: { dateStyle: "long", timeStyle: "long" },
  brief: { day: "numeric", month: "short" },
  weekday: { weekday: "short", day: "numeric", month: "short" },
  day: { weekday: "long", day: "numeric", month: "long" },
  date: { day: "numeric", month: "long", year: "numeric" },
  month: { month: "long", year: "numeric" },
  zone: { timeZoneName: "short" },
  place: { year: "numeric", month: "numeric", day: "numeric" },
};
const made = new Map();

// Give what writes times in a form, as the person chose it; without a choice the language is the
// page's (`<html data-dates>`), else the browser's.
function form(name) {
  const chosen = choices();
  const language = name === "place" ? "en-US" : chosen.language ?? document.documentElement.dataset.dates;
  const [isTwelve, timeZone] = [chosen.twelve_hours, timezone() ?? undefined];
  const key = `${name} ${language} ${isTwelve} ${timeZone}`;
  if (!made.has(key)) made.set(key, formOf(language, { ...FORMS[name], ...hours(name, isTwelve), timeZone }));
  return made.get(key);
}

function hours(name, isTwelve) {
  const hourCycle = isTwelve ? "h12" : "h23";
  if (name === "whole") return { hourCycle };
  return FORMS[name].minute ? { hourCycle, hour: isTwelve ? "numeric" : "2-digit" } : {};
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

export function exactTime(time) {
  return form("exact").format(time);
}

// Write a day without its year.
export function briefDay(time) {
  return form("brief").format(time);
}

// Write a day with its weekday, in short.
export function weekday(time) {
  return form("weekday").format(time);
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

// Name a time by its day and its minute, or second where it should be `exact`.
export function timeName(time, exact = false) {
  return `${dayName(time)}, ${exact ? exactTime(time) : shortTime(time)}`;
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

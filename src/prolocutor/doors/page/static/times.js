// When something was said: times, days and time zones, in the person's own language.

const SHORT = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit" });
const WHOLE = new Intl.DateTimeFormat(undefined, { dateStyle: "full", timeStyle: "long" });
const DAY = new Intl.DateTimeFormat(undefined, { weekday: "long", day: "numeric", month: "long" });
const DATE = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "long", year: "numeric" });
const MONTH = new Intl.DateTimeFormat(undefined, { month: "long", year: "numeric" });
const ZONE = new Intl.DateTimeFormat(undefined, { timeZoneName: "short" });

const FIRST = Date.UTC(2001, 0);
const A_DAY = 86_400_000;

// Give when an id was made (milliseconds), null where it does not say so: ids begin with the time.
export function timeOfId(id) {
  const time = typeof id === "string" && /^[0-9a-f]{32}$/i.test(id) ? parseInt(id.slice(0, 12), 16) : NaN;
  return time > FIRST && time < Date.now() + A_DAY ? time : null;
}

export function shortTime(time) {
  return SHORT.format(time);
}

// Write a time with its day and zone.
export function wholeTime(time) {
  return WHOLE.format(time);
}

export function zoneName(time) {
  return ZONE.formatToParts(time).find((part) => part.type === "timeZoneName")?.value ?? "";
}

// Give what tells two days apart.
export function dayOf(time) {
  return new Date(time).toDateString();
}

export function dayName(time) {
  const days = daysAgo(time);
  if (days < 2) return days < 1 ? "Today" : "Yesterday";
  return days < 300 ? DAY.format(time) : DATE.format(time);
}

// Name the part of a list by date in which this time is.
export function periodName(time) {
  const days = daysAgo(time);
  if (days < 2) return days < 1 ? "Today" : "Yesterday";
  return days < 7 ? "This week" : MONTH.format(time);
}

function daysAgo(time) {
  const start = (one) => new Date(one).setHours(0, 0, 0, 0);
  return Math.round((start(Date.now()) - start(time)) / A_DAY);
}

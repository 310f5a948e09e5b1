// Calling somebody: a short sound where the browser allows it, and a title that blinks.

import { keep, kept } from "./kept.js";

const QUIET = "prolocutor.quiet";
const TUNES = [
  [659, 880],
  [784, 988, 1175],
  [523, 659],
  [880, 698],
];

let context = null;
let blinking = null;
let rang = -Infinity;
const title = document.title;

for (const gesture of ["pointerdown", "keydown"]) {
  addEventListener(gesture, wake, { passive: true });
}
addEventListener("focus", rest);
document.addEventListener("visibilitychange", () => document.hidden || rest());

export function isQuiet() {
  return kept(QUIET) === "yes";
}

export function setQuiet(quiet) {
  keep(QUIET, quiet ? "yes" : "no");
}

// Call: something came that nobody asked for.
export function ring() {
  if (performance.now() - rang > 1000) play("");
  rang = performance.now();
  if (!document.hasFocus() && blinking === null) {
    blinking = setInterval(() => {
      document.title = document.title === title ? `● ${title}` : title;
    }, 1000);
    document.title = `● ${title}`;
  }
}

// Play a short tune; each name has its own, and always the same.
export function play(name, always = false) {
  if ((isQuiet() && !always) || context === null) return;
  const sum = [...name].reduce((total, letter) => total + letter.codePointAt(0), 0);
  TUNES[sum % TUNES.length].forEach((pitch, position) => {
    const start = context.currentTime + 0.16 * position;
    const volume = context.createGain();
    volume.gain.setValueAtTime(0.0001, start);
    volume.gain.exponentialRampToValueAtTime(0.18, start + 0.02);
    volume.gain.exponentialRampToValueAtTime(0.0001, start + 0.5);
    const tone = context.createOscillator();
    tone.type = "sine";
    tone.frequency.value = pitch;
    tone.connect(volume).connect(context.destination);
    tone.start(start);
    tone.stop(start + 0.55);
  });
}

function wake() {
  context ??= new AudioContext();
  if (context.state === "suspended") context.resume();
}

function rest() {
  clearInterval(blinking);
  blinking = null;
  document.title = title;
}

// Speaking: replies read aloud by the browser itself, and words that are spoken into it.

import { choices } from "./choices.js";
import { keep, kept } from "./kept.js";
import { html, useEffect, useRef, useState } from "./ui.js";

const CONSENT = "prolocutor.voice";
const Recognition = globalThis.SpeechRecognition ?? globalThis.webkitSpeechRecognition;

export const canRead = "speechSynthesis" in globalThis;
export const canListen = Recognition !== undefined;

// Hold what is read aloud; `toggle(source)` begins or ends.
export function useReading(source) {
  const [reading, setReading] = useState(false);
  const spoken = useRef(null);
  const end = () => {
    if (spoken.current) speechSynthesis.cancel();
    spoken.current = null;
    setReading(false);
  };
  useEffect(() => () => spoken.current && speechSynthesis.cancel(), []);
  const toggle = () => {
    if (reading) return end();
    speechSynthesis.cancel();
    spoken.current = new SpeechSynthesisUtterance(withoutMarks(source));
    if (choices().language) spoken.current.lang = choices().language;
    spoken.current.onend = spoken.current.onerror = () => {
      spoken.current = null;
      setReading(false);
    };
    setReading(true);
    speechSynthesis.speak(spoken.current);
  };
  return [reading, toggle];
}

// Hold what is spoken; `heard(words, isOver)` gets the words so far.
export function useListening(heard) {
  const [state, setState] = useState("");
  const listener = useRef(null);
  useEffect(() => () => listener.current?.abort(), []);
  const start = () => {
    const one = (listener.current = new Recognition());
    one.lang = choices().language ?? navigator.language;
    one.interimResults = true;
    one.onresult = (event) => {
      const results = [...event.results];
      heard(results.map((result) => result[0].transcript).join(" "), results.every((result) => result.isFinal));
    };
    one.onerror = (event) => setState(event.error === "not-allowed" ? "You did not allow it." : "Nothing was heard.");
    one.onend = () => setState((before) => (before === "listening" ? "" : before));
    setState("listening");
    one.start();
  };
  const stop = () => listener.current?.stop();
  return [state, start, stop];
}

export function hasConsent() {
  return kept(CONSENT) === "yes";
}

// Say before the first use where the sound goes.
export function Consent({ agree, leave }) {
  const box = useRef(null);
  useEffect(() => box.current.showModal(), []);
  const yes = () => {
    keep(CONSENT, "yes");
    agree();
  };
  const closing = (event) => {
    event.preventDefault();
    leave();
  };
  return html`<dialog class="question" ref=${box} aria-label="Before you speak" onCancel=${closing}>
    <p>Your browser may send what you say to its maker, who writes it down. The assistant gets the words alone.</p>
    <div class="pair"><button class="press" onClick=${leave}>Not now</button>
      <button class="press strong" onClick=${yes}>Speak</button></div>
  </dialog>`;
}

function withoutMarks(source) {
  return source.replace(/```[\s\S]*?(?:```|$)/g, " ").replace(/[*_`#>|~]+/g, " ").replace(/\[([^\]]*)\]\([^)]*\)/g, "$1");
}

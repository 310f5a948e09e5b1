// Where words are typed or spoken: Enter sends them, Shift and Enter begins a new line.

import { words } from "./answers.js";
import { useInfo } from "./page_info.js";
import { canListen, Consent, hasConsent, useListening } from "./speech.js";
import { Drawing, html, useEffect, useRef, useState } from "./ui.js";

export function Composer({ say, ask, busy, stop }) {
  const field = useRef(null);
  const { voice } = useInfo();
  const grow = () => {
    field.current.style.height = "auto";
    field.current.style.height = `${field.current.scrollHeight}px`;
  };
  const write = (said) => {
    field.current.value = said;
    grow();
  };
  const send = (event) => {
    event?.preventDefault();
    const said = field.current.value;
    if (!said.trim()) return;
    write("");
    say(...words(said));
  };
  const pressed = (event) => {
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing) send(event);
  };
  useEffect(() => {
    if (matchMedia("(pointer: fine)").matches) field.current.focus({ preventScroll: true });
  }, []);
  useEffect(() => {
    if (ask === "raw_string") field.current.focus({ preventScroll: true });
  }, [ask]);
  return html`<form class="composer" onSubmit=${send}>
    <label class="hidden" for="words">Your message</label>
    <textarea id="words" ref=${field} rows="1" maxlength="100000" placeholder=${PLACEHOLDERS[ask] ?? "Say something"}
      enterkeyhint="send" autocomplete="off" onInput=${grow} onKeyDown=${pressed}></textarea>
    ${voice && canListen && html`<${Microphone} write=${write} />`}
    ${busy && html`<${Stop} stop=${stop} />`}
    <button class="round strong" aria-label="Send"><${Drawing} name="send" /></button>
  </form>`;
}

function Stop({ stop }) {
  const [asked, setAsked] = useState(false);
  const press = () => {
    stop();
    setAsked(true);
  };
  return html`<button class="round" type="button" aria-label="Stop" title="Stop (Esc)" disabled=${asked} onClick=${press}>
    <${Drawing} name="stop" /></button>`;
}

function Microphone({ write }) {
  const [asking, setAsking] = useState(false);
  const [state, start, end] = useListening(write);
  const listens = state === "listening";
  const press = () => {
    if (listens) end();
    else if (hasConsent()) start();
    else setAsking(true);
  };
  const agree = () => {
    setAsking(false);
    start();
  };
  return html`<button class=${`round ${listens ? "listening" : ""}`} type="button" aria-label="Speak" aria-pressed=${listens}
      title=${listens ? "Listening; press to end" : state || "Speak"} onClick=${press}><${Drawing} name="mic" /></button>
    ${state && !listens && html`<span class="hidden" role="alert">${state}</span>`}
    ${asking && html`<${Consent} agree=${agree} leave=${() => setAsking(false)} />`}`;
}

const PLACEHOLDERS = {
  __proto__: null,
  raw_string: "Your answer, word for word",
  choice: "Or say which one",
  yesno: "Or say it in your own words",
};

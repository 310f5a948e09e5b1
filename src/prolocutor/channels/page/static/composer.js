// Where words are typed: Enter sends them, Shift and Enter begins a new line.

import { words } from "./answers.js";
import { Drawing, html, useEffect, useRef } from "./ui.js";

export function Composer({ say, ask }) {
  const field = useRef(null);
  const grow = () => {
    field.current.style.height = "auto";
    field.current.style.height = `${field.current.scrollHeight}px`;
  };
  const send = (event) => {
    event.preventDefault();
    const said = field.current.value;
    if (!said.trim()) return;
    field.current.value = "";
    grow();
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
    <button class="round strong" aria-label="Send"><${Drawing} name="send" /></button>
  </form>`;
}

const PLACEHOLDERS = {
  __proto__: null,
  raw_string: "Your answer, word for word",
  choice: "Or say which one",
  yesno: "Or say it in your own words",
};

// Where words are typed or spoken, and files put beside them: Enter sends, or Ctrl and Enter where
// that was chosen.

import { fitting, uploadFitting, words } from "./answers.js";
import { useChoices } from "./choices.js";
import { Later } from "./later.js";
import { useInfo } from "./page_info.js";
import { canListen, Consent, hasConsent, useListening } from "./speech.js";
import { Drawing, html, useEffect, useRef, useState } from "./ui.js";
import { currentSkill } from "./visitor.js";

const loadExtras = () => import("./extras.js");

export function Composer({ say, ask, busy, stop, askOnly }) {
  const field = useRef(null);
  const [open, setOpen] = useState(false);
  const [file, setFile] = useState(null);
  const [wrong, setWrong] = useState("");
  const [sending, setSending] = useState(false);
  const { enter_sends: enterSends } = useChoices();
  const { voice } = useInfo();
  const grow = () => {
    field.current.style.height = "auto";
    field.current.style.height = `${field.current.scrollHeight}px`;
  };
  const typed = () => {
    setWrong(""); // what was refused is over once somebody goes on
    grow();
  };
  const write = (said) => {
    field.current.value = said;
    grow();
  };
  const send = (event) => {
    event?.preventDefault();
    const said = field.current.value;
    if (sending || (!said.trim() && !file)) return undefined;
    if (file) return sendFile(said);
    setWrong("");
    write("");
    return say(...words(said));
  };
  // Words with a file are words with its address at their end.
  const sendFile = async (said) => {
    setSending(true);
    setWrong("");
    try {
      const address = await uploadFitting(await file.body);
      write("");
      setFile(null);
      say(...words(`${said.trim()} ${address}`.trim()));
    } catch (error) {
      setWrong(error.message);
    }
    setSending(false);
  };
  const pressed = (event) => {
    if (event.key !== "Enter" || event.isComposing) return;
    if (enterSends ? !event.shiftKey : event.ctrlKey || event.metaKey) send(event);
  };
  // What is asked for takes what is pasted and dropped by itself. A file that cannot be sent is refused at once.
  const attach = (files, event) => {
    if (!files?.length || ask === "picture") return;
    event?.preventDefault();
    const chosen = { name: files[0].name, body: fitting(files[0]) };
    setFile(chosen);
    setWrong("");
    chosen.body.catch((error) => {
      setFile((now) => (now === chosen ? null : now));
      setWrong(`${chosen.name}: ${error.message}`);
    });
    setTimeout(() => field.current?.focus({ preventScroll: true })); // once a dialog has gone
  };
  const skill = currentSkill();
  useEffect(() => {
    if (matchMedia("(pointer: fine)").matches) field.current.focus({ preventScroll: true });
  }, []);
  useEffect(() => {
    if (ask === "raw_string") field.current.focus({ preventScroll: true });
  }, [ask]);
  return html`${(file || skill || wrong) && html`<p class="extras-line">
      ${skill && html`<span class="chip">asks only ${skill} <button class="small" type="button" aria-label=${`Ask everybody, not only ${skill}`} onClick=${() => askOnly(null)}><${Drawing} name="close" /></button></span>`}
      ${file && html`<span class="chip">${sending ? "Uploading " : ""}${file.name} <button class="small" type="button" aria-label=${`Leave ${file.name} out`} onClick=${() => setFile(null)}><${Drawing} name="close" /></button></span>`}
      ${wrong && html`<span class="wrong" role="alert">${wrong}</span>`}</p>`}
    ${open && html`<${Later} load=${loadExtras} attach=${attach} askOnly=${askOnly} close=${() => setOpen(false)} />`}
    <form class="composer" onSubmit=${send} onPaste=${(event) => attach(event.clipboardData.files, event)}
      onDragOver=${(event) => event.dataTransfer.types.includes("Files") && event.preventDefault()} onDrop=${(event) => attach(event.dataTransfer.files, event)}>
    <button class="round" type="button" aria-label="Attach a file, or choose who is asked" title="Attach a file, or choose who is asked" aria-haspopup="dialog"
      onClick=${() => (setWrong(""), setOpen(true))}><${Drawing} name="plus" /></button>
    <label class="hidden" for="words">Your message</label>
    <textarea id="words" ref=${field} rows="1" maxlength="100000" placeholder=${PLACEHOLDERS[ask] ?? "Say something"}
      enterkeyhint="send" autocomplete="off" onInput=${typed} onKeyDown=${pressed}></textarea>
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

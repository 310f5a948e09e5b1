// What is asked for, with an input that suits it; whoever likes to may type something else below.

import { password, place, special, upload, whereabouts, words } from "./answers.js";
import { Drawing, html, useEffect, useRef, useState } from "./ui.js";

const FIELDS = {
  number: { label: "A number", type: "number", step: "any", inputmode: "decimal" },
  date: { label: "A date", type: "date" },
  time: { label: "A time of day", type: "time" },
  phone_number: { label: "A phone number", type: "tel", autocomplete: "tel" },
  email_address: { label: "An e-mail address", type: "email", autocomplete: "email" },
  contact: { label: "A phone number or an e-mail address", type: "text" },
  location: { label: "A place", type: "text", autocomplete: "street-address" },
  password: { label: "A password", type: "password", autocomplete: "current-password" },
  picture: { label: "The address of a picture", type: "url", placeholder: "https://" },
};

const HINTS = {
  yesno: "Yes or no?",
  choice: "Choose one of these",
  raw_string: "Your next words are taken as they are",
  command: "Say what is to be done",
  generic: "Waiting for your answer",
};

// The kinds for which nothing else can be typed meanwhile.
export const ALONE = new Set(["password"]);

export function Ask({ kind, say }) {
  const field = FIELDS[kind];
  const label = field ? field.label : HINTS[kind];
  return html`<section class="ask" data-ask=${kind} aria-label="What is asked for">
    ${field ? html`<${Field} kind=${kind} say=${say} ...${field} />` : html`<p>${label}</p>`}
    ${kind === "yesno" && html`<${YesNo} say=${say} />`}
    ${kind === "location" && html`<${Here} say=${say} />`}
    ${kind === "picture" && html`<${Upload} say=${say} />`}
    <button class="quiet" onClick=${() => say(...special("nevermind", "Never mind"))}>Never mind</button>
  </section>`;
}

function YesNo({ say }) {
  return html`<div class="pair">
    <button class="press" onClick=${() => say(...special("yes", "Yes"))}>Yes</button>
    <button class="press" onClick=${() => say(...special("no", "No"))}>No</button>
  </div>`;
}

function Field({ kind, say, label, ...input }) {
  const field = useRef(null);
  const [wrong, setWrong] = useState("");
  useEffect(() => {
    const typing = document.activeElement?.value;
    if (!typing && matchMedia("(pointer: fine)").matches) field.current.focus({ preventScroll: true });
  }, []);
  const answer = (event) => {
    event.preventDefault();
    const { value, validity, validationMessage } = field.current;
    if (!value.trim() || validity.badInput || validity.typeMismatch) {
      setWrong(validationMessage || "Please fill this in.");
      field.current.focus();
      return;
    }
    say(...(kind === "password" ? password(value) : words(value.trim())));
  };
  return html`<form onSubmit=${answer} noValidate>
    <label>
      <span>${label}</span>
      <input ref=${field} ...${input} aria-invalid=${wrong ? "true" : undefined} />
    </label>
    <button class="press strong">Answer</button>
    ${wrong && html`<p class="wrong" role="alert">${wrong}</p>`}
  </form>`;
}

function Here({ say }) {
  const [wrong, setWrong] = useState("");
  const tell = () =>
    whereabouts().then((found) => say(...place(found)), (error) => setWrong(error.message));
  return html`<button class="press" onClick=${tell}><${Drawing} name="place" /> Where I am</button>
    ${wrong && html`<p class="wrong" role="alert">${wrong}</p>`}`;
}

function Upload({ say }) {
  const [state, setState] = useState("");
  const send = async (files) => {
    const [chosen] = files;
    if (!chosen) return;
    setState("busy");
    try {
      say(...words(await upload(chosen)));
    } catch (error) {
      setState(error.message);
    }
  };
  useEffect(() => {
    const pasted = (event) => send(event.clipboardData.files);
    document.addEventListener("paste", pasted);
    return () => document.removeEventListener("paste", pasted);
  }, []);
  return html`<label class="press upload">
      <${Drawing} name="picture" /> ${state === "busy" ? "Uploading…" : "Upload a picture"}
      <input type="file" accept="image/png,image/jpeg,image/gif,image/webp"
        onChange=${(event) => send(event.target.files)} />
    </label>
    ${state && state !== "busy" && html`<p class="wrong" role="alert">${state}</p>`}`;
}

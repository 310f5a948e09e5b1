// The settings of a person, in a dialog that comes when it is first opened.

import { isQuiet, setQuiet } from "./bell.js";
import { useChoices } from "./choices.js";
import { keepChoices } from "./chosen.js";
import { setTheme, theme } from "./themes.js";
import { html, useEffect, useRef, useState } from "./ui.js";

const ZONES = Intl.supportedValuesOf?.("timeZone") ?? [];
const LANGUAGES = ["ar", "cs", "da", "de", "en-GB", "en-US", "es", "fi", "fr", "hi", "it", "ja", "ko", "nb", "nl", "pl", "pt-BR", "pt-PT", "ro", "ru", "sv", "tr", "uk", "zh-CN"];

export default function Settings({ close }) {
  const now = useChoices();
  const box = useRef(null);
  const [wrong, setWrong] = useState("");
  const [shown, setShown] = useState(theme());
  const [quiet, hush] = useState(isQuiet());
  useEffect(() => box.current.showModal(), []);
  const choose = (changes) => keepChoices(changes).then(() => setWrong(""), (error) => setWrong(error.message));
  const dress = (value) => {
    setTheme(value);
    setShown(value);
    choose({ theme: value === "system" ? null : value });
  };
  const ring = (value) => {
    setQuiet(!value);
    hush(!value);
  };
  return html`<dialog class="question settings" ref=${box} aria-labelledby="settings-title" onCancel=${(event) => (event.preventDefault(), close())}
      onKeyDown=${(event) => event.key === "Escape" && event.stopPropagation()}>
    <h2 id="settings-title">Settings</h2>
    <label><span>Theme</span><select value=${shown} onChange=${(event) => dress(event.target.value)}>
      ${[["system", "As the system"], ["light", "Light"], ["dark", "Dark"]].map(([value, name]) => html`<option value=${value} selected=${value === shown}>${name}</option>`)}</select></label>
    <label><span>Language of dates and speech</span><select onChange=${(event) => choose({ language: event.target.value || null })}>
      <option value="" selected=${!now.language}>As the browser (${navigator.language})</option>
      ${withOwn(LANGUAGES, now.language).map((one) => html`<option value=${one} selected=${one === now.language}>${nameOf(one)}</option>`)}</select></label>
    <label><span>Time zone</span><select onChange=${(event) => choose({ time_zone: event.target.value || null })}>
      <option value="" selected=${!now.time_zone}>As the browser (${Intl.DateTimeFormat().resolvedOptions().timeZone})</option>
      ${withOwn(ZONES, now.time_zone).map((one) => html`<option value=${one} selected=${one === now.time_zone}>${one.replaceAll("_", " ")}</option>`)}</select></label>
    <label><span>Clock</span><select onChange=${(event) => choose({ twelve_hours: event.target.value === "12" })}>
      ${[["24", "24 hours (16:41)"], ["12", "12 hours (4:41 PM)"]].map(([value, name]) => html`<option value=${value} selected=${now.twelve_hours === (value === "12")}>${name}</option>`)}</select></label>
    <label class="tick"><input type="checkbox" checked=${now.enter_sends} onChange=${(event) => choose({ enter_sends: event.target.checked })} /><span>Enter sends (else Ctrl and Enter)</span></label>
    <label class="tick"><input type="checkbox" checked=${!quiet} onChange=${(event) => ring(event.target.checked)} /><span>Sounds, in this browser</span></label>
    ${wrong && html`<p class="wrong" role="alert">${wrong}</p>`}
    <div class="pair"><button class="press strong" onClick=${close}>Done</button></div>
  </dialog>`;
}

const withOwn = (known, own) => (own && !known.includes(own) ? [own, ...known] : known);

function nameOf(language) {
  try {
    return new Intl.DisplayNames([language], { type: "language" }).of(language);
  } catch {
    return language;
  }
}

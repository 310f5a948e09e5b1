// What skills do that act: approvals that wait for an operator, and outcomes that nobody knows.

import { send } from "./api.js";
import { useDoorData } from "./fetching.js";
import { Confirm, listOf } from "./parts.js";
import { text } from "./safe.js";
import { html, useState } from "./ui.js";

const WORDS = {
  approve: ["Approve", "It is done now."], refuse: ["Refuse", "Nothing is done."], done: ["It was done", "The person is told so."],
  not_done: ["It was not done", "The person is told so."], again: ["Do it again", "The agent is asked once more: it may be done twice."],
};

// Nothing where nothing waits, or the plug-in of effects is not there.
export function Effects({ operator }) {
  const found = useDoorData(operator, "/effects", {}, { every: 10 });
  const items = listOf(found.value?.items).filter((one) => one.state === "unknown" || (one.state === "waiting" && one.approver === "operator"));
  if (!items.length) return null;
  return html`<section class="rollouts" aria-label="Effects"><h2>Effects</h2>
    ${items.map((one) => html`<${Effect} key=${one.key} one=${one} operator=${operator} again=${found.again} />`)}</section>`;
}

function Effect({ one, operator, again }) {
  const [asking, setAsking] = useState(null);
  const [edited, setEdited] = useState({});
  const fields = Object.entries(one.fields ?? {});
  const decide = async () => {
    const changed = Object.entries(edited).map(([name, words]) => [name, valueOf(name, words, one)]);
    await send("POST", "/effects", { key: one.key, decision: asking, ...(asking === "approve" && changed.length && { fields: Object.fromEntries(changed) }) });
    again();
  };
  const editable = asking === "approve" && !one.fixed;
  return html`<article class="rollout"><h3>${text(one.title || one.service)} <small>${text(one.service)}, for ${text(one.user)}</small>
      <span class=${one.state === "unknown" ? "wrong" : "faint"}>${one.state === "unknown" ? "not known whether it was done" : "waits for an approval"}</span></h3>
    ${fields.length > 0 && html`<table><caption class="hidden">What would be done</caption><tbody>
      ${fields.map(([name, value]) => html`<tr><th scope="row">${text(name)}</th><td>${text(shown(value))}</td></tr>`)}</tbody></table>`}
    ${one.why && html`<p class="faint">${text(one.why)}</p>`}
    <footer>${(one.state === "unknown" ? ["done", "not_done", "again"] : ["approve", "refuse"]).map((what) => html`<button class="press small-press" disabled=${!operator.writes} onClick=${() => setAsking(what)}>${WORDS[what][0]}</button>`)}</footer>
    ${asking && html`<${Confirm} title=${`${WORDS[asking][0]}?`} press=${WORDS[asking][0]} act=${decide} close=${() => setAsking(null)}><p>${WORDS[asking][1]}</p>
      ${editable && fields.map(([name, value]) => html`<label class="field">${text(one.kinds[name]?.title ?? name)}
        <input value=${edited[name] ?? shown(value)} onInput=${(event) => setEdited({ ...edited, [name]: event.target.value })} /></label>`)}</${Confirm}>`}</article>`;
}

const shown = (value) => (typeof value === "string" ? value : JSON.stringify(value));

// A field that is a text stays one; others are written as JSON.
function valueOf(name, words, { fields, kinds }) {
  if ((kinds[name]?.type ?? typeof fields[name]) === "string") return words;
  try {
    return JSON.parse(words);
  } catch {
    throw new Error(`${kinds[name]?.title ?? name}: expected a value such as ${shown(fields[name])}`);
  }
}

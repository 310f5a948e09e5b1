// What is read seldom of a turn, in full: its calls word for word, and its record. Each comes when it
// is first opened.

import { CopyButton } from "./copying.js";
import { Later } from "./later.js";
import { html, useState } from "./ui.js";

const loadCalls = () => import("./calls.js");

export function Raw({ turn }) {
  const [open, setOpen] = useState(false);
  const [called, setCalled] = useState(false);
  const json = open ? JSON.stringify(turn, null, 1) : "";
  return html`${turn.turn_id && html`<details class="raw" onToggle=${(event) => setCalled(event.target.open)}><summary>Requests and replies, word for word</summary>
      ${called && html`<${Later} load=${loadCalls} turnId=${turn.turn_id} />`}</details>`}
    <details class="raw" onToggle=${(event) => setOpen(event.target.open)}><summary>The record as JSON</summary>
    ${open && html`<${CopyButton} source=${json} /><pre tabindex="0">${json.slice(0, 200_000)}${json.length > 200_000 ? "\n… (copy it to see all)" : ""}</pre>`}</details>`;
}

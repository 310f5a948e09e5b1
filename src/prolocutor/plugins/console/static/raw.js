// The record of a turn as JSON, which comes when it is first opened.

import { CopyButton } from "./copying.js";
import { html, useState } from "./ui.js";

export function Raw({ turn }) {
  const [open, setOpen] = useState(false);
  const json = open ? JSON.stringify(turn, null, 1) : "";
  return html`<details class="raw" onToggle=${(event) => setOpen(event.target.open)}><summary>The record as JSON</summary>
    ${open && html`<${CopyButton} source=${json} /><pre tabindex="0">${json.slice(0, 200_000)}${json.length > 200_000 ? "\n… (copy it to see all)" : ""}</pre>`}</details>`;
}

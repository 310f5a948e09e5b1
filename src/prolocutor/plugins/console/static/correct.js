// Correcting an answer where it is read: who should have answered, and what would have been right.

import { send } from "./api.js";
import { plural } from "./figures.js";
import { Confirm, attempt, listOf } from "./parts.js";
import { text } from "./safe.js";
import { html, useRef, useState } from "./ui.js";

const labels = new Map();

export function Correct({ turn, operator }) {
  const [open, setOpen] = useState(false);
  const [label, setLabel] = useState(labels.get(turn.utt_id) ?? null);
  const put = (value) => {
    if (value) labels.set(turn.utt_id, value);
    else labels.delete(turn.utt_id);
    setLabel(value);
  };
  const undo = () => attempt(() => put(null), () => send("DELETE", `/labels/${encodeURIComponent(label.id)}`), () => put(label));
  if (!operator.writes || !listOf(operator.agents).length) return null;
  if (label) {
    return html`<p class="corrected" role="status"><span class="good">Right: <b>${label.agents.join(", ") || "nobody"}</b></span>${" "}
      <span class="faint">${label.turns > 1 ? `for ${plural(label.turns, "turn")}, ` : ""}learned at the next training</span> <button class="link" onClick=${undo}>Take it back</button></p>`;
  }
  return html`<button class="press small-press" onClick=${() => setOpen(true)}>Correct this answer…</button>
    ${open && html`<${Form} turn=${turn} agents=${operator.agents} put=${put} close=${() => setOpen(false)} />`}`;
}

function Form({ turn, agents, put, close }) {
  const [right, setRight] = useState([]);
  const answer = useRef(null);
  const asked = listOf(turn.asked).map(text);
  const order = [...agents.filter((name) => asked.includes(name)), ...agents.filter((name) => !asked.includes(name))];
  const toggle = (name) => setRight(right.includes(name) ? right.filter((one) => one !== name) : [...right, name]);
  const act = async () => {
    const words = answer.current.value.trim();
    const made = await send("POST", "/labels", { work: turn.utt_id, agents: right, ...(words ? { answer: words } : {}) });
    put({ id: made.id, turns: made.turns ?? 1, agents: right });
  };
  return html`<${Confirm} title="Who should have answered?" press=${right.length ? "Save" : "Save: nobody"} act=${act} close=${close}>
    <p class="asked-then" dir="auto"><q>${text(turn.text).slice(0, 500)}</q></p>
    <fieldset class="right-agents"><legend class="hidden">Agents that are right; none of them: nobody</legend>${order.map((name) => html`<label class="check"><input type="checkbox" checked=${right.includes(name)} onChange=${() => toggle(name)} /> ${name}</label>`)}</fieldset>
    <label class="field"><span>What would have been right, in words (not needed; it becomes an example to evaluate with)</span><textarea ref=${answer} rows="3" maxlength="100000"></textarea></label>
    <p class="faint">It counts for all turns that asked the same, and is learned at the next training.</p></${Confirm}>`;
}

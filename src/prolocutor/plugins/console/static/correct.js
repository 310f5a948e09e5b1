// Correcting an answer where it is read: who should have answered, what would have been right, and
// with that who erred: the router, the ranker or an agent.

import { send } from "./api.js";
import { useFetched } from "./fetching.js";
import { plural } from "./figures.js";
import { Confirm, attempt, listOf } from "./parts.js";
import { link } from "./router.js";
import { text } from "./safe.js";
import { html, useRef, useState } from "./ui.js";
import { scoreOf, speakers } from "./verdict.js";

export function Correct({ turn, operator, put }) {
  const [open, setOpen] = useState(false);
  const { label } = turn;
  const models = useFetched(label && "/models");
  const undo = () => attempt(() => put({ label: null }), () => send("DELETE", `/labels/${encodeURIComponent(label.id)}`), () => put({ label }));
  if (!listOf(operator.agents).length) return null;
  if (label) {
    return html`<p class="corrected" role="status"><span class="good">Right: <b>${listOf(label.agents).map(text).join(", ") || "nobody"}</b></span>${" "}
      <span class="faint">${label.turns > 1 ? `for ${plural(label.turns, "turn")}, ` : ""}${learnedBy(label, models.value)}</span> ${operator.writes && html`<button class="link" onClick=${undo}>Take it back</button>`}
      <${Erred} turn=${turn} right=${listOf(label.agents)} /></p>`;
  }
  return operator.writes && html`<button class="press small-press" onClick=${() => setOpen(true)}>Correct this answer…</button>
    ${open && html`<${Form} turn=${turn} agents=${operator.agents} put=${put} close=${() => setOpen(false)} />`}`;
}

// Say which model in use has learned a label: one that was trained here later.
function learnedBy(label, models) {
  const model = listOf(models?.items).find((one) => one.state === "live" && one.report && label.at < Date.parse(`${one.made}Z`) / 1000);
  return model ? `learned by the ${text(model.role)} in use` : "learned at the next training";
}

// Say which part of the assistant erred, and where that is trained.
function Erred({ turn, right }) {
  const [role, why] = whoErred(turn, right);
  const models = useFetched(role && "/models");
  if (!why) return null;
  return html`<span class="erred">${why}${listOf(models.value?.roles).includes(role) && html` <a href=${link(["quality"])}>Train the ${role}</a>`}</span>`;
}

// Give who erred in a turn where these agents are right: a role that may be trained or null, and why. There
// is a ranker where answers have its scores, and a router where a skill selector ran.
export function whoErred(turn, right) {
  const spoke = speakers(turn);
  const asked = listOf(turn.asked).map(text);
  const answered = new Set(listOf(turn.hypotheses).map((one) => text(one?.skill_name)));
  if (right.some((name) => spoke.has(name))) return [null, spoke.size && turn.label?.answer ? "The right agent spoke, with other words: the agent erred." : ""];
  const [chooser, choice] = listOf(turn.hypotheses).some((one) => scoreOf(turn, one) !== null) ? ["ranker", "the ranker"]
    : turn.by === "selector" ? [null, "the response selector"] : [null, "the confidence that agents give themselves"];
  if (!right.length) return spoke.size && answered.size ? [chooser, `Nobody should have answered, and an answer was chosen: ${choice} erred.`] : [null, ""];
  const [shown] = right.filter((name) => answered.has(name));
  if (shown) return [chooser, `${shown} answered and was not chosen: ${choice} erred.`];
  const [silent] = right.filter((name) => asked.includes(name));
  if (silent) return [null, `${silent} was asked and gave no answer: the agent erred.`];
  return listOf(turn.services).some((one) => one?.stage === "skill_selector" && one.started !== null)
    ? ["router", `${right[0]} was not asked: the router erred.`] : [null, `${right[0]} was not asked.`];
}

function Form({ turn, agents, put, close }) {
  const [right, setRight] = useState([]);
  const [nobody, setNobody] = useState(false);
  const answer = useRef(null);
  const asked = listOf(turn.asked).map(text);
  const order = [...agents.filter((name) => asked.includes(name)), ...agents.filter((name) => !asked.includes(name))];
  const choose = (names) => (setRight(names), setNobody(false));
  const toggle = (name) => choose(right.includes(name) ? right.filter((one) => one !== name) : [...right, name]);
  const act = async () => {
    const words = answer.current.value.trim();
    const made = await send("POST", "/labels", { work: turn.utt_id, agents: right, ...(words ? { answer: words } : {}) });
    put({ label: { id: made.id, turns: made.turns ?? 1, agents: right, answer: words } });
  };
  return html`<${Confirm} title="Who should have answered?" press="Save" ready=${nobody || right.length > 0} act=${act} close=${close}>
    <p class="asked-then" dir="auto"><q>${text(turn.text).slice(0, 500)}</q></p>
    <fieldset class="right-agents"><legend class="hidden">Agents that are right, or nobody</legend>${order.map((name) => html`<label class="check"><input type="checkbox" checked=${right.includes(name)} onChange=${() => toggle(name)} /> ${name}</label>`)}
      <label class="check"><input type="checkbox" checked=${nobody} onChange=${() => (setRight([]), setNobody(!nobody))} /> <i>nobody</i></label></fieldset>
    <label class="field"><span>What would have been right, in words (not needed; it becomes an example to evaluate with)</span><textarea ref=${answer} rows="3" maxlength="100000"></textarea></label>
    ${(nobody || right.length > 0) && html`<p>${whoErred(turn, right)[1]}</p>`}
    <p class="faint">It counts for all turns that asked the same, and is learned at the next training.</p></${Confirm}>`;
}

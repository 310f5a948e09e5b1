// What is tried out: how each new service stands beside the one that it would replace.

import { send } from "./api.js";
import { useDoorData } from "./fetching.js";
import { count, plural } from "./figures.js";
import { Confirm, listOf } from "./parts.js";
import { text } from "./safe.js";
import { html, useState } from "./ui.js";

const ESTIMATES = [["inverse_propensity", "inverse propensity"], ["self_normalized", "self-normalized"], ["doubly_robust", "doubly robust"]];

// Nothing where nothing is tried out, or the plug-in of rollouts is not there.
export function Rollouts({ operator, changed }) {
  const found = useDoorData(operator, "/rollout", {}, { every: 10 });
  const items = listOf(found.value?.items);
  if (!items.length) return null;
  return html`<section class="rollouts" aria-label="What is tried out"><h2>Tried out</h2>
    ${items.map(({ trial, verdict }) => html`<${Trial} key=${`${trial.stage}.${trial.name}`} trial=${trial} verdict=${verdict} operator=${operator} again=${() => { found.again(); changed(); }} />`)}</section>`;
}

function Trial({ trial, verdict, operator, again }) {
  const [asking, setAsking] = useState(null);
  const { estimates, shadow, instead_of: old } = trial;
  const decide = async () => {
    await send("POST", "/rollout", { do: asking, name: trial.name });
    again();
  };
  return html`<article class="rollout"><h3>${text(trial.name)} <small>${old ? html`instead of ${text(old)} for ${share(trial.share)} of people` : "asked unseen"}</small>
      <span class=${trial.state === "stopped" ? "wrong" : trial.state === "promoted" ? "good" : "faint"}>${text(trial.state)}</span></h3>
    ${trial.why && html`<p class="faint">${text(trial.state)} by ${text(trial.why)}</p>`}
    <p>${text(verdict)}</p>
    ${estimates && html`<table><caption class="hidden">What ${text(trial.name)} gains</caption><tbody>
      ${[[trial.name, estimates.new], [old, estimates.old]].map(([name, arm]) => html`<tr><th scope="row">${text(name)}</th><td class="r">${arm.mean === null ? "–" : share(arm.mean)} right</td><td class="faint">${plural(arm.turns, "turn")}, ${plural(arm.persons, "person", "people")}</td></tr>`)}
      ${ESTIMATES.filter(([key]) => estimates[key]).map(([key, name]) => html`<tr><th scope="row">gain, ${name}</th><td class="r">${points(estimates[key].gain)}</td><td class="faint">${points(estimates[key].low)} to ${points(estimates[key].high)} (95 %)</td></tr>`)}
      ${estimates.always && html`<tr><th scope="row">at any look</th><td></td><td>${points(estimates.always[0])} to ${points(estimates.always[1])}</td></tr>`}</tbody></table>`}
    ${shadow && html`<p class="faint">As a shadow: ${count(shadow.asked)} asked, ${count(shadow.done)} answered, ${count(shadow.failed + shadow.late)} failed or late, ${count(shadow.left_out)} left out; ${shadow.compared ? share(shadow.agreed / shadow.compared) : "–"} as the reply</p>`}
    ${trial.state === "running" && html`<footer>${old && html`<button class="press small-press" disabled=${!operator.writes} onClick=${() => setAsking("promote")}>Promote</button>`}
      <button class="press small-press" disabled=${!operator.writes} onClick=${() => setAsking("stop")}>Stop</button></footer>`}
    ${asking && html`<${Confirm} title=${asking === "stop" ? `Stop ${text(trial.name)}?` : `Give ${text(trial.name)} to everybody?`} press=${asking === "stop" ? "Stop" : "Promote"} act=${decide} close=${() => setAsking(null)}>
      <p>${asking === "stop" ? html`${text(trial.name)} is switched off.` : html`${text(old)} is switched off.`} The file is unchanged.</p></${Confirm}>`}</article>`;
}

const share = (value) => `${(100 * value).toFixed(value > 0 && value < 0.1 ? 1 : 0)} %`;
const points = (value) => `${value < 0 ? "−" : "+"}${Math.abs(100 * value).toFixed(1)}`;

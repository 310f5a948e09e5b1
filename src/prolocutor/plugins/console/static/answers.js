// The answers that a turn chose from: the likeliest first, the same ones of an agent together.

import { count, duration, money } from "./figures.js";
import { listOf } from "./parts.js";
import { Reply } from "./reply.js";
import { text } from "./safe.js";
import { html, useState } from "./ui.js";
import { scoreOf } from "./verdict.js";

const SHOWN = 10;

export function Answers({ turn, operator }) {
  const agents = listOf(operator.agents);
  const chosen = new Set(listOf(turn.chosen));
  const found = listOf(turn.hypotheses).filter((one) => one !== null && typeof one === "object").map((one) => ({ one, score: scoreOf(turn, one), chosen: chosen.has(one.hypothesis_id) }));
  const worth = ({ one, score }) => score ?? (Number.isFinite(one.confidence) ? one.confidence - 10 : -20);
  found.sort((one, other) => other.chosen - one.chosen || worth(other) - worth(one));
  const rows = together(found);
  const [all, setAll] = useState(false);
  const shown = all ? rows : rows.slice(0, SHOWN);
  const priced = found.some(({ one }) => one.cost > 0);
  const after = new Map(listOf(turn.services).map((one) => [one?.name, one]));
  return html`<section><h2>Answers to choose from</h2>
    ${found.length ? html`<table class="answers"><thead><tr><th scope="col">Agent</th><th scope="col" class="r" title="how likely the ranker takes it to be right">Right</th><th scope="col" class="r" title="the confidence that the agent gives itself">Own</th><th scope="col">Answer</th><th scope="col" class="r">After</th>${priced && html`<th scope="col" class="r">Cost</th>`}</tr></thead>
      <tbody>${shown.map(({ one, score, chosen: won, times }) => html`<tr class=${won ? "chosen" : ""}><th scope="row">${text(one.skill_name)} ${won && html`<span class="badge">chosen</span>`}${times > 1 && html` <span class="faint">${times}×</span>`}</th>
        <td class="r right">${score === null ? "–" : html`<span class="meter"><i style=${{ width: `${Math.max(0, Math.min(100, 100 * score))}%` }}></i></span>${score.toFixed(2)}`}</td>
        <td class="r faint">${Number.isFinite(one.confidence) ? one.confidence.toFixed(2) : "–"}</td><td class="text" dir="auto"><${Reply} by=${[one.skill_name]} words=${one.text} operator=${operator} /></td>
        <td class="r">${duration(after.get(one.skill_name)?.ended)}</td>${priced && html`<td class="r">${money(one.cost)}</td>`}</tr>`)}</tbody></table>${rows.length > shown.length && html`<button class="link" onClick=${() => setAll(true)}>All ${count(rows.length)} answers</button>`}` : html`<p class="faint">There were none.</p>`}
    <${Others} turn=${turn} found=${found} agents=${agents} /></section>`;
}

// Those that were asked and gave nothing, and those that were not asked.
function Others({ turn, found, agents }) {
  const asked = listOf(turn.asked).map(text);
  const gave = new Set(found.map(({ one }) => text(one.skill_name)));
  const outcomes = new Map(listOf(turn.services).map((one) => [one?.name, one?.outcome]));
  const none = asked.filter((name) => !gave.has(name)).map((name) => (outcomes.get(name) && outcomes.get(name) !== "done" ? `${name} (${text(outcomes.get(name))})` : name));
  const rest = agents.filter((name) => !asked.includes(name));
  return html`<p class="faint after">${none.length > 0 && html`<span class="names">${none.join(", ")}</span> gave none. `}
    ${rest.length > 0 && html`${count(rest.length)} ${rest.length === 1 ? "agent was" : "agents were"} not asked: <span class="names">${rest.join(", ")}</span>`}</p>`;
}

// Put the same words of an agent into one row with how often they came.
function together(found) {
  const rows = new Map();
  for (const row of found) {
    const name = JSON.stringify([text(row.one.skill_name), text(row.one.text), row.one.confidence, row.score]);
    const known = rows.get(name);
    if (known) known.times += 1;
    else rows.set(name, { ...row, times: 1 });
  }
  return [...rows.values()];
}

// One turn: the verdict, the timeline, what went wrong, the answers, what changed, what was noted.

import { Again, useAgain } from "./again.js";
import { useFetched } from "./fetching.js";
import { count, duration, exactClock, money, wholeTime } from "./figures.js";
import { Gantt } from "./gantt.js";
import { useKeys } from "./keys.js";
import { States, listOf, namesOf, tell } from "./parts.js";
import { link } from "./router.js";
import { text } from "./safe.js";
import { Verdict, scoreOf, speakers } from "./verdict.js";
import { Drawing, html, useState } from "./ui.js";

const LONG = 2000;

export function Turn({ item, operator }) {
  const turn = useFetched(`/turns/${encodeURIComponent(item.utt_id)}`);
  const again = useAgain(item.utt_id, operator);
  useKeys({ r: () => again.press?.() });
  return html`<${States} of=${turn} what="This turn" rows=${5}>${turn.value && html`<${Whole} turn=${turn.value} item=${item} again=${again} operator=${operator} />`}</${States}>`;
}

function Whole({ turn, item, again, operator }) {
  const kept = Array.isArray(turn.services);
  return html`
    <header class="turn-head">
      <${Verdict} turn=${turn} item=${item} />
      <${Figures} turn=${turn} item=${item} agents=${listOf(operator.agents)} />
      <div class="acts">
        ${again.press && html`<button class="press small-press" onClick=${again.press} disabled=${again.busy}><${Drawing} name="again" />Run this turn again <kbd aria-hidden="true">r</kbd></button>`}
        ${again.others.length > 0 && html`<label class="labeller">on <select aria-label="Run it again on a changed assistant" value="" onChange=${(event) => event.target.value && again.start(event.target.value)}>
          <option value="">a changed assistant…</option>${again.others.map((name) => html`<option value=${name}>${name}</option>`)}</select></label>`}
        <${RightAgent} turn=${turn} item=${item} />
      </div>
    </header>
    <${Again} of=${again} />
    <section class=${`said-in-full ${shownBeside(turn, item) ? "only-phone" : ""}`}><h2>Asked and answered</h2><p class="own-words" dir="auto"><${Long} value=${turn.text} /></p><p class="reply" dir="auto"><${Long} value=${turn.response} /></p></section>
    ${kept ? html`<${Gantt} turn=${turn} spoke=${speakers(turn)} />` : html`<${NotKept} turn=${turn} />`}
    <${Wrongs} turn=${turn} />
    <${Answers} turn=${turn} agents=${listOf(operator.agents)} />
    <div class="two"><${Changes} changes=${turn.changes} /><${Noted} annotations=${turn.annotations} /></div>
    <${Raw} turn=${turn} />`;
}

// Tell whether the talk beside it shows all that was said.
function shownBeside(turn, item) {
  return [[turn.text, item.said], [turn.response, item.reply]].every(([whole, shown]) => text(whole) === text(shown) && text(whole).length < 1000);
}

function NotKept({ turn }) {
  const by = turn.by === "assistant" ? "No service was asked." : "Who was asked when is not kept any more: records of turns are kept for the time under records: {keep: …}.";
  return html`<p class="faint not-kept" role="note">${by}</p>`;
}

function Figures({ turn, item, agents }) {
  const failed = listOf(turn.services).filter((one) => one?.outcome === "failed" || one?.outcome === "late").length;
  const rating = turn.rating ?? item.rating;
  return html`<dl class="figures">
    <div><dt>asked</dt><dd>${count(listOf(turn.asked).length)}${agents.length > 0 && ` of ${count(agents.length)}`}</dd></div>
    <div><dt>cost</dt><dd>${money(turn.cost ?? item.cost)}</dd></div>
    <div><dt>failed</dt><dd class=${failed ? "wrong" : ""}>${Array.isArray(turn.services) ? count(failed) : "–"}</dd></div>
    <div><dt>rated</dt><dd class=${rating < 0 ? "wrong" : ""}>${rating ? html`<${Drawing} name=${rating < 0 ? "down" : "up"} /><span class="hidden">${rating < 0 ? "thumbs down" : "thumbs up"}</span>` : "–"}</dd></div>
    <div><dt>at</dt><dd title=${wholeTime(turn.started ?? item.at)}>${exactClock(turn.started ?? item.at)}</dd></div></dl>`;
}

// The way from a wrong answer to its correction.
function RightAgent({ turn, item }) {
  return html`<a class="press small-press" href=${link(["quality"], { turn: turn.utt_id ?? item.utt_id })}>Name the right agent</a>`;
}

function Wrongs({ turn }) {
  const failed = listOf(turn.services).filter((one) => text(one?.error) && one.outcome !== "skipped")
    .map((one) => ({ name: one.name, what: one.error, code: one.code, late: one.outcome === "late" }));
  const notes = [...listOf(turn.faults).map((one) => ({ name: one?.service, what: one?.what })), ...listOf(turn.remarks).map((one) => ({ name: one?.service, what: one?.what, calm: true }))];
  const all = [...failed, ...notes];
  return all.length > 0 && html`<section><h2>What went wrong</h2><ul class="wrongs">${all.map((one) => html`<li><b class=${one.calm ? "faint" : one.late ? "warn" : "wrong"}>${text(one.name)}</b>
    ${text(one.code) && html`<code>${text(one.code)}</code> `}<span dir="auto"><${Long} value=${one.what} /></span></li>`)}</ul></section>`;
}

function Answers({ turn, agents }) {
  const chosen = new Set(listOf(turn.chosen));
  const found = listOf(turn.hypotheses).filter((one) => one !== null && typeof one === "object").map((one) => ({ one, score: scoreOf(turn, one), chosen: chosen.has(one.hypothesis_id) }));
  const worth = ({ one, score }) => score ?? (Number.isFinite(one.confidence) ? one.confidence - 10 : -20);
  found.sort((one, other) => worth(other) - worth(one));
  const priced = found.some(({ one }) => one.cost > 0);
  const after = new Map(listOf(turn.services).map((one) => [one?.name, one]));
  return html`<section><h2>Answers to choose from</h2>
    ${found.length ? html`<table class="answers"><thead><tr><th scope="col">Agent</th><th scope="col" class="r" title="how likely the ranker takes it to be right">Right</th><th scope="col" class="r" title="the confidence that the agent gives itself">Own</th><th scope="col">Answer</th><th scope="col" class="r">After</th>${priced && html`<th scope="col" class="r">Cost</th>`}</tr></thead>
      <tbody>${found.map(({ one, score, chosen: won }) => html`<tr class=${won ? "chosen" : ""}><th scope="row">${text(one.skill_name)} ${won && html`<span class="badge">chosen</span>`}</th>
        <td class="r right">${score === null ? "–" : html`<span class="meter"><i style=${{ width: `${Math.max(0, Math.min(100, 100 * score))}%` }}></i></span>${score.toFixed(2)}`}</td>
        <td class="r faint">${Number.isFinite(one.confidence) ? one.confidence.toFixed(2) : "–"}</td><td class="text" dir="auto"><${Long} value=${one.text} /></td>
        <td class="r">${duration(after.get(one.skill_name)?.ended)}</td>${priced && html`<td class="r">${money(one.cost)}</td>`}</tr>`)}</tbody></table>` : html`<p class="faint">There were none.</p>`}
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

function Changes({ changes }) {
  const value = (change, name) => (change[name] === undefined || change[name] === null ? null : JSON.stringify(change[name]));
  const shown = listOf(changes).filter((one) => one !== null && typeof one === "object");
  return html`<section><h2>What changed</h2>${changes === null || changes === undefined ? html`<p class="faint">It is not kept any more.</p>` : !shown.length ? html`<p class="faint">Nothing.</p>` : html`
    <table class="diff"><thead class="hidden"><tr><th scope="col">What</th><th scope="col">Before and after</th><th scope="col">By</th></tr></thead><tbody>${shown.map((one) => html`<tr><th scope="row"><small>${text(one.whose)}</small> ${one.part && one.part !== "attributes" ? `${text(one.part)}.` : ""}${text(one.key)}</th>
      <td>${value(one, "before") !== null && html`<del>${value(one, "before").slice(0, LONG)}</del> `}${value(one, "after") !== null && html`<ins>${value(one, "after").slice(0, LONG)}</ins>`}</td><td class="faint r">${namesOf(one.by).join(", ")}</td></tr>`)}</tbody></table>`}</section>`;
}

function Noted({ annotations }) {
  const shown = annotations && typeof annotations === "object" ? Object.entries(annotations) : [];
  return html`<section><h2>Noted</h2>${annotations === null || annotations === undefined ? html`<p class="faint">It is not kept any more.</p>` : !shown.length ? html`<p class="faint">Nothing.</p>` : html`
    <dl class="notes">${shown.map(([name, value]) => html`<div><dt>${name}</dt><dd dir="auto"><${Long} value=${text(value)} /></dd></div>`)}</dl>`}</section>`;
}

function Raw({ turn }) {
  const [open, setOpen] = useState(false);
  const json = open ? JSON.stringify(turn, null, 1) : "";
  const copy = () => navigator.clipboard?.writeText(json).then(() => tell("The record is copied."), () => tell("The browser does not let it be copied.", { wrong: true }));
  return html`<details class="raw" onToggle=${(event) => setOpen(event.target.open)}><summary>The record as JSON</summary>
    ${open && html`<button class="link" onClick=${copy}>Copy</button><pre tabindex="0">${json.slice(0, 200_000)}${json.length > 200_000 ? "\n… (copy it to see all)" : ""}</pre>`}</details>`;
}

// A text of any length; what is very long is shown on demand.
function Long({ value }) {
  const [whole, setWhole] = useState(false);
  const words = text(value);
  if (words.length <= LONG || whole) return words;
  return html`${words.slice(0, LONG)}… <button class="link" onClick=${() => setWhole(true)}>all ${count(words.length)} characters</button>`;
}

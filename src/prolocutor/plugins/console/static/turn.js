// One turn: the verdict, the timeline, what went wrong, the answers, what changed, what was noted.

import { Again, useAgain } from "./again.js";
import { KeepAsTest } from "./keep.js";
import { Answers } from "./answers.js";
import { CopyButton } from "./copying.js";
import { Correct } from "./correct.js";
import { useFetched } from "./fetching.js";
import { Long } from "./long.js";
import { count, exactClock, money, wholeTime } from "./figures.js";
import { Gantt } from "./gantt.js";
import { useKeys } from "./keys.js";
import { Note } from "./note.js";
import { States, listOf, namesOf, writesMarkdown, saidLine } from "./parts.js";
import { Raw } from "./raw.js";
import { Reply } from "./reply.js";
import { text } from "./safe.js";
import { Verdict, speakers } from "./verdict.js";
import { Drawing, html } from "./ui.js";
import { Failure, Said } from "./wording.js";

export function Turn({ item, operator }) {
  const turn = useFetched(`/turns/${encodeURIComponent(item.utt_id)}`);
  const again = useAgain(item.utt_id, operator, turn.value?.again === true);
  useKeys({ r: () => again.press?.() });
  return html`<${States} of=${turn} what="This turn" rows=${5}>${turn.value && html`<${Whole} turn=${turn.value} item=${item} again=${again} operator=${operator} put=${(changes) => turn.put({ ...turn.value, ...changes })} />`}</${States}>`;
}

// What a person of the team said: nobody was asked, so there is nothing to correct, run or draw.
function OfOperator({ turn, item }) {
  return html`<header class="turn-head"><p class="verdict"><b>${namesOf(item.spoke).join(", ") || "An operator"}</b> wrote this, <span title=${wholeTime(turn.started ?? item.at)}>at ${exactClock(turn.started ?? item.at)}</span>. No agent was asked.</p></header>
    <section class="said-in-full"><h2>Said</h2><p class="reply" dir="auto"><${Long} value=${turn.response} /></p></section>
    <${Raw} turn=${turn} />`;
}

function Whole({ turn, item, again, operator, put }) {
  if ((turn.by ?? item.by) === "operator") return html`<${OfOperator} turn=${turn} item=${item} />`;
  const kept = Array.isArray(turn.services);
  const by = [...speakers(turn)];
  const drawn = writesMarkdown(by, operator);
  return html`
    <header class="turn-head">
      <${Verdict} turn=${turn} item=${item} />
      <${Figures} turn=${turn} item=${item} agents=${listOf(operator.agents)} />
      <div class="acts">
        <${KeepAsTest} of=${{ utt_id: item.utt_id }} operator=${operator} />
        ${again.press && html`<button class="press small-press" onClick=${again.press} disabled=${again.busy}><${Drawing} name="again" />Run this turn again <kbd aria-hidden="true">r</kbd></button>`}
        ${again.others.length > 0 && html`<label class="labeller">on <select aria-label="Run it again on a changed assistant" value="" onChange=${(event) => event.target.value && again.start(event.target.value)}>
          <option value="">a changed assistant…</option>${again.others.map((name) => html`<option value=${name}>${name}</option>`)}</select></label>`}
        <${Correct} key=${turn.utt_id} turn=${turn} operator=${operator} put=${put} />
        <${Note} turn=${turn} operator=${operator} put=${put} />
      </div>
    </header>
    <${Again} of=${again} operator=${operator} />
    <section class=${`said-in-full ${!drawn && shownBeside(turn, item) ? "only-phone" : ""}`}><h2>Asked and answered</h2><p class="own-words" dir="auto">${text(turn.text).length < 2000 ? html`<${Said} words=${turn.text} />` : html`<${Long} value=${turn.text} />`}</p><div class="reply" dir="auto"><${Reply} by=${by} words=${turn.response} operator=${operator} /></div></section>
    ${kept ? html`<${Gantt} turn=${turn} spoke=${speakers(turn)} />` : html`<${NotKept} turn=${turn} />`}
    <${Wrongs} turn=${turn} />
    <${Answers} turn=${turn} operator=${operator} />
    <div class="two"><${Changes} changes=${turn.changes} /><${Noted} annotations=${turn.annotations} /></div>
    <${Raw} turn=${turn} />`;
}

// Tell whether the talk beside it shows all that was said.
function shownBeside(turn, item) {
  return [[turn.text, item.said], [turn.response, item.reply]].every(([whole, shown]) => text(whole) === text(shown) && text(whole).length < 1000) && saidLine(turn.text) === text(turn.text);
}

function NotKept({ turn }) {
  const by = turn.by === "assistant" ? "No service was asked." : "Who was asked when is not kept any more: records of turns are kept for the time under records: {keep: …}.";
  return html`<p class="faint not-kept" role="note">${by}</p>`;
}

function Figures({ turn, item, agents }) {
  const failed = listOf(turn.services).filter((one) => one?.outcome === "failed" || one?.outcome === "late").length;
  const rating = turn.rating ?? item.rating;
  const stopped = (turn.by ?? item.by) === "stopped";
  return html`<dl class="figures">
    <div><dt>asked</dt><dd>${count(listOf(turn.asked).length)}${agents.length > 0 && ` of ${count(agents.length)}`}</dd></div>
    <div><dt>cost</dt><dd>${stopped && !((turn.cost ?? item.cost) > 0) ? "not told" : money(turn.cost ?? item.cost)}</dd></div>
    <div><dt>failed</dt><dd class=${failed ? "wrong" : ""}>${Array.isArray(turn.services) ? count(failed) : "–"}</dd></div>
    <div><dt>rated</dt><dd class=${rating < 0 ? "wrong" : ""}>${rating ? html`<${Drawing} name=${rating < 0 ? "down" : "up"} /><span class="hidden">${rating < 0 ? "thumbs down" : "thumbs up"}</span>` : "–"}</dd></div>
    <div><dt>at</dt><dd title=${wholeTime(turn.started ?? item.at)}>${exactClock(turn.started ?? item.at)}</dd></div>
    <div><dt>reply</dt><dd class="id" title=${`The id of this reply: ${item.utt_id}`}>…${text(item.utt_id).slice(-6)} <${CopyButton} source=${item.utt_id} label="Copy the id of this reply" /></dd></div></dl>`;
}

function Wrongs({ turn }) {
  const failed = listOf(turn.services).filter((one) => text(one?.error) && one.outcome !== "skipped")
    .map((one) => ({ name: one.name, what: one.error, code: one.code, late: one.outcome === "late" }));
  const notes = [...listOf(turn.faults).map((one) => ({ name: one?.service, what: one?.what })), ...listOf(turn.remarks).map((one) => ({ name: one?.service, what: one?.what, calm: true }))];
  const all = [...failed, ...notes];
  return all.length > 0 && html`<section><h2>What went wrong</h2><ul class="wrongs">${all.map((one) => html`<li><b class=${one.calm ? "faint" : one.late ? "warn" : "wrong"}>${text(one.name)}</b>${" "}
    ${text(one.code) && html`<${Failure} code=${one.code} />: `}<span dir="auto"><${Long} value=${one.what} /></span></li>`)}</ul></section>`;
}

function Changes({ changes }) {
  const value = (change, name) => (change[name] === undefined || change[name] === null ? null : JSON.stringify(change[name]));
  const shown = listOf(changes).filter((one) => one !== null && typeof one === "object");
  return html`<section><h2>What changed</h2>${changes === null || changes === undefined ? html`<p class="faint">It is not kept any more.</p>` : !shown.length ? html`<p class="faint">Nothing.</p>` : html`
    <table class="diff"><thead class="hidden"><tr><th scope="col">What</th><th scope="col">Before and after</th><th scope="col">By</th></tr></thead><tbody>${shown.map((one) => html`<tr><th scope="row"><small>${text(one.whose)}</small> ${one.part && one.part !== "attributes" ? `${text(one.part)}.` : ""}${text(one.key)}</th>
      <td>${value(one, "before") !== null && html`<del>${value(one, "before").slice(0, 2000)}</del> `}${value(one, "after") !== null && html`<ins>${value(one, "after").slice(0, 2000)}</ins>`}</td><td class="faint r">${namesOf(one.by).join(", ")}</td></tr>`)}</tbody></table>`}</section>`;
}

function Noted({ annotations }) {
  const shown = annotations && typeof annotations === "object" ? Object.entries(annotations) : [];
  return html`<section><h2>Noted</h2>${annotations === null || annotations === undefined ? html`<p class="faint">It is not kept any more.</p>` : !shown.length ? html`<p class="faint">Nothing.</p>` : html`
    <dl class="notes">${shown.map(([name, value]) => html`<div><dt>${name}</dt><dd dir="auto"><${Long} value=${text(value)} /></dd></div>`)}</dl>`}</section>`;
}

// The timeline of a turn: who was asked, and when; what the reply waited for stands out.

import { duration } from "./figures.js";
import { Later } from "./later.js";
import { listOf } from "./parts.js";
import { text } from "./safe.js";
import { html, useEffect, useRef, useState } from "./ui.js";

const STAGES = {
  __proto__: null, annotators: "annotators", skill_selector: "selector", skills: "agents", candidate_annotators: "on answers",
  response_selector: "ranker", postprocessors: "after", response_annotators: "on the reply", last_chance: "last chance",
};
const OUTCOMES = { __proto__: null, failed: "failed", late: "late", skipped: "skipped" };
const STEPS = [0.001, 0.005, 0.01, 0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10, 30, 60];

const loadCalls = () => import("./calls.js");
const seconds = (value) => (Number.isFinite(value) ? Math.max(0, value) : 0);

export function Gantt({ turn, spoke }) {
  const [called, setCalled] = useState(null); // the service whose call is shown; "" for the first one
  const services = listOf(turn.services).filter((one) => one !== null && typeof one === "object");
  const waves = listOf(turn.waves ?? turn.reasons);
  const end = Math.max(seconds(turn.seconds), ...services.map((one) => seconds(one.ended)), 0.005) * 1.02;
  const at = (time) => `${Math.min(100, (100 * seconds(time)) / end)}%`;
  const step = STEPS.find((one) => end / one <= 8) ?? end / 4;
  const ticks = Array.from({ length: Math.floor(end / step) + 1 }, (_, n) => n * step);
  const lines = waves.slice(1).filter((one) => Number.isFinite(one?.at) && listOf(one.asked).length);
  return html`<section class="gantt-box"><h2>Who was asked, and when <small class="legend"><span><i class="bar critical"></i> what the reply waited for</span><span><i class="bar"></i> beside it</span><span><i class="bar failed"></i> failed</span><span><i class="bar late"></i> late</span></small></h2>
    <div class="gantt" role="table" aria-label="Timeline of services">
      <div class="axis" aria-hidden="true"><span></span><div>${ticks.map((tick) => html`<i style=${{ left: at(tick) }}>${tick ? duration(tick).replace(".00", "").replace(".0 ms", " ms") : "0"}</i>`)}</div><span></span></div>
      ${services.map((one, n) => html`<${Row} one=${one} first=${one.stage !== services[n - 1]?.stage} spoke=${spoke.has(text(one.name))} call=${turn.turn_id && Number.isFinite(one.started) ? setCalled : null} at=${at} ticks=${ticks} lines=${lines} end=${end} />`)}
    </div>
    <${Waves} waves=${waves} />${turn.turn_id && html`<${Called} turnId=${turn.turn_id} called=${called} setCalled=${setCalled} first=${[...spoke][0] ?? ""} />`}</section>`;
}

// Requests and replies, which come when they are first opened: here with those of the winner, or at a service's name.
function Called({ turnId, called, setCalled, first }) {
  const box = useRef(null);
  useEffect(() => {
    if (called) box.current.scrollIntoView({ block: "nearest" });
  }, [called]);
  const toggle = (event) => setCalled(event.target.open ? called ?? first : null);
  return html`<details class="raw" ref=${box} open=${called !== null} onToggle=${toggle}><summary>Requests and replies, word for word</summary>
    ${called !== null && html`<${Later} load=${loadCalls} turnId=${turnId} service=${called} choose=${setCalled} />`}</details>`;
}

function Row({ one, first, spoke, call, at, ticks, lines, end }) {
  const outcome = OUTCOMES[one.outcome] ?? "";
  const ran = Number.isFinite(one.started);
  const taken = seconds(one.ended) - seconds(one.started);
  const [before, behind] = [seconds(one.started), end - seconds(one.ended)];
  const room = !ran || Math.max(before, behind) > 0.15 * end;
  const place = !ran ? { left: "0.3rem" } : before > behind ? { right: `calc(100% - ${at(one.started)} + 0.4rem)`, maxWidth: `calc(${at(one.started)} - 0.4rem)` } : { left: `calc(${at(one.ended)} + 0.4rem)`, maxWidth: `calc(100% - ${at(one.ended)} - 0.4rem)` };
  const error = text(one.error);
  return html`<div class=${`bar-row ${first ? "first" : ""} ${outcome}`} role="row">
    <span class="name" role="rowheader">${first && html`<small>${STAGES[one.stage] ?? text(one.stage)}</small>`}<b class=${spoke ? "spoke" : ""} title=${text(one.name)}>${call ? html`<button title=${`What ${text(one.name)} was asked, and its reply`} onClick=${() => call(text(one.name))}>${text(one.name)}</button>` : text(one.name)}</b></span>
    <div class="lane" role="cell">
      ${ticks.map((tick) => html`<i class="grid" style=${{ left: at(tick) }}></i>`)}
      ${lines.map((wave) => html`<i class="wave" style=${{ left: at(wave.at) }}></i>`)}
      ${ran && html`<i class=${`bar ${outcome || (one.critical ? "critical" : "")}`} style=${{ left: at(one.started), width: at(taken) }}></i>`}
      ${error && room && html`<span class=${`why ${outcome}`} style=${place}>${error.slice(0, 200)}</span>`}
      ${one.critical && html`<span class="hidden">the reply waited for it</span>`}
    </div>
    <span class="took r" role="cell">${ran ? duration(taken) : outcome || "not run"}${ran && outcome && html`<span class="hidden"> ${outcome}</span>`}</span>
  </div>`;
}

// Why agents were asked, or why it was enough, in the order of the waves.
function Waves({ waves }) {
  return waves.length > 0 && html`<ol class="reasons">${waves.map((one) => html`<li>${Number.isFinite(one?.at) && html`<span class="r faint">${duration(one.at)}</span>`}${" "}
    <span>asks ${listOf(one?.asked).length ? html`<b>${listOf(one.asked).map(text).join(", ")}</b>` : "nobody else"}${text(one?.reason) && html`: <span class="faint" dir="auto">${text(one.reason)}</span>`}</span></li>`)}</ol>`;
}

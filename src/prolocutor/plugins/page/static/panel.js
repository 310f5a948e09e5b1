// How an answer came about: who was asked, what they said, who won and why, what failed.

import { Markdown } from "./markdown.js";
import { Own } from "./messages.js";
import { useInfo } from "./page_info.js";
import { listed, text } from "./safe.js";
import { wholeTime } from "./times.js";
import { Drawing, html, useEffect, useRef, useState } from "./ui.js";
import { ask } from "./visitor.js";

const WAYS = {
  __proto__: null,
  selector: "The response selector chose it.",
  confidence: "It was the most confident answer.",
  last_chance: "No agent had an answer, so the last chance spoke.",
  fallback: "Nobody had an answer, so the assistant said so.",
  assistant: "The assistant said this by itself.",
  stopped: "It was stopped before the end.",
};

const MOST = 5;

const OUTCOMES = { __proto__: null, done: "done", failed: "failed", late: "late", skipped: "skipped" };

// Show the turn whose reply has this id; `close` puts the panel away.
export default function Panel({ uttId, close }) {
  const [turn, setTurn] = useState(null);
  const [wrong, setWrong] = useState("");
  const heading = useRef(null);
  useEffect(() => {
    let wanted = true;
    setTurn(null);
    setWrong("");
    ask(`/api/turns/${encodeURIComponent(uttId)}`).then(
      (found) => wanted && setTurn(found),
      (error) => wanted && setWrong(error.message),
    );
    heading.current.focus();
    return () => (wanted = false);
  }, [uttId]);
  const pressed = (event) => event.key === "Escape" && (event.stopPropagation(), close());
  return html`<aside class="panel" aria-label="How this answer came about" onKeyDown=${pressed}>
    <header>
      <h2 tabindex="-1" ref=${heading}>How this answer came about</h2>
      <button class="round" aria-label="Close" onClick=${close}><${Drawing} name="close" /></button>
    </header>
    ${wrong && html`<p class="wrong" role="alert">${wrong}</p>`}
    ${!turn && !wrong && html`<p class="faint">One moment…</p>`}
    ${turn && html`<${Turn} turn=${turn} />`}
  </aside>`;
}

function Turn({ turn }) {
  const isCalled = (one) => Number.isFinite(one?.started);
  const services = list(turn.services).filter(isCalled);
  const passed = list(turn.services).filter((one) => !isCalled(one)).map((one) => text(one?.name));
  const asked = list(turn.asked);
  return html`
    <blockquote>${turn.text ? html`<${Own} said=${turn.text} />` : "(nothing)"}</blockquote>
    <p class="way">
      <strong>${speakers(turn)}</strong> answered${
        typeof turn.seconds === "number" ? ` after ${duration(turn.seconds)}` : ""}${
        number(turn.started) > 0 ? `, ${wholeTime(1000 * turn.started)}` : ""}.
      ${" "}${WAYS[turn.by] ?? ""}${turn.by === "assistant" ? (asked.length ? " No agent's answer was used." : " Nobody was asked.") : ""}
    </p>
    ${asked.length > 0 && html`<p class="faint">Asked: ${asked.map(text).join(", ")}</p>`}
    <h3>Answers to choose from</h3>
    <${Hypotheses} turn=${turn} />
    <h3>Time</h3>
    ${services.length
      ? html`<${Timeline} services=${services} seconds=${turn.seconds} />`
      : html`<p class="faint">It is not known any more.</p>`}
    ${passed.length > 0 && html`<p class="faint">Not asked: ${passed.join(", ")}</p>`}
    <${Notes} title="Who was asked, and why" notes=${list(turn.reasons).map((one) => ({
      service: list(one?.asked).map(text).join(", ") || "enough", what: one?.reason }))} />
    <${Notes} title="Not sure enough" notes=${list(turn.remarks)} />
    <${Notes} title="What went wrong" notes=${list(turn.faults)} />`;
}

function Notes({ title, notes }) {
  return notes.length > 0 && html`<h3>${title}</h3>
    <ul class="faults">${notes.map((one) => html`<li>
      <strong>${text(one?.service)}</strong> ${text(one?.what)}</li>`)}</ul>`;
}

// Name who is in the reply: several where it was composed.
function speakers(turn) {
  const chosen = new Set(list(turn.chosen));
  const spoke = list(turn.hypotheses).filter((one) => chosen.has(one?.hypothesis_id));
  const names = [...new Set(spoke.map((one) => text(one.skill_name)))];
  return names.length > 1 ? listed(names) : text(turn.active_skill) || "The assistant";
}

// Show each agent once, with its different answers: a question in parts is asked in parts.
function Hypotheses({ turn }) {
  const chosen = new Set(list(turn.chosen));
  const agents = byAgent(list(turn.hypotheses), chosen);
  if (!agents.length) return html`<p class="faint">There were none.</p>`;
  const shown = agents.filter((one, at) => one.isChosen || at < MOST);
  const rest = agents.filter((one) => !shown.includes(one));
  return html`<ol class="hypotheses">${shown.map((one) => html`<${Agent} key=${one.name} agent=${one} />`)}</ol>
    ${rest.length > 0 && html`<details class="rest"><summary>${rest.length} less sure</summary>
      <ol class="hypotheses">${rest.map((one) => html`<${Agent} key=${one.name} agent=${one} />`)}</ol></details>`}`;
}

function Agent({ agent }) {
  const isDrawn = useInfo().agents.some((one) => one.name === agent.name && one.markdown);
  return html`<li class=${agent.isChosen ? "chosen" : ""}>
    <div class="who"><strong>${agent.name}</strong>
      ${agent.isChosen && html`<span class="badge">chosen</span>`}
      <span class="confidence">${text(agent.answers[0].confidence)}</span>
    </div>
    <meter min="0" max="1" value=${number(agent.answers[0].confidence)} aria-label="Confidence" />
    ${agent.answers.map((one) => (isDrawn ? html`<${Markdown} source=${one.text} />` : html`<p>${text(one.text)}</p>`))}
  </li>`;
}

function byAgent(hypotheses, chosen) {
  const found = hypotheses.filter((one) => one !== null && typeof one === "object");
  const rank = (one) => number(one.confidence) + (chosen.has(one.hypothesis_id) ? 1e6 : 0);
  found.sort((one, other) => rank(other) - rank(one));
  const agents = new Map();
  for (const one of found) {
    const name = text(one.skill_name);
    const agent = agents.get(name) ?? { name, answers: [], isChosen: false };
    agents.set(name, agent);
    agent.isChosen ||= chosen.has(one.hypothesis_id);
    if (!agent.answers.some((other) => plainly(other) === plainly(one))) agent.answers.push(one);
  }
  return [...agents.values()];
}

function plainly(one) {
  return text(one.text).trim().replace(/[.!?]$/, "");
}

function Timeline({ services, seconds }) {
  const end = Math.max(number(seconds), ...services.map((one) => number(one?.ended)), 0.001);
  const percent = (value) => `${Math.min(100, Math.max(0, (100 * value) / end))}%`;
  return html`<ol class="timeline">${services.map((one) => {
    const started = number(one?.started);
    const taken = Math.max(0, number(one?.ended) - started);
    const outcome = OUTCOMES[one?.outcome] ?? "done";
    return html`<li class=${outcome}>
      <div class="who"><strong>${text(one?.name)}</strong>
        <small>${text(one?.stage).replaceAll("_", " ")}</small>
        <span>${outcome === "done" ? duration(taken) : outcome}</span>
      </div>
      <div class="track" aria-hidden="true">
        <i style=${{ left: percent(started), width: percent(taken) }}></i>
      </div>
      ${one?.error && html`<p class="wrong">${text(one.error)}</p>`}
    </li>`;
  })}</ol>`;
}

function list(value) {
  return Array.isArray(value) ? value : [];
}

function number(value) {
  return Number.isFinite(value) ? value : 0;
}

function duration(seconds) {
  return seconds < 1 ? `${(1000 * seconds).toFixed(seconds < 0.01 ? 1 : 0)} ms` : `${seconds.toFixed(2)} s`;
}

// How an answer came about: who was asked, what they said, who won and why, what failed.

import { text } from "./safe.js";
import { Drawing, html, useEffect, useRef, useState } from "./ui.js";
import { ask } from "./visitor.js";

const WAYS = {
  __proto__: null,
  selector: "The response selector chose it.",
  confidence: "It was the most confident answer.",
  last_chance: "No agent had an answer, so the last chance spoke.",
  fallback: "Nobody had an answer, so the assistant said so.",
  assistant: "The assistant said this by itself, without asking anybody.",
  stopped: "It was stopped before the end.",
};

const OUTCOMES = { __proto__: null, done: "done", failed: "failed", late: "late", skipped: "skipped" };

// Show the turn whose reply has this id; `close` puts the panel away.
export function Panel({ uttId, close }) {
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
  const services = list(turn.services);
  const asked = list(turn.asked);
  return html`
    <blockquote>${text(turn.text) || "(nothing)"}</blockquote>
    <p class="way">
      <strong>${speakers(turn)}</strong> answered${
        typeof turn.seconds === "number" ? ` after ${duration(turn.seconds)}` : ""}.
      ${" "}${WAYS[turn.by] ?? ""}
    </p>
    ${asked.length > 0 && html`<p class="faint">Asked: ${asked.map(text).join(", ")}</p>`}
    <h3>Answers to choose from</h3>
    <${Hypotheses} turn=${turn} />
    <h3>Time</h3>
    ${services.length
      ? html`<${Timeline} services=${services} seconds=${turn.seconds} />`
      : html`<p class="faint">It is not known any more.</p>`}
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
  return names.length > 1 ? names.join(" and ") : text(turn.active_skill) || "The assistant";
}

function Hypotheses({ turn }) {
  const chosen = new Set(list(turn.chosen));
  const found = list(turn.hypotheses).filter((one) => one !== null && typeof one === "object");
  found.sort((one, other) => number(other.confidence) - number(one.confidence));
  if (!found.length) return html`<p class="faint">There were none.</p>`;
  return html`<ol class="hypotheses">${found.map((one) => html`
    <li class=${chosen.has(one.hypothesis_id) ? "chosen" : ""}>
      <div class="who"><strong>${text(one.skill_name)}</strong>
        ${chosen.has(one.hypothesis_id) && html`<span class="badge">chosen</span>`}
        <span class="confidence">${text(one.confidence)}</span>
      </div>
      <meter min="0" max="1" value=${number(one.confidence)} aria-label="Confidence" />
      <p>${text(one.text)}</p>
    </li>`)}</ol>`;
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

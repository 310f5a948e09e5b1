// "Run this turn again": on the assistant in use or on a changed one; nothing of it is stored.

import { Answers } from "./answers.js";
import { get, send } from "./api.js";
import { useFetched } from "./fetching.js";
import { duration, money, percent } from "./figures.js";
import { Gantt } from "./gantt.js";
import { listOf, namesOf, tell } from "./parts.js";
import { Raw } from "./raw.js";
import { Reply } from "./reply.js";
import { text } from "./safe.js";
import { speakers } from "./verdict.js";
import { Drawing, html, useEffect, useRef, useState } from "./ui.js";

const WAIT = 400;
const results = new Map();

// Run a turn again and follow the job; `start` takes the name of a changed assistant. Where there is
// nothing to run, as after the words of an operator, or the operator only reads, it is not offered.
export function useAgain(uttId, operator, runs) {
  const offered = operator.writes && runs;
  const others = useFetched("/assistants");
  const [state, setState] = useState(() => results.get(uttId) ?? {});
  const shown = useRef(true);
  useEffect(() => () => (shown.current = false), []);
  const put = (next) => {
    results.delete(uttId);
    results.set(uttId, next);
    if (results.size > 50) results.delete(results.keys().next().value);
    if (shown.current) setState(next);
  };
  const start = async (assistant = "") => {
    if (state.busy) return;
    put({ busy: true, assistant });
    try {
      const { job } = await send("POST", `/turns/${encodeURIComponent(uttId)}/again`, assistant ? { assistant } : {});
      put({ busy: true, assistant, job });
      const found = await ended(job, () => shown.current, (share) => put({ busy: true, assistant, job, share }));
      if (found) put({ assistant, ...(found.state === "done" ? { result: found.result } : { wrong: found.error || `It ${found.state}.` }) });
      else put({});
    } catch (error) {
      put({ assistant, wrong: error.message });
    }
  };
  const stop = () => send("DELETE", `/jobs/${encodeURIComponent(state.job)}`).catch((error) => tell(error.message, { wrong: true }));
  return { ...state, start, stop, close: () => put({}), others: offered ? listOf(others.value?.items) : [], press: offered ? () => start() : null };
}

// Wait for the end of a job while it is wanted.
export async function ended(job, wanted, progress) {
  while (wanted()) {
    const found = await get(`/jobs/${encodeURIComponent(job)}`);
    if (!["waits", "runs"].includes(found.state)) return found;
    progress?.(found.share);
    await new Promise((done) => setTimeout(done, WAIT));
  }
  return null;
}

export function Again({ of, operator }) {
  const { busy, wrong, result, assistant, share, job } = of;
  if (!busy && !wrong && !result) return null;
  const where = assistant ? html`on <b>${text(assistant)}</b>` : "on the assistant as it is";
  return html`<section class="again" aria-label="Run again" aria-live="polite">
    <header><h2>Run again ${where} <small class="faint">nothing of it is kept; agents that act are not called</small></h2>
      ${busy ? job && html`<button class="press small-press" onClick=${of.stop}>Stop</button>` : html`<button class="icon-press" aria-label="Close what was run again" onClick=${of.close}><${Drawing} name="close" /></button>`}</header>
    ${busy && html`<p class="faint">It runs${share > 0 ? `, ${percent(share)}` : ""}…</p>`}
    ${wrong && html`<p class="wrong" role="alert">It could not be run again: ${text(wrong)}</p>`}
    ${result && html`<${Versus} then=${result.then ?? {}} now=${result.now ?? {}} operator=${operator} />`}
  </section>`;
}

function Versus({ then, now, operator }) {
  const [open, setOpen] = useState(false);
  const spoke = (one) => namesOf(one.spoke).join(", ") || "nobody";
  const not = listOf(now.record?.services).filter((one) => one?.outcome === "skipped").map((one) => text(one.name));
  return html`<table class="versus"><thead><tr><td></td><th scope="col">then</th><th scope="col">now</th></tr></thead><tbody>
    <tr><th scope="row">answered by</th><td>${spoke(then)}</td><td>${spoke(now) === spoke(then) ? spoke(now) : html`<b>${spoke(now)}</b>`}</td></tr>
    <tr><th scope="row">said</th><td dir="auto"><${Reply} by=${then.spoke} words=${text(then.text).slice(0, 2000)} operator=${operator} /></td><td dir="auto">${text(now.text) === text(then.text) ? html`<span class="faint">the same</span>` : html`<${Reply} by=${now.spoke} words=${text(now.text).slice(0, 2000)} operator=${operator} />`}</td></tr>
    <${Figure} name="how right" then=${then.score} now=${now.score} write=${(value) => value.toFixed(2)} more=${true} />
    <${Figure} name="after" then=${then.seconds} now=${now.seconds} write=${duration} />
    <${Figure} name="cost" then=${then.cost} now=${now.cost} write=${(value) => (value ? money(value) : "0")} />
  </tbody></table>${not.length > 0 && html`<p class="faint after">Not called: ${not.join(", ")}</p>`}
    ${now.record?.services && html`<details onToggle=${(event) => setOpen(event.target.open)}><summary class="faint">How it came about now</summary>
      ${open && html`<${Gantt} turn=${now.record} spoke=${speakers(now.record)} /><${Answers} turn=${now.record} operator=${operator} /><${Raw} turn=${now.record} />`}</details>`}`;
}

function Figure({ name, then, now, write, more = false }) {
  const shown = (value) => (Number.isFinite(value) ? write(value) : "–");
  const change = Number.isFinite(then) && Number.isFinite(now) ? now - then : 0;
  const better = more ? change > 0 : change < 0;
  return html`<tr><th scope="row">${name}</th><td>${shown(then)}</td><td>${shown(now)}
    ${change !== 0 && html` <span class=${better ? "good" : "faint"}>${change > 0 ? "+" : "−"}${write(Math.abs(change))}</span>`}</td></tr>`;
}

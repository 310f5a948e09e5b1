// One agent in full: what is wrong with it, how long it takes, what it answers when asked alone.

import { PERIODS, STATES } from "./agents.js";
import { get, send } from "./api.js";
import { Chart, axis } from "./chart.js";
import { useFetched } from "./fetching.js";
import { When, count, clock, day, duration, money, percent, plural } from "./figures.js";
import { Reply } from "./reply.js";
import { Confirm, NotCome, Stale, Waiting, attempt, listOf } from "./parts.js";
import { link } from "./router.js";
import { text } from "./safe.js";
import { Drawing, html, useMemo, useRef, useState } from "./ui.js";
import { Failure } from "./wording.js";

export function AgentSide({ name, stage = "", since, hours, operator, close, changed }) {
  const path = `/agents/${encodeURIComponent(name)}`;
  const found = useFetched(path, { stage, since, step: Number(hours) > 24 ? 7200 * Math.ceil(hours / 168) : "" }, { every: 5 });
  const one = found.value;
  return html`<aside class="side" aria-label=${text(name)}>
    <header><h1>${text(name)}</h1>${one && html`<span class=${`state-word is-${one.state}`}>${STATES[one.state]}${one.state === "well" && one.since ? ` since ${clock(one.since)}` : ""}</span>`}
      <button class="icon-press" aria-label="Close" onClick=${close}><${Drawing} name="close" /></button></header>
    ${found.error && one && html`<${Stale} of=${found} />`}
    ${one ? html`<${Full} one=${one} path=${path} hours=${hours} operator=${operator} put=${(value) => (found.put(value), changed())} />`
      : found.error ? html`<${NotCome} of=${found} what="This agent" />` : html`<${Waiting} rows=${6} />`}
  </aside>`;
}

function Full({ one, path, hours, operator, put }) {
  const about = one.card?.description;
  const note = one.note && ["off", "failing", "trying"].includes(one.state);
  return html`${about && html`<p class="about">${text(about)}</p>`}
    ${note && html`<p class=${{ failing: "wrong", trying: "warn" }[one.state] ?? "faint"}>${text(one.note)}${one.since && html`, <${When} at=${one.since} /> ago`}</p>`}
    <${Troubles} one=${one} hours=${hours} />
    <${Times} one=${one} hours=${hours} />
    ${one.answers && html`<${Alone} one=${one} path=${path} operator=${operator} />`}
    <${Card} one=${one} />
    <${Overlap} one=${one} />
    <${Acts} one=${one} path=${path} operator=${operator} put=${put} />`;
}

const period = (hours) => PERIODS.find(([value]) => value === hours)[1];

// Its failures by kind, each with the latest turn in which it happened.
function Troubles({ one, hours }) {
  const kinds = listOf(one.failures).filter((kind) => kind.number > 0);
  if (!kinds.length && one.state !== "alone") return null;
  const most = Math.max(1, ...kinds.map((kind) => kind.number));
  const without = one.kinds.breaker_open ?? 0;
  return html`<section class=${`trouble ${one.state === "alone" ? "now" : ""}`} aria-label="Trouble">
    <p><b>${count(one.failed - without)} of ${plural(one.asked - without, "turn")} failed</b> in ${period(hours)}${without > 0 && `, ${count(without)} more went without it`}${one.state === "alone" && html`; ${text(one.note)}${one.since && html`, <${When} at=${one.since} /> ago`}`}.</p>
    <ul>${kinds.sort((a, b) => (a.code === "breaker_open") - (b.code === "breaker_open") || b.number - a.number).map((kind) => html`<li key=${kind.code}>
      <p class="kind"><${Failure} code=${kind.code} /><span class="lane"><i style=${{ width: `${(100 * kind.number) / most}%` }}></i></span><b>${count(kind.number)}</b></p>
      <p class="latest"><span>${text(kind.error) || "no words"}</span> <small class="faint"><${When} at=${kind.at} /> ago${kind.utt_id && html` · <a href=${link(["conversations", kind.dialog_id, kind.utt_id])}>the turn</a>`}${kind.number > 1 && html` · <a href=${link(["live"], { failed: one.name, code: kind.code })}>all ${count(kind.number)}</a>`}</small></p></li>`)}</ul></section>`;
}

function Times({ one, hours }) {
  const { at, p50, p99, failed } = one.series;
  const data = useMemo(() => [at, p50, p99, failed.map((number) => number || null)], [JSON.stringify(one.series)]);
  if (!at.length) return html`<p class="faint">It was not asked in ${period(hours)}.</p>`;
  const label = `Half of its answers came within ${duration(one.p50)}, 99 of 100 within ${duration(one.p99)}; ${plural(one.failed, "failure")}.`;
  const few = { show: at.length < 3 };
  const build = (colour, uPlot) => ({
    padding: [6, 4, 0, 0],
    scales: { x: { range: () => [at[0] - one.series.step / 2, at.at(-1) + one.series.step / 2] }, s: { range: (_, low, high) => [0, Math.max((high ?? 0) * 1.1, 0.001)] }, n: { range: (_, low, high) => [0, Math.max(5, 3 * (high ?? 0))] } },
    axes: [axis(colour, { size: 22, grid: { show: false }, space: 70, values: (_, ticks) => ticks.map(Number(hours) > 24 ? day : clock) }), axis(colour, { scale: "s", size: 52, space: 30, values: (_, ticks) => ticks.map((tick) => (one.p50 === null ? "" : tick === 0 ? "0" : duration(tick).replace(".00", ""))) })],
    series: [{}, { scale: "s", stroke: colour("accent"), width: 1.5, points: few }, { scale: "s", stroke: colour("bar-strong"), width: 1.5, points: few },
      { scale: "n", fill: colour("wrong"), stroke: colour("wrong"), width: 0, points: { show: false }, paths: uPlot.paths.bars({ size: [0.8, 8] }) }],
  });
  return html`<figure><figcaption>How long, and failures</figcaption>
    <${Chart} label=${label} data=${data} height=${150} build=${build} />
    <p class="legend faint"><i class="swatch"></i> half <i class="swatch strong"></i> 99 % <i class="swatch wrong"></i> failures</p></figure>`;
}

// Talk to it alone: nothing is kept, and its breaker does not count it.
function Alone({ one, path, operator }) {
  const [said, setSaid] = useState([]);
  const [busy, setBusy] = useState(false);
  const field = useRef(null);
  const sendIt = async (event) => {
    event.preventDefault();
    const words = field.current.value.trim();
    if (!words || busy) return;
    setBusy(true);
    const answer = await attempt(null, () => send("POST", `${path}/alone?stage=${one.stage}`, { text: words }));
    setBusy(false);
    if (!answer) return;
    setSaid((before) => [...before.slice(-4), { words, answer }]);
    if (field.current) field.current.value = "";
  };
  const example = listOf(one.card?.examples)[0];
  return html`<section><h2>Talk to it alone</h2>
    <div class="by-itself" role="log" aria-label="What it answers alone">${said.map(({ words, answer }) => html`<p class="own-words">${text(words)}</p><${Answer} of=${answer} by=${[one.name]} operator=${operator} />`)}</div>
    <form class="composer" onSubmit=${sendIt}><input ref=${field} aria-label="Say to this agent alone" placeholder=${example ? text(example) : "Say something"} autocomplete="off" maxlength="10000" disabled=${operator?.writes === false} />
      <button class="round strong" aria-label="Send" disabled=${busy}><${Drawing} name="send" /></button></form>
    <p class="faint fine-print">Nothing of this is kept, and its breaker does not count it.</p></section>`;
}

function Answer({ of, by, operator }) {
  if (of.error) return html`<p class="fault"><b><${Failure} code=${of.code} /></b> after ${duration(of.seconds)}<small>${text(of.error)}</small></p>`;
  return html`<div class="their-words">${of.hypotheses.length === 0 && html`<p class="faint">It declines.</p>`}
    ${of.hypotheses.map((one) => html`<p><${Reply} by=${by} words=${one.text} operator=${operator} /> <small class="faint">sure ${text(one.confidence)}</small></p>`)}
    ${listOf(of.faults).map((fault) => html`<p class="fault">${text(fault)}</p>`)}<small class="faint">after ${duration(of.seconds)}</small></div>`;
}

function Card({ one }) {
  const card = one.card ?? {};
  const rows = [
    ["kind", one.kind], ["way", one.way], ["stage", one.stage], ["time-out", `${one.timeout} s`], ["at once", `${count(one.in_flight)} of ${count(one.max_in_flight)}`],
    ["price", one.price === null ? "" : money(one.price)], ["languages", listOf(card.languages).map(text).join(", ")],
    ["requires", one.requires.map(text).join(", ")], ["needed by", one.needed_by.map(text).join(", ")],
  ].filter(([, value]) => value);
  const examples = listOf(card.examples);
  return html`<section><h2>Card</h2><dl class="facts">${rows.map(([name, value]) => html`<div><dt>${name}</dt><dd>${text(value)}</dd></div>`)}
    ${examples.length > 0 && html`<div><dt>examples</dt><dd>${examples.slice(0, 8).map((example) => html`<q>${text(example)}</q> `)}</dd></div>`}</dl></section>`;
}

function Overlap({ one }) {
  if (!one.overlap.length) return null;
  return html`<section><h2>Answers the same questions as</h2><ul class="overlap">${one.overlap.slice(0, 10).map(({ agent, share }) => html`<li key=${agent}>
    <a href=${link(["agents", agent])}>${text(agent)}</a><span class="lane"><i style=${{ width: `${100 * share}%` }}></i></span><b>${percent(share)}</b></li>`)}</ul></section>`;
}

function Acts({ one, path, operator, put }) {
  const [asking, setAsking] = useState(false);
  const writes = operator?.writes !== false;
  const address = (what) => `${path}/${what}?stage=${one.stage}`;
  const switchTo = async (on) => {
    await send("POST", address("switch"), { on });
    put(await get(path, { stage: one.stage }));
  };
  const tryNow = async () => {
    await attempt(null, () => send("POST", address("try"), {}));
    put(await get(path, { stage: one.stage }));
  };
  return html`<footer>
    ${one.state === "off" ? html`<button class="press small-press strong" disabled=${!writes} onClick=${() => attempt(null, () => switchTo(true))}>Switch on</button>`
      : html`<button class="press small-press" disabled=${!writes} onClick=${() => setAsking(true)}>Switch off…</button>`}
    <button class="press small-press" disabled=${!writes || one.breaker !== "open"} onClick=${tryNow}>Try it now</button>
    ${one.stage === "skills" && html`<a class="press small-press" href=${link(["conversations"], { agent: one.name })}>Its conversations</a>`}
    ${asking && html`<${Confirm} title=${`Switch off ${text(one.name)}?`} press="Switch off" wrong=${true} act=${() => switchTo(false)} close=${() => setAsking(false)}>
      <p>It is skipped from the next turn on, also after a restart, until it is switched on. The file is unchanged.</p>
      ${one.needed_by.length > 0 ? html`<p><b>${one.needed_by.map(text).join(", ")}</b> ${one.needed_by.length === 1 ? "needs it and is" : "need it and are"} skipped as well.</p>` : html`<p class="faint">Nothing else needs it.</p>`}</${Confirm}>`}
  </footer>`;
}

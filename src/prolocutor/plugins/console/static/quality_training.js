// Training, the new model beside the one in use, and the models that there are.

import { send } from "./api.js";
import { Chart, axis } from "./chart.js";
import { useFetched } from "./fetching.js";
import { When, count, plural } from "./figures.js";
import { Confirm, Dialog, attempt, listOf, tell } from "./parts.js";
import { go, here } from "./router.js";
import { text } from "./safe.js";
import { Drawing, html, useMemo, useState } from "./ui.js";

const STATES = { live: "in use", new: "not used yet", former: "used before" };

// A button for each role that has a model's folder. `inTurn` sends after the labels that are still on their way.
export function Train({ roles, idle, busy, writes, inTurn }) {
  if (!roles.length) return html`<span class="faint not-phone" title="skill_selector: {router: learned, model: FOLDER}">no model to train</span>`;
  const train = async (what) => {
    const made = await attempt(null, () => inTurn(() => send("POST", "/train", { what })));
    if (made) go(here({ job: made.job, model: "" }), { replace: true });
  };
  const why = (role) => (busy ? "A training runs." : !writes ? "Your key may only read." : idle.includes(role) ? "No labels yet: say below who should have answered." : "");
  const [reason] = roles.map(why).filter(Boolean);
  return html`${roles.map((role, n) => html`<button class=${`press small-press ${n ? "not-phone" : "strong"}`} disabled=${Boolean(why(role))} title=${why(role)}
      aria-describedby=${reason ? "why-no-training" : undefined} onClick=${() => train(role)}>Train the ${text(role)}</button>`)}
    ${reason && html`<small class="faint" id="why-no-training">${reason}</small>`}`;
}

// The new model beside the one that was in use when it was trained.
export function Comparison({ model, models, writes }) {
  const [asking, setAsking] = useState(false);
  const { report } = model;
  const close = () => go(here({ model: "" }), { replace: true });
  const discard = async () => {
    if (await attempt(null, async () => (await send("DELETE", `/models/${encodeURIComponent(model.id)}`), true))) {
      models.again();
      close();
    }
  };
  const live = listOf(models.value?.items).find((one) => one.state === "live" && one.role === model.role);
  return html`<section class="trained" aria-label=${`The ${model.role} ${model.id}`}>
    <header><h2>A ${model.state === "new" ? "new " : ""}${text(model.role)}${model.state === "live" ? ", in use" : live ? ", beside the one in use" : ""}</h2>
      <p class="faint"><code>${text(model.id)}</code> · ${plural(model.learned, "question")} learned${report ? html`, ${count(report.fresh)} newly labelled` : ""} · <${When} at=${Date.parse(`${model.made}Z`) / 1000} /> ago · ${STATES[model.state] ?? ""}</p>
      <button class="icon-press" aria-label="Close" onClick=${close}><${Drawing} name="close" /></button></header>
    ${report ? html`<div class="beside-each"><div><${Figures} report=${report} /><${Reliability} report=${report} /></div><${Flips} report=${report} /></div>
      ${report.before && live && report.before !== live.id && model.state === "new" && html`<p class="warn">It was compared with <code>${text(report.before)}</code>, which is not in use any more.</p>`}`
      : html`<p class="faint">It was not trained here, so nothing is known of how it compares.</p>`}
    <footer>${model.state !== "live" && html`<button class="press small-press strong" disabled=${!writes} onClick=${() => setAsking(true)}>${model.state === "former" ? "Go back to it" : "Put live"}</button>
      <button class="press small-press quiet-press" disabled=${!writes} onClick=${discard}>Throw away</button>`}
      <span class="faint">No turn notices the change; the one in use stays beside it, to go back to.</span></footer>
    ${asking && html`<${PutLive} model=${model} live=${live} models=${models} close=${() => setAsking(false)} />`}
  </section>`;
}

function PutLive({ model, live, models, close }) {
  const act = async () => {
    await send("POST", `/models/${encodeURIComponent(model.id)}/live`, {});
    models.again();
    tell(`${model.id} is in use.`);
    go(here({ model: "" }), { replace: true });
  };
  return html`<${Confirm} title=${`Put this ${model.role} in use?`} press="Put live" act=${act} close=${close}>
    <p><b>${promise(model.report)}</b></p>
    <p>The next turn asks the new ${text(model.role)}; ${live ? html`turns that run end with the one in use. You can go back to that one at any time, under <i>Models</i>.` : "turns that run end without it."}</p>
    <p class="faint">${live ? html`<code>${text(model.id)}</code> takes the place of <code>${text(live.id)}</code>.` : html`No trained ${text(model.role)} is in use yet: <code>${text(model.id)}</code> will be the first.`}</p></${Confirm}>`;
}

// Say what becomes of labelled questions, by folds: "17 questions get better, none gets worse."
function promise(report) {
  if (!report) return "It was not trained here, so nobody knows whether it is better.";
  const { won, lost } = report;
  if (!won && !lost) return "No question gets better or worse.";
  const get = (number, how) => `${number ? plural(number, "question") : "no question"} ${number > 1 ? "get" : "gets"} ${how}`;
  return sentence(`${report.note ? "of what it learned " : ""}${get(won, "better")}, ${lost ? `${count(lost)} ${lost === 1 ? "gets" : "get"} worse` : "none gets worse"}.`);
}

function Figures({ report }) {
  return html`<div class="figures-box">${listOf(report.rows).length > 0 && html`<table class="versus"><thead><tr><th scope="col"><span class="hidden">Figure</span></th><th scope="col" class="r">in use</th><th scope="col" class="r">new</th><th scope="col" class="r">difference</th></tr></thead>
    <tbody>${report.rows.map((row) => html`<tr><th scope="row">${text(row.name)}</th><td class="r">${shown(row.before, row)}</td><td class="r"><b>${shown(row.after, row)}</b></td>
      <td class="r"><span class=${better(row) ? "good" : row.difference ? "wrong" : ""}>${signed(row.difference, row)}</span>${listOf(row.interval).length === 2 && html` <small class="faint">[${signed(row.interval[0], row)}, ${signed(row.interval[1], row)}]</small>`}</td></tr>`)}</tbody></table>`}
    <p class="faint">${report.note ? `${sentence(report.note)}. ` : `Judged on questions that neither of the two had learned${listOf(report.rows).some((row) => !row.interval) ? "; the new one had learned those of a row without brackets" : ""}. The true difference lies within the brackets 95 times of 100. `}${listOf(report.rows).some((row) => row.interval && row.interval[0] <= 0 && row.interval[1] >= 0) ? "Where they hold 0, the two may be equally good." : ""}</p></div>`;
}

// How often each of the two is right by how sure it is: on the line, they are as often right as they say.
function Reliability({ report }) {
  const [before, after] = [listOf(report.sure_before), listOf(report.sure_after)];
  const known = [before, after].map((bins) => bins.filter((one) => one.count >= FEWEST));
  const data = useMemo(() => {
    const at = [...new Set(known.flat().map((one) => one.probability))].sort((a, b) => a - b);
    const column = (bins) => at.map((x) => bins.find((one) => one.probability === x)?.right ?? null);
    return [at, at, ...known.map(column)];
  }, [report]);
  if (!after.length) return null;
  const drawn = data[0].length > 1;
  return html`<figure class="reliability">${drawn && html`<${Chart} label="How often an answer is right, by how sure it was: in use and new, over all questions" data=${data} height=${150} build=${reliabilityOptions} />`}
    <figcaption class="faint">${drawn && html`Sure → right, over all questions, those that nobody can answer too: <span class="warn">in use</span>, <span class="good">new</span>; the straight line is as often right as it says. `}On average, how sure it is and how often it is right differ by ${before.length ? html`${offBy(before)} (in use) and ${offBy(after)} (new)` : offBy(after)}.</figcaption>
    <table class="hidden"><caption>Sure and right, of the new one</caption><tbody>${after.map((one) => html`<tr><th scope="row">sure ${share(one.probability)}</th><td>right ${share(one.right)}</td><td>${plural(one.count, "question")}</td></tr>`)}</tbody></table></figure>`;
}

const FEWEST = 5; // questions of a point: with fewer it says nothing

function reliabilityOptions(colour) {
  const line = (name, dash) => ({ stroke: colour(name), width: 1.5, dash, points: { show: !dash, size: 5, fill: colour(name) }, spanGaps: true });
  return {
    legend: { show: false }, cursor: { show: false }, padding: [6, 8, 0, 0],
    scales: { x: { time: false, range: [0, 1] }, y: { range: [0, 1] } },
    axes: [axis(colour, { size: 20, gap: 2, values: (_, ticks) => ticks.map(share) }), axis(colour, { size: 44, values: (_, ticks) => ticks.map(share) })],
    series: [{}, line("faint", [4, 4]), line("warn"), line("good")],
  };
}

const share = (value) => `${Math.round(100 * value)} %`;
const offBy = (bins) => {
  const all = bins.reduce((sum, one) => sum + one.count, 0);
  return all ? `${((100 * bins.reduce((sum, one) => sum + one.count * Math.abs(one.probability - one.right), 0)) / all).toFixed(1)} points` : "–";
};

function Flips({ report }) {
  const flips = listOf(report.flips);
  if (!flips.length) return html`<p class="faint">No labelled question changes between right and wrong.</p>`;
  return html`<div class="flips-box" tabindex="0" role="group" aria-label="Questions that change"><table class="flips"><caption>${plural(report.won, "labelled question becomes", "labelled questions become")} right, ${count(report.lost)} wrong${report.note ? "" : ", each asked without having been learned"}</caption>
    <thead><tr><th scope="col"><span class="hidden">Better or worse</span></th><th scope="col">question</th><th scope="col">in use</th><th scope="col">new</th></tr></thead>
    <tbody>${flips.map((one) => html`<tr><td class=${one.won ? "good" : "wrong"}>${one.won ? "+" : "−"}<span class="hidden">${one.won ? " better" : " worse"}</span></td><td>${text(one.text)}</td><td class="faint">${text(one.before)}</td><td>${text(one.after)}</td></tr>`)}</tbody></table></div>`;
}

// All models: which is in use, since when, and a way back to the others.
export function Models({ models, writes }) {
  const [open, setOpen] = useState(false);
  const items = listOf(models.value?.items);
  if (!items.length) return null;
  return html`<button class="press small-press not-phone" onClick=${() => setOpen(true)}>Models</button>
    ${open && html`<${Dialog} title="Models" close=${() => setOpen(false)} wide=${true}>
      <div class="models-box" tabindex="0" role="group" aria-label="All models"><table class="models"><thead><tr><th scope="col">model</th><th scope="col">state</th><th scope="col" class="r">learned</th><th scope="col">made</th><th scope="col">put live</th><th scope="col"><span class="hidden">Look at it</span></th></tr></thead>
      <tbody>${items.map((one) => html`<tr><th scope="row">${text(one.role)} <code>${text(one.id)}</code></th><td>${one.state === "live" ? html`<span class="badge">in use</span>` : STATES[one.state] ?? text(one.state)}</td>
        <td class="r">${count(one.learned)}</td><td>${text(one.made)}</td><td>${Number.isFinite(one.since) ? html`<${When} at=${one.since} /> ago, by ${text(one.by)}` : "–"}</td>
        <td><button class="press small-press" onClick=${() => (setOpen(false), go(here({ model: one.id, job: "" })))}>Look<span class="hidden"> at ${text(one.id)}</span></button></td></tr>`)}</tbody></table></div>
      ${!writes && html`<p class="faint">Your key may only read.</p>`}</${Dialog}>`}`;
}

const shares = (row) => !/price/.test(row.name);
const shown = (value, row) => (!Number.isFinite(value) ? "–" : shares(row) ? `${(100 * value).toFixed(1)} %` : value.toFixed(4));
const signed = (value, row) => `${value > 0 ? "+" : value < 0 ? "−" : ""}${shown(Math.abs(value), row)}`;
const better = (row) => row.difference !== 0 && row.difference > 0 === shares(row);
const sentence = (words) => text(words).replace(/^./, (letter) => letter.toUpperCase());

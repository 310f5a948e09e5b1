// Evaluation runs: all of them, one of them, and two beside each other.

import { send } from "./api.js";
import { useFetched, usePages } from "./fetching.js";
import { When, count, duration, plural } from "./figures.js";
import { useKeys, useRowKeys } from "./keys.js";
import { Choice, Confirm, Dialog, More, Nothing, States, listOf, replyLine } from "./parts.js";
import { Progress } from "./progress.js";
import { go, here, link, useScroll } from "./router.js";
import { text } from "./safe.js";
import { Drawing, html, useRef, useState } from "./ui.js";

const HOW = "doors:\n  console: {runs: runs}";
const KINDS = { "": "all", won: "right", lost: "wrong", failed: "failed" };
const FLIPS = { "": "all", won: "right here alone", lost: "right there alone", failed: "failed here" };

export default function Evaluations({ at, operator }) {
  return at.rest.length ? html`<${Run} name=${at.rest[0]} at=${at} operator=${operator} key=${at.rest[0]} />` : html`<${Runs} at=${at} operator=${operator} />`;
}

function Runs({ at, operator }) {
  const found = useFetched("/runs", {}, { every: 30 });
  const box = useRef(null);
  const words = at.query.get("words") ?? "";
  const runs = listOf(found.value?.items);
  const fits = (one) => [one.name, one.assistant, one.data].some((field) => text(field).toLowerCase().includes(words.toLowerCase()));
  const shown = runs.filter(fits);
  useScroll(box, Boolean(found.value));
  useRowKeys(box);
  const empty = found.value?.folder
    ? html`<${Nothing} title="No runs here yet"><p>Runs of <code>prolocutor evaluate run</code> appear here as they are made.</p></${Nothing}>`
    : html`<${Nothing} title="No folder of runs"><p>Runs of <code>prolocutor evaluate</code> appear here once the assistant's file names their folder:</p><pre>${HOW}</pre></${Nothing}>`;
  return html`<div class="page evaluations"><header class="head"><h1>Evaluations</h1><p class="faint summary">${found.value ? plural(runs.length, "run") : ""}</p>
      <label class="search"><${Drawing} name="search" /><span class="hidden">Search the runs</span><input type="search" placeholder="Name, assistant, data" value=${words} onInput=${(event) => go(here({ words: event.target.value }), { replace: true })} /></label><${Start} at=${at} operator=${operator} again=${found.again} /></header>
    <${States} of=${{ ...found, value: found.value && shown }} what="The list of runs" filtered=${Boolean(words)} empty=${empty}
      none=${html`<${Nothing} title="No run fits"><p><a href=${here({ words: "" })}>Show all</a></p></${Nothing}>`}>
      <div class="runs-box" ref=${box} tabindex="-1"><table class="runs"><thead><tr><th scope="col">Run</th><th scope="col">Assistant</th><th scope="col">Data</th><th scope="col" class="r">Examples</th><th scope="col" class="r">Accuracy</th><th scope="col" class="r">Half within</th><th scope="col" class="r">Failed</th><th scope="col" class="r">Begun</th></tr></thead>
        <tbody>${shown.map((one) => html`<${RunLine} run=${one} key=${one.name} />`)}</tbody></table></div>
    </${States}></div>`;
}

// A form to start a run: on turns of a tag or the data of the door's options; its progress meanwhile.
function Start({ at, operator, again }) {
  const [open, setOpen] = useState(false);
  const possible = useFetched("/possible-runs").value;
  const job = at.query.get("job");
  const ended = (run) => {
    again();
    go(run ? link(["evaluations", run.name]) : here({ job: "" }), { replace: true });
  };
  if (job) return html`<${Progress} job=${job} ended=${ended} what="evaluation" rest="" />`;
  if (!listOf(possible?.assistants).length || !operator.writes) return null;
  return html`<button class="press small-press strong" onClick=${() => setOpen(true)}>Start a run…</button>
    ${open && html`<${StartForm} possible=${possible} close=${() => setOpen(false)} />`}`;
}

function StartForm({ possible, close }) {
  const tags = Object.entries(useFetched("/tags").value?.tags ?? {});
  const data = [...(listOf(possible.data).length ? [["", `the cases of the file (${possible.data.join(", ")})`]] : []), ...tags.map(([tag, turns]) => [tag, `${plural(turns, "turn")} tagged “${tag}”`])];
  const [assistant, setAssistant] = useState(possible.assistants[0]);
  const [tag, setTag] = useState(null);
  const name = useRef(null);
  const chosen = tag ?? data[0]?.[0];
  const act = async () => {
    const body = { name: name.current.value, assistant, ...(chosen ? { tag: chosen } : {}) };
    const { job } = await send("POST", "/runs", body);
    go(here({ job }), { replace: true });
  };
  if (!data.length) return html`<${Dialog} title="Start a run" close=${close}><p>There are no data yet. Tag turns in a conversation (“Tag or comment…”): all turns of one tag are a data set. Or name cases in the file: <code>doors: {console: {cases: "jsonl:cases.jsonl"}}</code>.</p></${Dialog}>`;
  return html`<${Confirm} title="Start a run" press="Start" act=${act} close=${close}>
    <label class="field"><span>Assistant</span><${Choice} label="Assistant" value=${assistant} options=${possible.assistants.map((one) => [one, one || "the one in use"])} choose=${setAssistant} /></label>
    <label class="field"><span>Data</span><${Choice} label="Data" value=${chosen} options=${data} choose=${setTag} /></label>
    <label class="field"><span>Name of the run</span><input ref=${name} type="text" maxlength="80" defaultValue=${`${assistant || "in-use"}-${new Date().toISOString().slice(0, 16).replace(/[-:]/g, "")}`} key=${assistant} /></label>
    <p class="faint">A second assistant is started for it, with a store of its own. Its page compares it with another run.</p></${Confirm}>`;
}

function RunLine({ run }) {
  const figure = (name) => listOf(run.figures).find((one) => one.name === name);
  const right = figure("accuracy");
  return html`<tr><th scope="row"><a data-row=${run.name} href=${link(["evaluations", run.name])}>${text(run.name)}</a>
      ${run.error && html` <span class="sign bad" title=${text(run.error)}>damaged</span>`}${!run.error && !run.complete && html` <span class="sign mild">not ended</span>`}</th>
    <td data-label="assistant">${text(run.assistant)}</td><td data-label="data">${text(run.data)}</td><td class="r" data-label="examples">${count(run.examples)}</td>
    <td class="r" data-label="accuracy">${right ? html`<b>${share(right.value)}</b> <small class="faint">${interval(right)}</small>` : "–"}</td>
    <td class="r" data-label="half within">${duration(figure("latency_p50")?.value)}</td><td class=${`r ${run.failed ? "wrong" : ""}`} data-label="failed">${count(run.failed)}</td>
    <td class="r" data-label="begun"><${When} at=${seconds(run.started)} /></td></tr>`;
}

function Run({ name, at, operator }) {
  const against = at.query.get("against") ?? "";
  const kind = at.query.get("kind") ?? "";
  const group = at.query.get("group") ?? "";
  const found = useFetched(`/runs/${encodeURIComponent(name)}`, { against });
  const runs = useFetched("/runs");
  const others = listOf(runs.value?.items).filter((one) => one.name !== name && !one.error);
  useKeys({ Escape: () => go(link(["evaluations"])) });
  const run = found.value;
  const kinds = against ? FLIPS : KINDS;
  const counts = run?.pairs ? { "": run.pairs.pairs, won: run.pairs.won, lost: run.pairs.lost, failed: run.pairs.failed } : { "": run?.examples, ...run?.counts };
  return html`<div class="page evaluations one-run"><header class="head"><a class="icon-press" href=${link(["evaluations"])} aria-label="To all runs"><${Drawing} name="back" /></a><h1>${text(name)}</h1>
      <div class="selects"><label class="beside"><span class="faint not-phone">Compare with </span><${Choice} label="Compare with another run" value=${against} choose=${(value) => go(here({ against: value, kind: value ? kind : "" }))}
        options=${[["", "no run"], ...others.map((one) => [one.name, text(one.name)])]} /></label></div></header>
    <${States} of=${found} what="The run">${run && html`<div class="run-box" tabindex="-1">
      ${run.note && html`<p class="warn run-note">${sentence(run.note)}.</p>`}
      <div class="run-tables">${run.pairs ? html`<${Differences} pairs=${run.pairs} main=${listOf(run.main)} />` : html`<${Scores} run=${run} />`}
        <${Groups} groups=${run.groups} metric=${run.metric} /><${About} run=${run} /></div>
      <nav class="chips" aria-label="Which examples">${Object.entries(kinds).map(([one, words]) => html`<a class="chip" href=${here({ kind: one })} data-replace aria-current=${one === kind ? "true" : undefined}>${words} ${Number.isFinite(counts[one]) && html`<small>${count(counts[one])}</small>`}</a>`)}
        ${listOf(run.groups).length > 1 && html`<${Choice} label="Which group" value=${group} choose=${(value) => go(here({ group: value }))} options=${[["", "all groups"], ...run.groups.map((one) => [one.name, text(one.name)])]} />`}</nav>
      <${Rows} name=${name} kind=${kind} against=${against} group=${group} operator=${operator} key=${`${kind} ${against} ${group}`} /></div>`}</${States}></div>`;
}

function Rows({ name, kind, against, group, operator }) {
  const list = usePages(`/runs/${encodeURIComponent(name)}/rows`, { kind, against, group }, { id: (one) => `${one.n}/${one.repeat}` });
  const box = useRef(null);
  useRowKeys(box, list.more);
  return html`<${States} of=${list} what="The examples" rows=${4} empty=${html`<p class="faint end">There are none.</p>`}>
    <div ref=${box}><ol class="examples">${listOf(list.value).map((row) => html`<li key=${`${row.n}/${row.repeat}`} tabindex="0" data-row=${`${row.n}/${row.repeat}`} aria-label=${`Example ${row.n + 1}`}>
      <p class="example-text"><small class="faint">${row.n + 1}${row.repeat ? `, time ${row.repeat + 1}` : ""}${row.group ? ` · ${text(row.group)}` : ""}</small> ${text(row.text)}</p>
      <dl><div><dt>right</dt><dd>${listOf(row.labels).map((one, n) => html`${n > 0 && html` <span class="faint">or</span> `}${replyLine({ spoke: row.here.by, reply: one }, operator)}`)}${!listOf(row.labels).length && "–"}</dd></div>
        ${row.there && html`<${Answer} name="there" one=${row.there} operator=${operator} />`}<${Answer} name=${row.there ? "here" : "said"} one=${row.here} operator=${operator} /></dl></li>`)}</ol>
    <${More} list=${list} /></div></${States}>`;
}

function Answer({ name, one, operator }) {
  return html`<div><dt>${name}</dt><dd>${one.error ? html`<span class="wrong">${text(one.error)}</span>` : replyLine({ spoke: one.by, reply: one.text }, operator) || html`<span class="faint">nothing</span>`}
    <small class="faint"> ${text(one.by)} ${Number.isFinite(one.score) ? html`· <span class=${one.score >= 0.5 ? "good" : "wrong"}>${one.score >= 0.5 ? "right" : "wrong"} ${one.score.toFixed(2)}</span>` : ""} · ${duration(one.seconds)}</small></dd></div>`;
}

// The figures that matter for the task; all others on demand.
function Scores({ run }) {
  const all = [...listOf(run.metrics), ...listOf(run.figures)];
  const main = listOf(run.main).map((name) => all.find((one) => one.name === name)).filter(Boolean);
  if (main.length >= all.length) return html`<${Figures} title="Scores" figures=${all} />`;
  return html`<div><${Figures} title="Scores" figures=${main} />
    <details class="made"><summary>All ${count(all.length)} figures</summary><${Figures} title="Scores" figures=${run.metrics} /><${Figures} title="Time, calls and failures" figures=${run.figures} /></details></div>`;
}

function Figures({ title, figures }) {
  return html`<table class="scores"><caption>${title}</caption><thead class="hidden"><tr><th scope="col">figure</th><th scope="col">value</th><th scope="col">interval</th></tr></thead>
    <tbody>${listOf(figures).map((one) => html`<tr><th scope="row" title=${text(one.name)}>${figureName(one.name)}</th><td class="r"><b>${value(one)}</b></td><td class="r faint">${interval(one)}</td></tr>`)}</tbody></table>`;
}

// The differences of the figures that matter for the task; all others on demand.
function Differences({ pairs, main }) {
  const all = listOf(pairs.differences);
  const first = all.filter((one) => main.includes(one.name));
  const rest = first.length ? all.filter((one) => !first.includes(one)) : [];
  const left = pairs.only_here + pairs.only_there;
  return html`<div><${Pairs} caption=${`Beside ${text(pairs.against)}, over ${plural(pairs.pairs, "example")} in both`} rows=${first.length ? first : all} />
    ${rest.length > 0 && html`<details class="made"><summary>${plural(rest.length, "more figure")}</summary><${Pairs} caption="Other figures" rows=${rest} /></details>`}
    <p class="faint">${left > 0 && `${count(pairs.only_here)} examples are here alone, ${count(pairs.only_there)} there alone, and left out. `}A star marks a difference whose 95 % interval does not hold 0.</p></div>`;
}

function Pairs({ caption, rows }) {
  const mark = (one) => (one.low > 0 || one.high < 0 ? html`<b>*</b>` : "");
  return html`<table class="scores"><caption>${caption}</caption>
    <thead><tr><th scope="col"><span class="hidden">figure</span></th><th scope="col" class="r">there</th><th scope="col" class="r">here</th><th scope="col" class="r">difference</th><th scope="col" class="r">better, worse</th></tr></thead>
    <tbody>${rows.map((one) => html`<tr><th scope="row" title=${text(one.name)}>${figureName(one.name)}</th><td class="r">${shape(one)(one.first)}</td><td class="r"><b>${shape(one)(one.second)}</b></td>
      <td class="r">${signed(one)(one.difference.value)} ${mark(one.difference)} <small class="faint">${interval(one.difference, signed(one))}</small></td><td class="r">${count(one.better)}, ${count(one.worse)}</td></tr>`)}</tbody></table>`;
}

function Groups({ groups, metric }) {
  const rows = listOf(groups).map((one) => [one.name, listOf(one.figures).find((figure) => figure.name === metric)]).filter(([, figure]) => figure);
  if (rows.length < 2) return null;
  return html`<table class="scores"><caption>${text(metric)} by group</caption><thead class="hidden"><tr><th scope="col">group</th><th scope="col">value</th><th scope="col">interval</th><th scope="col">examples</th></tr></thead>
    <tbody>${rows.map(([name, one]) => html`<tr><th scope="row">${text(name)}</th><td class="r"><b>${value(one)}</b></td><td class="r faint">${interval(one)}</td><td class="r faint">${count(one.count)}</td></tr>`)}</tbody></table>`;
}

function About({ run }) {
  const known = Object.entries(run.configuration ?? {}).filter(([, one]) => one !== null);
  const by = Object.entries(run.by ?? {});
  return html`<details class="made"><summary>How it was made${by.length > 0 ? ", and who answered" : ""}</summary>
    <p class="faint">${text(run.started)}${run.ended ? ` to ${text(run.ended)}` : ""}</p>
    <dl>${[...known, ...Object.entries(run.versions ?? {})].map(([name, one]) => html`<div><dt>${text(name)}</dt><dd>${text(one)}</dd></div>`)}
      ${by.map(([name, number]) => html`<div><dt>${text(name) || "nobody"} answered</dt><dd>${count(number)}</dd></div>`)}</dl></details>`;
}

const SHARES = new Set(["accuracy", "f1", "errors", "abstention", "precision", "recall"]);
const NAMES = { __proto__: null, exs: "examples", errors: "failed", latency: "mean time", latency_p50: "half within" };
const figureName = (name) => NAMES[name] ?? text(name).replace(/^latency_p(\d+)$/, "$1 % within").replaceAll("_", " ");
const share = (one) => `${(100 * one).toFixed(1)} %`;
const number = (one) => (Number.isFinite(one) ? (Math.abs(one) >= 100 ? count(Math.round(one)) : String(Number(one.toFixed(4)))) : "–");
const value = (one) => shape(one)(one.value);
const signed = (one) => (difference) => `${difference > 0 ? "+" : difference < 0 ? "−" : ""}${shape(one)(Math.abs(difference))}`;
const interval = (one, as = shape(one)) => (Number.isFinite(one?.low) && Number.isFinite(one?.high) ? `[${as(one.low)}, ${as(one.high)}]` : "");
const shape = (one) => (/^latency/.test(one?.name ?? "") ? duration : SHARES.has(one?.name) ? share : number);
const seconds = (stamp) => Date.parse(/[Z+]/.test(text(stamp).slice(10)) ? stamp : `${text(stamp).replace(" ", "T")}Z`) / 1000;
const sentence = (words) => text(words).replace(/^./, (letter) => letter.toUpperCase());

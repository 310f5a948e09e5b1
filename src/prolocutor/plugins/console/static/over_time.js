// Figures over time: of all turns, and of each agent; a row of bars for each of them.

import { useFetched } from "./fetching.js";
import { amount, clock, costName, count, day, duration, percent } from "./figures.js";
import { Choice, Nothing, States, listOf } from "./parts.js";
import { go, here, link } from "./router.js";
import { text } from "./safe.js";
import { html, useMemo } from "./ui.js";

const PERIODS = [["1", "24 hours"], ["", "7 days"], ["30", "30 days"]];
const STEPS = { 1: 3600, "": 21_600, 30: 86_400 };

const sum = (values) => values.reduce((all, one) => all + one, 0);
const FEWEST = 12; // steps that are drawn at least
const number = { unit: "number", total: sum, write: count };
const share = (of) => ({ unit: "share", total: (values, one) => sum(values) / sum(of(one)), write: percent, each: (values, one) => values.map((value, n) => value / of(one)[n]) });
const ofTurns = share((all) => all.turns);

// What a row shows: `of` gives its numbers, `each` what the bars show, `total` the figure beside them.
const TURNS = [
  { name: "Turns", of: (all) => all.turns, ...number },
  { name: "Without an answer", of: (all) => all.none, kind: "none", ...ofTurns },
  { name: "With failures", of: (all) => all.failed, kind: "failed", ...ofTurns },
  { name: "Slow", of: (all) => all.slow, kind: "slow", ...ofTurns },
  { name: "Thumbs down", of: (all) => all.down, kind: "down", ...ofTurns },
];
const COST = { of: (all) => all.at.map((_, n) => sum(all.agents.map((one) => one.cost[n]))), total: sum, write: amount };
const ofAsked = share((one) => one.asked);
const longest = (values) => Math.max(...values.filter(Number.isFinite));
const AGENTS = {
  "": { name: "Asked", of: (one) => one.asked, ...number },
  won: { name: "Wins", of: (one) => one.won, ...ofAsked },
  failed: { name: "Fails", of: (one) => one.failed, ...ofAsked },
  p50: { name: "Half within", of: (one) => one.p50, total: longest, write: duration },
  p99: { name: "99 % within", of: (one) => one.p99, total: longest, write: duration },
  cost: { of: (one) => one.cost, total: sum, write: amount },
};

export default function Figures({ at }) {
  const days = Object.hasOwn(STEPS, at.query.get("days") ?? "") ? at.query.get("days") ?? "" : "";
  const by = Object.hasOwn(AGENTS, at.query.get("by") ?? "") ? at.query.get("by") ?? "" : "";
  const found = useFetched("/figures", { days: days || 7, step: STEPS[days] }, { every: 60 });
  const finer = useFetched(...shorter(found.value));
  const all = useMemo(() => found.value && sinceData(finer.value ?? found.value), [found.value, finer.value]);
  const turns = all ? sum(all.turns) : 0;
  return html`<div class="page over-time"><header class="head"><h1>Figures</h1>
      <div class="selects"><${Choice} label="Time" value=${days} options=${PERIODS} choose=${(value) => go(here({ days: value }))} /></div></header>
    <${States} of=${found} what="The figures">${all && !turns ? html`<${Nothing} title=${`No turn in ${PERIODS.find(([value]) => value === days)[1]}`}><p>Talk at <a href="/">the chat page</a>, or choose a longer time.</p></${Nothing}>` : all && html`<div class="table-box" tabindex="-1">
      <${Table} caption="Turns" all=${all} rows=${[...TURNS, { ...COST, name: costName() }].map((row) => ({ ...row, one: all, href: row.kind && link(["conversations"], { kind: row.kind, time: TIMES[days] }) }))} />
      <div class="by"><h2>Agents</h2><${Choice} label="Figure of agents" value=${by} options=${Object.entries(AGENTS).map(([id, one]) => [id, one.name ?? costName()])} choose=${(value) => go(here({ by: value }))} /></div>
      <${Table} caption="Agents" all=${all} rows=${listOf(all.agents).map((one) => ({ ...AGENTS[by], name: one.agent, one, href: link(["agents", one.agent], { hours: HOURS[days] }) }))} /></div>`}</${States}>
  </div>`;
}

const TIMES = { 1: "24h", "": "7d", 30: "30d" };
const HOURS = { 1: "", "": "168", 30: "168" };

// Give what to fetch in shorter steps, where all turns are of the latest few; null for nothing.
function shorter(all) {
  const first = all?.turns.findIndex((turns) => turns > 0) ?? -1;
  if (first < 0 || all.step === 3600 || all.at.length - first >= FEWEST) return [null];
  const days = Math.ceil(((all.at.length - first) * all.step) / 86_400);
  return ["/figures", { days, step: days > 3 ? 21_600 : 3600 }, { every: 60 }];
}

// Leave out the steps before the first turn, as far as enough are left.
function sinceData(all) {
  const first = Math.max(0, Math.min(all.turns.findIndex((turns) => turns > 0), all.at.length - FEWEST));
  const since = (columns) => Object.fromEntries(Object.entries(columns).map(([name, values]) => [name, Array.isArray(values) ? values.slice(first) : values]));
  return { ...since(all), agents: listOf(all.agents).map(since) };
}

// Rows of bars; rows of the same unit have the same scale, so that they can be compared.
function Table({ caption, all, rows: given }) {
  const drawn = given.map((row) => {
    const values = row.of(row.one);
    return { ...row, values, shown: row.each ? row.each(values, row.one) : values };
  });
  const most = (unit) => Math.max(...drawn.filter((row) => row.unit === unit).flatMap((row) => row.shown.filter(Number.isFinite)), 0);
  const rows = drawn.map((row) => ({ ...row, most: most(row.unit) }));
  const when = all.at.at(-1) - all.at[0] < 86_400 ? clock : day;
  return html`<table class="bars-table"><caption class="hidden">${caption}</caption><colgroup><col class="of" /><col class="total" /><col /></colgroup><tbody>${rows.map((row) => html`<${Row} key=${row.name} row=${row} all=${all} />`)}</tbody>
    <tfoot aria-hidden="true"><tr><td></td><td></td><td><span class="ends faint"><span>${when(all.at[0])}</span><span>now</span></span></td></tr></tfoot></table>`;
}

function Row({ row, all }) {
  const { values, shown } = row;
  const most = Math.max(...shown.filter(Number.isFinite), 0);
  const told = (value, n) => `${day(all.at[n])}${all.step < 86_400 ? ` ${clock(all.at[n])}` : ""}: ${row.write(value)}`;
  const label = most ? `${text(row.name)}, most ${told(most, shown.indexOf(most))}` : `${text(row.name)}: none`;
  return html`<tr><th scope="row" title=${text(row.name)}>${row.href ? html`<a href=${row.href}>${text(row.name)}</a>` : text(row.name)}</th><td class="r">${row.write(row.total(values, row.one))}</td>
    <td><span class="bars" role="img" aria-label=${label}>${shown.map((value, n) => html`<i class=${value > 0 ? "" : "no"} style=${{ height: `${value > 0 ? Math.max(6, (100 * value) / row.most) : 0}%` }} title=${told(value, n)}></i>`)}</span></td></tr>`;
}

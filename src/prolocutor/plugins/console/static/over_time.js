// Figures over time: of all turns, and of each agent; a row of bars for each of them.

import { useFetched } from "./fetching.js";
import { amount, clock, costName, count, day, duration, percent } from "./figures.js";
import { Choice, Nothing, States, listOf } from "./parts.js";
import { go, here, link } from "./router.js";
import { text } from "./safe.js";
import { html } from "./ui.js";

const PERIODS = [["1", "24 hours"], ["", "7 days"], ["30", "30 days"]];
const STEPS = { 1: 3600, "": 21_600, 30: 86_400 };

const sum = (values) => values.reduce((all, one) => all + one, 0);
const number = { total: sum, write: count };
const share = (of) => ({ total: (values, one) => sum(values) / sum(of(one)), write: percent, each: (values, one) => values.map((value, n) => value / of(one)[n]) });
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
  const all = found.value;
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

function Table({ caption, all, rows }) {
  const when = all.step < 86_400 && all.at.length <= 24 ? clock : day;
  return html`<table class="bars-table"><caption class="hidden">${caption}</caption><colgroup><col class="of" /><col class="total" /><col /></colgroup><tbody>${rows.map((row) => html`<${Row} key=${row.name} row=${row} all=${all} />`)}</tbody>
    <tfoot aria-hidden="true"><tr><td></td><td></td><td><span class="ends faint"><span>${when(all.at[0])}</span><span>now</span></span></td></tr></tfoot></table>`;
}

function Row({ row, all }) {
  const values = row.of(row.one);
  const shown = row.each ? row.each(values, row.one) : values;
  const most = Math.max(...shown.filter(Number.isFinite), 0);
  const told = (value, n) => `${day(all.at[n])}${all.step < 86_400 ? ` ${clock(all.at[n])}` : ""}: ${row.write(value)}`;
  const label = most ? `${text(row.name)}, most ${told(most, shown.indexOf(most))}` : `${text(row.name)}: none`;
  return html`<tr><th scope="row">${row.href ? html`<a href=${row.href}>${text(row.name)}</a>` : text(row.name)}</th><td class="r">${row.write(row.total(values, row.one))}</td>
    <td><span class="bars" role="img" aria-label=${label}>${shown.map((value, n) => html`<i class=${value > 0 ? "" : "no"} style=${{ height: `${value > 0 ? Math.max(6, (100 * value) / most) : 0}%` }} title=${told(value, n)}></i>`)}</span></td></tr>`;
}

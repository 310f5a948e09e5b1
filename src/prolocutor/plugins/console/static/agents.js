// The agents: who is ill first, and one of them in full beside the list.

import { AgentSide } from "./agent_side.js";
import { useFetched } from "./fetching.js";
import { amount, clock, costName, count, duration, percent } from "./figures.js";
import { useKeys, useRowKeys } from "./keys.js";
import { Choice, States, listOf } from "./parts.js";
import { Effects } from "./effects.js";
import { isIll } from "./pages.js";
import { Rollouts } from "./rollouts.js";
import { Spending } from "./spending.js";
import { go, here, link, useScroll } from "./router.js";
import { text } from "./safe.js";
import { html, useMemo, useRef } from "./ui.js";
import { failureName } from "./wording.js";

export const STATES = { well: "well", failing: "fails often", trying: "tries again", alone: "left alone", off: "off" };

const ORDER = { alone: 0, failing: 1, trying: 2, well: 3, off: 4 };
export const PERIODS = [["1", "1 hour"], ["", "24 hours"], ["168", "7 days"]];
const COST = "In the currency of the prices on the agents' cards";
const STAGES = [["", "Skills"], ["all", "All services"]];
const OF = {
  state: (one) => -ORDER[one.state],
  asked: (one) => one.asked,
  wins: (one) => share(one, one.wins),
  declines: (one) => share(one, one.declines),
  failed: (one) => share(one, one.failed),
  time: (one) => one.p99 ?? -1,
  flight: (one) => one.in_flight,
  cost: (one) => one.cost,
  thumbs: (one) => one.down,
};

export default function Agents({ at, operator }) {
  const hours = PERIODS.some(([value]) => value === at.query.get("hours")) ? at.query.get("hours") : "";
  const all = at.query.get("stage") === "all";
  const order = OF[(at.query.get("order") ?? "").replace("-", "")] ? at.query.get("order") : "-state";
  const since = useSince(hours);
  const list = useFetched("/agents", { since }, { every: 5 });
  const sorted = useSorted(list.value, order, all);
  const name = at.rest[0] ?? "";
  const chosen = sorted.find((one) => one.name === name && (!at.query.get("of") || one.stage === at.query.get("of")))
    ?? listOf(list.value?.items).find((one) => one.name === name);
  const box = useRef(null);
  const query = { hours, stage: all ? "all" : "", order: order === "-state" ? "" : order };
  const to = (one) => link(["agents", one.name], { ...query, of: one.stage === "skills" ? "" : one.stage });
  const close = () => go(link(["agents"], query));
  const step = (by) => () => {
    const place = sorted.indexOf(chosen);
    if (!chosen || place < 0) return false;
    go(to(sorted[Math.max(0, Math.min(sorted.length - 1, place + by))]), { replace: true });
    return true;
  };
  useRowKeys(box);
  useKeys({ j: step(1), k: step(-1), Escape: () => Boolean(name) && (close(), true) });
  useScroll(box, Boolean(list.value));
  return html`<div class=${`page agents ${name ? "with-side" : ""}`}>
    <div class="column">
      <header class="head"><h1>Agents</h1><${Summary} list=${sorted} />
        <div class="selects"><${Choice} label="Which services" value=${all ? "all" : ""} options=${STAGES} choose=${(stage) => go(here({ stage }))} />
          <${Choice} label="Time" value=${hours} options=${PERIODS} choose=${(value) => go(here({ hours: value }))} /></div></header>
      <${States} of=${list} what="The list of agents"><div class="table-box" ref=${box} tabindex="-1">
        <${Table} list=${sorted} whole=${list.value} hours=${hours} chosen=${chosen} order=${order} to=${to} />
        ${list.value?.turns === 0 && html`<p class="faint end">No turn in ${PERIODS.find(([value]) => value === hours)[1]}. Talk at <a href="/">the chat page</a>, choose an agent to talk to it alone, or choose a longer time.</p>`}
        <${Effects} operator=${operator} /><${Spending} operator=${operator} /><${Rollouts} operator=${operator} changed=${list.again} /></div></${States}>
    </div>
    ${name && list.value && html`<${AgentSide} key=${`${chosen?.stage}.${name}`} name=${name} stage=${chosen?.stage} since=${since} hours=${hours} operator=${operator} close=${close} changed=${list.again} />`}
  </div>`;
}

function Summary({ list }) {
  const ill = list.filter(isIll).length;
  const off = list.filter((one) => one.state === "off").length;
  return html`<p class="faint summary">${count(list.length)}${ill > 0 && html` · <span class="wrong">${ill} ill</span>`}${off > 0 && ` · ${off} off`}</p>`;
}

function Table({ list, whole, hours, chosen, order, to }) {
  const head = (name, words, className = "r", title) => html`<${SortHead} name=${name} order=${order} title=${title}
    sort=${(by) => go(here({ order: by === "-state" ? "" : by }), { replace: true })} className=${`${className} c-${name}`}>${words}</${SortHead}>`;
  const sum = (of) => list.reduce((all, one) => all + of(one), 0);
  const asked = sum((one) => one.asked);
  const longest = Math.max(0.01, ...list.map((one) => one.timeout));
  return html`<table class="agents-table"><caption class="hidden">Agents, the ill ones first</caption>
    <thead><tr>${head("state", "Agent", "")}${head("asked", "Asked")}${head("wins", "Wins")}${head("declines", "Declines")}${head("failed", "Fails")}
      ${head("time", "Half / 99 % within", "", "How long answers take, on a logarithmic scale up to the longest time-out")}
      ${head("flight", "Now", "r", "Calls that run now")}${head("cost", costName(), "r", COST)}${head("thumbs", "Thumbs")}</tr></thead>
    <tbody>${list.map((one) => html`<${Row} key=${`${one.stage}.${one.name}`} one=${one} here=${one === chosen} to=${to(one)} longest=${longest} />`)}</tbody>
    <tfoot><tr><th scope="row">All <small>${PERIODS.find(([value]) => value === hours)[1]}</small></th><td class="r c-asked">${count(whole.turns)} <small>turns</small></td>
      <td class="c-wins"></td><td class="c-declines"></td><td class="r c-failed">${asked ? percent(sum((one) => one.failed) / asked) : "–"}</td><td class="c-time"></td>
      <td class="r c-flight">${count(sum((one) => one.in_flight))}</td><td class="r c-cost">${amount(sum((one) => one.cost))}</td>
      <td class="r c-thumbs">${count(sum((one) => one.up))} / ${count(sum((one) => one.down))}</td></tr></tfoot></table>`;
}

function Row({ one, here: chosen, to, longest }) {
  const failed = share(one, one.failed);
  const full = one.in_flight >= 0.8 * one.max_in_flight;
  const press = (event) => !event.target.closest("a") && !String(getSelection()) && go(to);
  return html`<tr class=${`is-${one.state} ${chosen ? "here" : ""}`} onClick=${press}>
    <th scope="row"><a class="agent-name" data-row=${`${one.stage}.${one.name}`} href=${to} aria-current=${chosen ? "true" : undefined}>
      <span class=${`health is-${one.state}`}></span><span class="words">${text(one.name)}${" "}<span class="hidden">, ${STATES[one.state]}, </span><small>${text(one.note ?? one.kind)}${one.state === "well" && one.since ? ` · well since ${clock(one.since)}` : ""}${one.note && one.state !== "off" ? causeOf(one) : ""}</small></span></a></th>
    <td class="r c-asked">${count(one.asked)}</td><td class="r c-wins">${share(one, one.wins, percent)}</td>
    <td class="r faint c-declines">${share(one, one.declines, percent)}</td>
    <td class=${`r c-failed ${failed > 0.05 ? "wrong" : failed > 0.02 ? "warn" : failed ? "" : "faint"}`}>${share(one, one.failed, percent)}</td>
    <td class="c-time"><${Spread} one=${one} longest=${longest} /></td>
    <td class=${`r c-flight ${full ? "warn" : one.in_flight ? "" : "faint"}`}>${count(one.in_flight)}${full && html` <small>of ${count(one.max_in_flight)}</small>`}</td>
    <td class=${`r c-cost ${one.cost ? "" : "faint"}`}>${amount(one.cost)}</td>
    <td class="r c-thumbs">${one.up || one.down ? html`${count(one.up)} <span class=${one.down > one.up / 2 ? "wrong" : "faint"}>/ ${count(one.down)}</span>` : html`<span class="faint">–</span>`}</td></tr>`;
}

// Give what most of its failures were, beside being left alone.
function causeOf(one) {
  const [cause] = Object.keys(one.kinds).filter((code) => code !== "breaker_open");
  return cause ? ` · ${failureName(cause)}` : "";
}

// Half of the answers, and 99 of 100, on one logarithmic scale from 1 ms to the longest time-out.
function Spread({ one, longest }) {
  if (one.p50 === null) return html`<span class="faint">–</span>`;
  const place = (seconds) => Math.max(0, Math.min(100, (100 * Math.log10(Math.max(seconds, 0.001) / 0.001)) / Math.log10(longest / 0.001)));
  const near = one.p99 > 0.9 * one.timeout;
  return html`<span class="spread"><span class="lane"><i class=${`range ${near ? "near" : ""}`} style=${{ left: `${place(one.p50)}%`, width: `${place(one.p99) - place(one.p50)}%` }}></i>
    <i class="limit" style=${{ left: `${place(one.timeout)}%` }} title=${`time-out ${one.timeout} s`}></i></span>
    <span class="numbers">${duration(one.p50)} / <b class=${near ? "warn" : ""}>${duration(one.p99)}</b></span></span>`;
}

function share(one, part, write = (value) => value) {
  return one.asked ? write(part / one.asked) : write === percent ? "–" : 0;
}

function useSorted(value, order, all) {
  return useMemo(() => {
    const by = OF[order.replace("-", "")];
    const sign = order.startsWith("-") ? -1 : 1;
    return listOf(value?.items)
      .filter((one) => all || one.stage === "skills" || one.stage === "last_chance")
      .sort((a, b) => sign * (by(a) - by(b)) || share(b, b.failed) - share(a, a.failed) || b.asked - a.asked);
  }, [value, order, all]);
}

// Since when figures count: an hour ago, brought forward every few minutes; none for a day.
function useSince(hours) {
  const now = Math.floor(Date.now() / 300_000) * 300;
  return hours ? now - 3600 * Number(hours) : "";
}

// A heading of a column that sorts: `order` is "name" or "-name" (descending).
function SortHead({ name, order, sort, className = "", title, children }) {
  const mine = order.replace("-", "") === name;
  const way = mine ? (order.startsWith("-") ? "descending" : "ascending") : "none";
  return html`<th scope="col" class=${className} aria-sort=${way} title=${title}>
    <button onClick=${() => sort(mine && way === "descending" ? name : `-${name}`)}>${children}</button></th>`;
}

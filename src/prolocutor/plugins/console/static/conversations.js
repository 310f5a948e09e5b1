// All conversations: found by filters that stand in the address, walked by keys.

import { useFetched, usePages } from "./fetching.js";
import { CHANNELS, KINDS, asked, filtersOf, searched } from "./filters.js";
import { When, amount, costName, count, duration, personName, wholeTime } from "./figures.js";
import { History } from "./history.js";
import { kept } from "./kept.js";
import { useRowKeys } from "./keys.js";
import { Later } from "./later.js";
import { Choice, Fresh, More, Nothing, Signs, States, attempt, listOf, namesOf, replyLine, saidLine } from "./parts.js";
import { go, here, link, useScroll } from "./router.js";
import { text } from "./safe.js";
import { Drawing, html, useEffect, useRef, useState } from "./ui.js";

const loadViews = () => import("./views.js");
const ORDERS = [["turns", "Turns", "the longest first"], ["slowest", "Slowest", "the slowest first"], ["cost", "Cost", "the dearest first"], ["failed", "Signs", "most failures first"], ["", "When", "the latest first"]];
const TIMES = [["", "Any time"], ["24h", "24 hours"], ["7d", "7 days"], ["30d", "30 days"]];

// Fetch the conversations of some filters; the list and what is opened from it share them.
export function useConversations(filters) {
  return usePages("/conversations", asked(filters), { id: (one) => one.dialog_id, every: 5 });
}

export default function Conversations({ at, operator }) {
  const filters = filtersOf(at.query);
  const { kind = "", order, ...others } = filters;
  const found = useConversations(filters);
  const counts = useFetched("/counts", asked(others), { every: 10 });
  const box = useRef(null);
  useScroll(box, Boolean(found.value), at.whole);
  useRowKeys(box, found.more);
  const total = counts.value?.[kind || "all"];
  const choose = (changes) => go(here(changes));
  const save = (work) => () => attempt(null, () => import("./csv.js").then(work));
  const show = () => {
    found.show();
    box.current?.scrollTo(0, 0);
  };
  return html`<div class="page conversations">
    <header class="head"><h1>Conversations</h1><${Search} filters=${filters} />
      ${at.query.size > 0 || kept("prolocutor.console.views") ? html`<${Later} load=${loadViews} at=${at} />` : ""}${filters.tag && html`<button class="press small-press not-phone" onClick=${save((files) => files.exportTurns(filters.tag))}>Data set</button>`}
      <button class="press small-press not-phone" onClick=${save((files) => files.exportRows(filters))}>CSV</button></header>
    <div class="filters">
      <nav class="chips" aria-label="Which conversations">${KINDS.map(([id, name]) => html`
        <a class="chip" href=${here({ kind: id })} aria-current=${id === kind ? "true" : undefined}>${name}
          ${counts.value && html` <small>${count(counts.value[id || "all"])}</small>`}</a>`)}</nav>
      <${Menus} filters=${filters} agents=${operator.agents} choose=${choose} />
    </div>
    <${History} filters=${filters} choose=${choose} />
    <div class="rows-head" role="group" aria-label="Order"><span></span><span>Person</span><span>Said last</span><span>Answered by</span>
      ${ORDERS.map(([id, name]) => html`<${Order} id=${id} name=${id === "cost" ? costName() : name} order=${filters.words ? "" : order ?? ""} words=${filters.words} choose=${choose} />`)}</div>
    <${States} of=${found} what="The list" rows=${14} filtered=${Object.keys(filters).length > 0}
      empty=${html`<${Nobody} />`} none=${html`<${NoneFits} filters=${filters} total=${counts.value?.all} />`}>
      <${Fresh} list=${{ ...found, show }} />
      <div class="rows" ref=${box}>
        <ol aria-label="Conversations">${listOf(found.value).map((one) => html`<${Row} key=${one.dialog_id} operator=${operator} one=${one} filters=${filters} gone=${found.gone.has(one.dialog_id)} />`)}</ol>
        <${More} list=${found}>${count(listOf(found.value).length)}${total > listOf(found.value).length ? ` of ${count(total)}` : ""}, ${ORDERS.find(([id]) => id === (filters.words ? "" : order ?? ""))?.[2] ?? "the latest first"}</${More}>
      </div>
    </${States}>
  </div>`;
}

// A heading that sorts; hits of words stand by time alone.
function Order({ id, name, order, words, choose }) {
  return html`<span class=${id === "failed" ? "" : "r"}><button class="order" aria-pressed=${id === order} disabled=${Boolean(words)} title=${words ? "With words, the latest hit stands first" : "The greatest first"} onClick=${() => choose({ order: id })}>${name}</button></span>`;
}

function Row({ operator, one, filters, gone }) {
  const flags = listOf(one.flags);
  const spoke = namesOf(one.spoke).join(", ");
  return html`<li class=${`row ${gone ? "gone" : ""}`} title=${gone ? "It does not belong here any more" : undefined}>
    <span class=${`dot ${one.active ? "on" : ""}`} title=${one.active ? "going on" : "over"}></span>
    <a class="who-said" tabindex="-1" href=${here({ user: one.user })} title=${`All of ${text(one.user)}`}>${personName(one.user)}</a>
    <a class="said" data-row=${one.dialog_id} href=${link(["conversations", one.dialog_id, ...(one.hit ? [one.hit] : [])], filters)}>
      ${one.turns > 1 && text(one.title) && html`<b>${text(one.title)}</b> `}<span>${saidLine(one.said) || html`<i class="faint">no words</i>`}</span> <small>${replyLine(one, operator)}</small></a>
    <span class=${`spoke ${spoke ? "" : "nobody"}`} title=${spoke}>${spoke || "nobody"}</span>
    <span class="r turns">${count(one.turns)}</span>
    <span class=${`r slowest ${flags.includes("slow") ? "warn" : ""}`}>${duration(one.slowest)}</span>
    <span class="r cost">${amount(one.cost)}</span>
    <span class="signs"><${Signs} flags=${flags.filter((flag) => flag !== "slow")} failed=${one.failed} stopped=${one.stopped} /></span>
    <${When} className="r when" at=${one.at} /></li>`;
}

// The field for words; what is typed goes into the address a moment later.
function Search({ filters }) {
  const inAddress = filters.user ? `@${filters.user}` : filters.words ?? "";
  const [typed, setTyped] = useState(inAddress);
  const field = useRef(null);
  const timer = useRef(null);
  useEffect(() => {
    if (document.activeElement !== field.current) setTyped(inAddress);
  }, [inAddress]);
  useEffect(() => () => clearTimeout(timer.current), []);
  const find = (words, open) => {
    clearTimeout(timer.current);
    const { dialog, ...changes } = searched(words);
    if (dialog && open) go(link(["conversations", dialog]));
    else if (!dialog) go(here(changes), { replace: true });
  };
  const input = (event) => {
    const words = event.target.value;
    setTyped(words);
    clearTimeout(timer.current);
    timer.current = setTimeout(find, 250, words, false);
  };
  const submit = (event) => {
    event.preventDefault();
    find(typed, true);
  };
  return html`<form class="search" role="search" onSubmit=${submit}><${Drawing} name="search" />
    <input ref=${field} type="search" placeholder="Words, @person, or id" aria-label="Search conversations" maxlength="200"
      value=${typed} onInput=${input} /><kbd aria-hidden="true">/</kbd></form>`;
}

function Menus({ filters, agents, choose }) {
  const named = (options, chosen) => (!chosen || options.some(([name]) => name === chosen) ? options : [...options, [chosen, chosen]]);
  const { since, until, time = "" } = filters;
  const tags = Object.keys(useFetched("/tags").value?.tags ?? {});
  const times = since ? [...TIMES, ["own", `From ${wholeTime(Number(since))}`]] : TIMES;
  return html`<div class="selects">
    <${Choice} label="Agent" value=${filters.agent ?? ""} options=${[["", "Any agent"], ...named(listOf(agents).map((name) => [name, name]), filters.agent)]} choose=${(agent) => choose({ agent })} />
    <${Choice} label="Door" value=${filters.channel ?? ""} options=${[["", "Any door"], ...named(CHANNELS, filters.channel)]} choose=${(channel) => choose({ channel })} />
    ${(tags.length > 0 || filters.tag) && html`<${Choice} label="Tag" value=${filters.tag ?? ""} options=${[["", "Any tag"], ...named(tags.map((tag) => [tag, tag]), filters.tag)]} choose=${(tag) => choose({ tag })} />`}
    <${Choice} label="Time" value=${since || until ? "own" : time} options=${times} choose=${(value) => value !== "own" && choose({ time: value, since: "", until: "" })} />
  </div>`;
}

function Nobody() {
  return html`<${Nothing} title="Nobody has said anything yet"><p>Talk to it yourself on the <a href="/">chat page</a>, or in a terminal:</p>
    <pre>prolocutor ask "what can you do?"</pre></${Nothing}>`;
}

function NoneFits({ filters, total }) {
  const words = filters.words ? `No conversation has “${filters.words}”. ` : "";
  return html`<${Nothing} title=${total > 0 ? `None of ${count(total)} fits` : "None fits"}>
    <p>${words}<a href=${link(["conversations"])}>Drop all filters</a></p></${Nothing}>`;
}

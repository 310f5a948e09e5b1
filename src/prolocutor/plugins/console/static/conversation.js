// One conversation: what was said, and how the chosen turn came about.

import { send } from "./api.js";
import { useConversations } from "./conversations.js";
import { Face, setPictured } from "./faces.js";
import { forget, useFetched } from "./fetching.js";
import { KINDS, asked, channelName, filtersOf } from "./filters.js";
import { When, clock, count, day, duration, money, personName, plural, wholeTime } from "./figures.js";
import { Handover, useHandover } from "./handover.js";
import { KeepAsTest } from "./keep.js";
import { useKeys } from "./keys.js";
import { Confirm, Nothing, Signs, States, listOf, namesOf, replyLine, tell, saidLine } from "./parts.js";
import { go, link, up } from "./router.js";
import { text } from "./safe.js";
import { useTalk } from "./talk.js";
import { Turn } from "./turn.js";
import { Drawing, html, useEffect, useRef, useState } from "./ui.js";

export default function Conversation({ at, operator }) {
  const [id, chosen = ""] = at.rest;
  const filters = filtersOf(at.query);
  const talk = useTalk(id, chosen);
  useEffect(() => setPictured(listOf(operator.icons)), [operator]);
  const handover = useHandover(id, operator, talk);
  const items = listOf(talk.value?.items);
  const index = chosen ? items.findIndex((one) => one.utt_id === chosen) : items.findLastIndex((one) => one.utt_id);
  const turn = items[index];
  const open = (one) => go(link(["conversations", id, one.utt_id], filters), { replace: Boolean(chosen) });
  const list = link(["conversations"], filters);
  const step = (by) => {
    const next = nextTurn(items, index, by);
    if (next) open(next);
    else if (by < 0) talk.earlier();
    else talk.later();
  };
  useKeys({
    "[": () => step(-1),
    "]": () => step(1),
    Escape: () => up(list),
    t: () => handover.press?.(),
  });
  return html`<div class=${`page one-conversation ${chosen ? "turn-open" : ""}`}>
    <${Head} id=${id} chosen=${chosen} head=${talk.value} items=${items} filters=${filters} list=${list} handover=${handover} operator=${operator} />
    <${States} of=${talk} what="This conversation" rows=${6}>
      <div class="split">
        <section class="talk" aria-label="What was said"><${Said} operator=${operator} items=${items} turn=${turn} id=${id} filters=${filters} chosen=${chosen} talk=${talk} />
          <${Handover} of=${handover} user=${talk.value?.user} items=${items} agents=${operator.agents} /></section>
        <section class="how" aria-label="How this answer came about" tabindex="-1">
          ${turn ? html`<${Turn} key=${turn.utt_id} item=${turn} operator=${operator} />`
            : html`<${Nothing} title=${items.length ? "There is no such turn here" : "Nothing was said yet"}>${items.length > 0 && html`<p><a href=${link(["conversations", id], filters)}>To the last one</a></p>`}</${Nothing}>`}
        </section>
      </div>
    </${States}>
  </div>`;
}

// Give the next turn with a reply, in one direction.
function nextTurn(items, index, by) {
  for (let n = index + by; n >= 0 && n < items.length; n += by) if (items[n].utt_id) return items[n];
  return null;
}

function Head({ id, chosen, head, items, filters, list, handover, operator }) {
  const [deleting, setDeleting] = useState(false);
  const cost = items.reduce((sum, one) => sum + (one.cost ?? 0), 0);
  return html`<header class="head">
    <${Back} to=${list} label="Back to the list" className=${chosen ? "not-phone" : ""} />
    ${chosen && html`<${Back} to=${link(["conversations", id], filters)} label="Back to what was said" className="only-phone" />`}
    <div class="title"><h1 dir="auto"><span title=${head ? text(head.user) : ""}>${head ? personName(head.user) : "Conversation"}</span></h1>
      ${head && html`<p class="faint">${text(head.title) && html`<b>${text(head.title)}</b> · `}${head.active ? html`<span class="dot on"></span> going on` : "over"} · ${channelName(head.channel) ?? text(head.channel)} · <span title=${wholeTime(head.started)}>${day(head.started)} ${clock(head.started)}</span> · ${plural(items.length, "turn")}${head.previous || head.next ? " or more" : ""}${cost > 0 ? ` · cost ${money(cost)}` : ""}</p>`}</div>
    <${Walk} id=${id} filters=${filters} />
    ${handover.press && html`<button class=${`press small-press not-phone ${handover.mine ? "" : "strong"}`} onClick=${handover.press}>
      <${Drawing} name="hand" />${handover.mine ? "Give back" : "Take over"} <kbd aria-hidden="true">t</kbd></button>`}
    ${head && items.length > 0 && html`<span class="not-phone"><${KeepAsTest} of=${{ dialog_id: id }} operator=${operator} /></span>`}
    ${head && operator.writes && html`<button class="icon-press" aria-label="Delete this person" title="Delete this person…" onClick=${() => setDeleting(true)}><${Drawing} name="bin" /></button>`}
    ${deleting && html`<${Delete} user=${head.user} list=${list} close=${() => setDeleting(false)} />`}
  </header>`;
}

function Back({ to, label, className }) {
  const pressed = (event) => {
    event.preventDefault();
    up(to);
  };
  return html`<a class=${`icon-press ${className}`} href=${to} aria-label=${label} onClick=${pressed}><${Drawing} name="back" /></a>`;
}

function Delete({ user, list, close }) {
  const act = async () => {
    await send("DELETE", `/people/${encodeURIComponent(user)}`);
    forget();
    tell(`${text(user)} was deleted.`);
    go(list);
  };
  return html`<${Confirm} title=${`Delete ${text(user)}?`} press="Delete for good" wrong=${true} act=${act} close=${close}>
    <p>All conversations of this person, their profile, ratings, labels and records are removed. Nobody can bring them back.</p></${Confirm}>`;
}

// Where this conversation stands in the list that it was opened from; `j` and `k` walk along it.
function Walk({ id, filters }) {
  const found = useConversations(filters);
  const { kind = "", order, ...others } = filters;
  const counts = useFetched("/counts", asked(others), { every: 10 });
  const rows = listOf(found.value);
  const place = rows.findIndex((one) => one.dialog_id === id);
  const lost = place < 0 && found.hasMore && rows.length < 1000;
  useEffect(() => {
    if (lost || (place >= rows.length - 2 && place >= 0)) found.more();
  }, [lost, rows.length, place]);
  const walk = (by) => {
    const one = rows[place < 0 ? 0 : place + by];
    if (one) go(link(["conversations", one.dialog_id, ...(one.hit ? [one.hit] : [])], filters), { replace: true });
  };
  useKeys({ j: () => walk(1), k: () => walk(-1) });
  if (place < 0) return null;
  const name = kind ? KINDS.find(([one]) => one === kind)?.[1].toLowerCase() ?? "" : Object.keys(others).length ? "found" : "";
  const total = counts.value?.[kind || "all"];
  return html`<p class="walk faint"><button class="icon-press" aria-label="Previous conversation" title="Previous conversation (k)" disabled=${place === 0} onClick=${() => walk(-1)}><kbd>k</kbd></button>
    ${count(place + 1)}${total >= rows.length ? ` of ${count(total)}` : ""} ${name}
    <button class="icon-press" aria-label="Next conversation" title="Next conversation (j)" disabled=${place === rows.length - 1} onClick=${() => walk(1)}><kbd>j</kbd></button></p>`;
}

function Said({ operator, items, turn, id, filters, chosen, talk }) {
  const box = useRef(null);
  const last = useRef(null);
  useEffect(() => {
    const shown = box.current?.querySelector("[aria-current]");
    if (!shown || last.current === turn?.utt_id) return;
    last.current = turn?.utt_id;
    shown.scrollIntoView({ block: "nearest" });
    if (!chosen) box.current.scrollTop = box.current.scrollHeight;
  }, [turn?.utt_id, items.length]);
  const { previous = null, next = null } = talk.value ?? {};
  return html`<ol ref=${box}>
    ${previous !== null && html`<li class="end"><button class="link" onClick=${talk.earlier}>Earlier turns</button></li>`}
    ${items.map((one, n) => html`<${SaidTurn} key=${one.position ?? one.utt_id} operator=${operator} one=${one} before=${items[n - 1]}
      here=${one === turn} href=${link(["conversations", id, one.utt_id], filters)} replace=${Boolean(chosen)} />`)}
    ${next !== null && html`<li class="end"><button class="link" onClick=${talk.later}>Later turns</button></li>`}</ol>`;
}

function SaidTurn({ operator, one, before, here, href, replace }) {
  const spoke = namesOf(one.spoke);
  const nobody = listOf(one.flags).includes("none");
  const words = html`
    ${text(one.said) && html`<span class="own-words" dir="auto">${clipped(saidLine(one.said))}</span>`}
    ${text(one.reply) && html`<span class="their-words"><${Face} name=${spoke[0] ?? (nobody ? "" : text(one.by))} /><span dir="auto">${clipped(replyLine(one, operator))}</span></span>`}
    <span class="under"><b>${nobody ? "nobody" : spoke.join(", ") || "no reply"}</b>${Number.isFinite(one.seconds) && ` ${duration(one.seconds)}`}${one.cost > 0 && ` · ${money(one.cost)}`}
      <${Signs} flags=${one.flags} rating=${one.rating} stopped=${one.stopped} /> <${When} className="at" at=${one.at} /></span>`;
  return html`${day(one.at) !== day(before?.at) && html`<li class="day faint">${day(one.at)}</li>`}
    <li class=${`turn ${here ? "here" : ""}`}>${one.utt_id
      ? html`<a href=${href} data-replace=${replace || undefined} aria-current=${here ? "true" : undefined}>${words}</a>`
      : html`<div>${words}</div>`}</li>`;
}

const clipped = (value) => {
  const whole = text(value);
  return whole.length > 1000 ? `${whole.slice(0, 1000)}…` : whole;
};

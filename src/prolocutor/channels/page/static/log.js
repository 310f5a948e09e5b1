// What was said, from the oldest to the newest, in groups by whoever speaks.

import { openChoices } from "./conversation.js";
import { Face, Message, Own } from "./messages.js";
import { text } from "./safe.js";
import { Drawing, html, useEffect, useLayoutEffect, useMemo, useRef, useState } from "./ui.js";
import { ask } from "./visitor.js";

const TRIES = ["Hello!", "What can you do?"];
const NEAR = 80;
const MOST = 5;

export function Log({ state, name, say, earlier, again, why }) {
  const box = useRef(null);
  const pinned = useRef(true);
  const [below, setBelow] = useState(false);
  const open = openChoices(state);
  const groups = useMemo(() => grouped(state.items), [state.items]);
  const down = () => box.current?.scrollTo({ top: box.current.scrollHeight });
  const scrolled = () => {
    const { scrollHeight, scrollTop, clientHeight } = box.current;
    pinned.current = scrollHeight - scrollTop - clientHeight < NEAR;
    setBelow(!pinned.current);
  };
  const before = useRef({ first: null, height: 0 });
  useLayoutEffect(() => {
    const first = state.items[0]?.key;
    const { scrollHeight } = box.current;
    if (pinned.current) down();
    else if (first !== before.current.first) box.current.scrollTop += scrollHeight - before.current.height;
    before.current = { first, height: scrollHeight };
  }, [state]);
  useEffect(() => {
    const watching = new ResizeObserver(() => pinned.current && down());
    for (const one of [box.current, box.current.firstElementChild]) watching.observe(one);
    return () => watching.disconnect();
  }, []);
  return html`<div class="log-box" ref=${box} onScroll=${scrolled}>
    <div class="log" role="log" aria-live="polite" aria-label="Conversation" aria-busy=${!state.begun}>
      ${earlier && html`<button class="quiet earlier" onClick=${earlier}>Earlier messages</button>`}
      ${state.begun && !groups.length && !state.pending.length && html`<${Welcome} name=${name} say=${say} />`}
      ${groups.map((group) => html`<${Group} key=${group.key} group=${group} say=${say} open=${open} why=${why} />`)}
      ${state.pending.map((entry) => html`<${Pending} key=${entry.key} entry=${entry} again=${again} />`)}
      ${state.busy && (state.turn?.words ? html`<${Speaking} turn=${state.turn} />` : html`<${Looking} asked=${state.turn?.asked ?? []} />`)}
    </div>
    ${below && html`<button class="press below" onClick=${down}>Newest messages</button>`}
  </div>`;
}

function Welcome({ name, say }) {
  return html`<section class="welcome">
    <h2>${name}</h2>
    <p>One assistant out of many agents. Ask for anything; they find out who knows.</p>
    <div>${TRIES.map((one) => html`<button class="press"
      onClick=${() => say({ type: "command", text: one }, one)}>${one}</button>`)}</div>
  </section>`;
}

function Group({ group, say, open, why }) {
  if (group.own) {
    return html`<article class="group own" aria-label="You">
      ${group.items.map((item) => html`<${Own} key=${item.key} said=${item.frame.command} />`)}
    </article>`;
  }
  const shown = group.items.filter((item) => item.frame.type !== "choice" || open.has(item.key));
  if (!shown.length) return null;
  return html`<article class="group theirs" aria-label="Assistant">
    <${Face} name=${group.icon} />
    <div class="messages">
      ${shown.map((item) => html`<${Message} key=${item.key} frame=${item.frame} say=${say} open=${open.has(item.key)} />`)}
      ${group.uttId && html`<${Actions} uttId=${group.uttId} why=${why} />`}
    </div>
  </article>`;
}

function Actions({ uttId, why }) {
  const [rated, setRated] = useState(0);
  const rate = async (rating) => {
    const before = rated;
    setRated(rating);
    const body = JSON.stringify({ utt_id: uttId, rating });
    const headers = { "Content-Type": "application/json" };
    await ask("/rating/reply", { method: "POST", body, headers }).catch(() => setRated(before));
  };
  const thumb = (rating, name, label) => html`<button class="small" aria-label=${label}
    aria-pressed=${rated === rating} title=${label} onClick=${() => rate(rating)}><${Drawing} name=${name} /></button>`;
  return html`<div class="actions">
    ${thumb(1, "up", "A good answer")}${thumb(-1, "down", "A bad answer")}
    <button class="small" aria-label="How this answer came about" title="How this answer came about"
      onClick=${() => why(uttId)}><${Drawing} name="why" /></button>
  </div>`;
}

// Who is asked while no words are there.
function Looking({ asked }) {
  const names = asked.slice(0, MOST).map(text).join(", ");
  const more = asked.length > MOST ? ` and ${asked.length - MOST} more` : "";
  return html`<p class="busy" role="status" aria-label="The assistant is looking for an answer">
    <i></i><i></i><i></i>${names && html`<span class="asking">asking ${names}${more} …</span>`}</p>`;
}

// Words that are provisional: what is said in the end comes as messages, in their place.
function Speaking({ turn }) {
  return html`<article class="group theirs provisional" aria-label="Assistant, still speaking" aria-live="off" aria-busy="true">
    <${Face} name=${turn.skill} />
    <div class="messages"><p class="words">${text(turn.words)}</p></div>
  </article>`;
}

function Pending({ entry, again }) {
  const failed = entry.state === "failed";
  return html`<article class="group own pending" aria-label=${failed ? "You, not sent" : "You, being sent"}>
    <${Own} said=${entry.shown} />
    ${failed && html`<p class="wrong">This did not arrive.
      <button class="quiet" onClick=${() => again(entry)}>Send it again</button></p>`}
  </article>`;
}

function grouped(items) {
  const groups = [];
  for (const item of items) {
    const { type, icon, utt_id: said } = item.frame;
    const own = type === "command";
    const uttId = !own && typeof said === "string" ? said : null;
    const last = groups.at(-1);
    const goesOn = !own && last && !last.own && last.uttId === uttId && last.icon === (icon ?? null);
    if (goesOn) last.items.push(item);
    else groups.push({ key: item.key, own, uttId, icon: icon ?? null, items: [item] });
  }
  return groups;
}

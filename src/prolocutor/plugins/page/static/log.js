// What was said, from the oldest to the newest, in groups by whoever speaks.

import { openChoices } from "./conversation.js";
import { Face } from "./faces.js";
import { grouped } from "./groups.js";
import { Markdown } from "./markdown.js";
import { Own } from "./messages.js";
import { useInfo } from "./page_info.js";
import { text } from "./safe.js";
import { dayName, zoneName } from "./times.js";
import { OwnGroup, TheirGroup } from "./turns.js";
import { html, useEffect, useLayoutEffect, useMemo, useRef, useState } from "./ui.js";
import { namesOldConversation } from "./visitor.js";

const TRIES = ["Hello!", "What can you do?"];
const NEAR = 80;
const MOST = 5;
const LIT = 4000;

export function Log({ state, name, say, begin, earlier, again, why, target }) {
  const box = useRef(null);
  const pinned = useRef(true);
  const [below, setBelow] = useState(false);
  const [lit, setLit] = useState(null);
  const open = openChoices(state);
  const groups = useMemo(() => grouped(state.items), [state.items]);
  const down = () => box.current?.scrollTo({ top: box.current.scrollHeight });
  const top = useRef(0);
  // What grows by itself, as a picture that has come does, moves nobody away from the end.
  const scrolled = () => {
    const { scrollHeight, scrollTop, clientHeight } = box.current;
    const isNear = scrollHeight - scrollTop - clientHeight < NEAR;
    pinned.current = isNear || (pinned.current && scrollTop >= top.current);
    top.current = scrollTop;
    setBelow(!pinned.current);
  };
  const before = useRef({ first: null, height: 0, said: 0 });
  useLayoutEffect(() => {
    const first = state.items[0]?.key;
    const said = state.pending.length;
    const { scrollHeight } = box.current;
    if (said > before.current.said) pinned.current = true; // own words are always in sight
    if (pinned.current) down();
    else if (first !== before.current.first) box.current.scrollTop += scrollHeight - before.current.height;
    before.current = { first, height: scrollHeight, said };
  }, [state]);
  useEffect(() => {
    const watching = new ResizeObserver(() => pinned.current && down());
    for (const one of [box.current, box.current.firstElementChild]) watching.observe(one);
    return () => watching.disconnect();
  }, []);
  const key = target === null ? null : `m${target.message}`;
  const found = target !== null && state.caughtUp && state.items.some((item) => item.key === key);
  useEffect(() => {
    if (!found) return undefined;
    setLit(key);
    const timer = setTimeout(() => setLit(null), LIT);
    return () => clearTimeout(timer);
  }, [found, target]);
  useLayoutEffect(() => {
    const element = lit && box.current.querySelector(`[data-at~="${lit}"]`);
    if (!element) return;
    pinned.current = false;
    element.scrollIntoView({ block: "center" });
    element.focus({ preventScroll: true });
  }, [lit]);
  const parts = { say, open, why, lit };
  return html`<div class="log-box" ref=${box} onScroll=${scrolled}>
    <div class="log" role="log" aria-live="polite" aria-label="Conversation" aria-busy=${!state.begun}>
      ${earlier && html`<button class="quiet earlier" onClick=${earlier}>Earlier messages</button>`}
      ${state.begun && !groups.length && !state.pending.length && (namesOldConversation() ? html`<${NotHere} begin=${begin} />` : html`<${Welcome} name=${name} say=${say} />`)}
      ${groups.map((group) => html`<${Part} key=${group.key} group=${group} ...${parts} />`)}
      ${isSilent(state) && html`<p class="silence faint">${silence(state.items)}</p>`}
      ${state.pending.map((entry) => html`<${Pending} key=${entry.key} entry=${entry} again=${again} />`)}
      ${state.busy && (state.turn?.words ? html`<${Speaking} turn=${state.turn} />` : html`<${Looking} asked=${state.turn?.asked ?? []} />`)}
    </div>
    ${below && html`<button class="press below" onClick=${down}>Newest messages</button>`}
  </div>`;
}

// Tell whether the last turn is over without a word, as after "stop".
function isSilent({ items, busy, pending, caughtUp }) {
  return caughtUp && !busy && !pending.length && items.at(-1)?.frame.type === "command";
}

// Say why there are no words: a person may have the conversation.
function silence(items) {
  const state = items.findLast((item) => item.frame.handover)?.frame.handover.state;
  return state === "taken" || state === "said" ? "A person reads this and is going to answer." : "Heard. There is nothing to say to it.";
}

function Part({ group, ...parts }) {
  if (group.day) return html`<${Day} time=${group.day} />`;
  if (group.fold) return html`<${Fold} group=${group} ...${parts} />`;
  return group.own ? html`<${OwnGroup} group=${group} ...${parts} />` : html`<${TheirGroup} group=${group} ...${parts} />`;
}

function Day({ time }) {
  return html`<p class="day"><span>${dayName(time)}</span> <small>${zoneName(time)}</small></p>`;
}

// What was said before it was said anew: put away, and there to be read.
function Fold({ group, lit, ...parts }) {
  const [shown, setShown] = useState(false);
  const holds = (one) => one.items?.some((item) => item.key === lit) || one.fold?.some(holds);
  useEffect(() => {
    if (lit && group.fold.some(holds)) setShown(true);
  }, [lit]);
  const count = `${group.count} ${group.count === 1 ? "message" : "messages"}`;
  return html`<div class="fold" role="group" aria-label="An earlier version">
    <button class="quiet" aria-expanded=${shown} onClick=${() => setShown(!shown)}>
      ${shown ? "Put the earlier version away" : `An earlier version, ${count}`}</button>
    ${shown && group.fold.map((one) => html`<${Part} key=${one.key} group=${one} lit=${lit} ...${parts} />`)}
  </div>`;
}

// Where an address leads to a conversation in which nothing was said.
function NotHere({ begin }) {
  return html`<section class="welcome" role="alert">
    <h2>This conversation is not here</h2>
    <p>It was deleted, or its address is wrong or another person's.</p>
    <div><button class="press strong" onClick=${begin}>New conversation</button></div>
  </section>`;
}

function Welcome({ name, say }) {
  const { starters } = useInfo();
  const tries = starters.length ? starters : TRIES;
  return html`<section class="welcome">
    <h2>${name}</h2>
    <p>One assistant out of many agents. Ask for anything; they find out who knows.</p>
    <div>${tries.map((one) => html`<button class="press"
      onClick=${() => say({ type: "command", text: text(one) }, one)}>${text(one)}</button>`)}</div>
  </section>`;
}

// Who is asked while no words are there, and for how long.
function Looking({ asked }) {
  const [seconds, setSeconds] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => setSeconds((before) => before + 1), 1000);
    return () => clearInterval(timer);
  }, []);
  const names = asked.slice(0, MOST).map(text).join(", ");
  const more = asked.length > MOST ? ` and ${asked.length - MOST} more` : "";
  return html`<p class="busy" role="status" aria-label="The assistant is looking for an answer">
    <i></i><i></i><i></i>${names && html`<span class="asking">asking ${names}${more} …</span>`}
    ${seconds > 1 && html`<small class="asking" aria-hidden="true">${seconds} s</small>`}</p>`;
}

// Words that are provisional: what is said in the end comes as messages, in their place.
function Speaking({ turn }) {
  const { agents } = useInfo();
  const drawn = agents.find((one) => one?.name === turn.skill)?.markdown;
  return html`<article class="group theirs provisional" aria-label="Assistant, still speaking" aria-live="off" aria-busy="true">
    <${Face} name=${turn.skill} />
    <div class="messages">${drawn
      ? html`<div class="words drawn"><${Markdown} source=${turn.words} /></div>`
      : html`<p class="words">${text(turn.words)}</p>`}</div>
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

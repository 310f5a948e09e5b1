// What all pages are made of: the states of a list, notices, dialogs, signs, faces.

import { exactClock, plural } from "./figures.js";
import { plainWords } from "./markdown.js";
import { text, uploadKind } from "./safe.js";
import { Drawing, html, useEffect, useLayoutEffect, useRef, useState } from "./ui.js";

// The states of what is fetched (`of`, from fetching.js): waiting, not come, old, empty, none fits,
// and what is there. `none` is for an empty list with filters (`filtered`), `empty` without.
export function States({ of, what, rows = 10, filtered = false, empty = null, none = null, children }) {
  const { value, error } = of;
  if (value === null || value === undefined) {
    return error ? html`<${NotCome} of=${of} what=${what} />` : html`<${Waiting} rows=${rows} />`;
  }
  const bare = Array.isArray(value) && !value.length;
  const shown = bare ? (filtered ? none : empty) ?? empty : children;
  return html`${error && html`<${Stale} of=${of} />`}<div class=${`state-box ${error ? "old" : ""}`}>${shown}</div>`;
}

// Grey rows, after a moment: what comes at once should not flicker.
export function Waiting({ rows = 10 }) {
  const [late, setLate] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setLate(true), 150);
    return () => clearTimeout(timer);
  }, []);
  return html`<div class="waiting" role="status"><span class="hidden">Loading</span>
    ${late && Array.from({ length: rows }, (_, n) => html`<p aria-hidden="true"><i class=${`w${n % 4}`}></i><i class="w4"></i><i class=${`w${(n + 2) % 4}`}></i></p>`)}</div>`;
}

// What stands where a list is empty: a heading, and what to do next.
export function Nothing({ title, children }) {
  return html`<section class="nothing"><h2>${title}</h2>${children}</section>`;
}

// What did not come, and when it is tried again.
export function NotCome({ of, what = "This page" }) {
  const { error, tries, again } = of;
  return html`<section class="nothing" role="alert">
    <h2>${what} did not come</h2>
    <p class="wrong">${error.status ? `${error.status} ` : ""}${error.code && error.status ? html`<code>${text(error.code)}</code>: ` : ""}${text(error.message)}</p>
    ${error.passes && html`<p class="faint">Tried ${plural(tries, "time")}; <${NextTry} of=${of} />.</p>`}
    <button class="press" onClick=${again}>Try now</button>
  </section>`;
}

// A line above what is there but old.
export function Stale({ of }) {
  return html`<p class="stale" role="status"><span><b>Not up to date since ${exactClock(of.at / 1000)}.</b>
    ${" "}${text(of.error.message)} <span class="faint">(<${NextTry} of=${of} />)</span></span>
    <button class="press small-press" onClick=${of.again}>Try now</button></p>`;
}

function NextTry({ of }) {
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    setNow(Date.now());
    const timer = setInterval(() => setNow(Date.now()), 1000);
    return () => clearInterval(timer);
  }, [of.next]);
  if (!of.next) return "it is not tried again by itself";
  return `the next try is ${of.next > now ? `in ${Math.ceil((of.next - now) / 1000)} s` : "now"}`;
}

// A line that tells of new rows without moving those that are read.
export function Fresh({ list, what = "new" }) {
  return list.fresh > 0 && html`<button class="fresh" onClick=${list.show}>${list.fresh}${list.allFresh ? " or more" : ""} ${what}</button>`;
}

// The end of a list by pages: fetches more when it comes into view.
export function More({ list, children }) {
  const end = useRef(null);
  useEffect(() => {
    if (!list.hasMore || !end.current) return undefined;
    const watching = new IntersectionObserver((seen) => seen.some((one) => one.isIntersecting) && list.more(), { rootMargin: "600px" });
    watching.observe(end.current);
    return () => watching.disconnect();
  }, [list.hasMore, list.value?.length]);
  return html`<p class="end faint" ref=${end}>${list.moreError
    ? html`<span class="wrong">The next rows did not come: ${text(list.moreError.message)}</span> <button class="link" onClick=${list.more}>Try again</button>`
    : list.hasMore ? html`${children} · <button class="link" onClick=${list.more} disabled=${list.busy}>${list.busy ? "more come" : "More"}</button>` : children}</p>`;
}

// A dialog: holds the focus, closed by Esc and by pressing beside it; gives the focus back.
export function Dialog({ title, close, wide = false, children }) {
  const box = useRef(null);
  useLayoutEffect(() => {
    const before = document.activeElement;
    box.current.showModal();
    return () => before?.focus?.();
  }, []);
  const beside = (event) => event.target === box.current && close();
  const pressed = (event) => {
    if (event.key !== "Tab") return;
    const stops = [...box.current.querySelectorAll("a[href], button:not(:disabled), input, select, textarea, summary")];
    const end = event.shiftKey ? stops[0] : stops.at(-1);
    if (document.activeElement !== end) return;
    event.preventDefault();
    (event.shiftKey ? stops.at(-1) : stops[0]).focus();
  };
  const cancelled = (event) => {
    event.preventDefault();
    close();
  };
  return html`<dialog class=${`sheet ${wide ? "wide" : ""}`} ref=${box} aria-label=${title} onClick=${beside} onKeyDown=${pressed} onCancel=${cancelled}>
    <div class="sheet-box"><header><h2>${title}</h2>
      <button class="icon-press" aria-label="Close" onClick=${close}><${Drawing} name="close" /></button></header>
      ${children}</div></dialog>`;
}

// Ask once before something is done: `act` is awaited, what it throws is shown here. Not `ready`: something
// has to be chosen first.
export function Confirm({ title, press, act, close, wrong = false, ready = true, children }) {
  const [state, setState] = useState({ busy: false, error: "" });
  const done = async () => {
    setState({ busy: true, error: "" });
    try {
      await act();
      close();
    } catch (error) {
      setState({ busy: false, error: error.message });
    }
  };
  return html`<${Dialog} title=${title} close=${close}>${children}
    ${state.error && html`<p class="wrong" role="alert">${text(state.error)}</p>`}
    <footer><button class="press" onClick=${close}>Cancel</button>
      <button class=${`press ${wrong ? "danger" : "strong"}`} disabled=${state.busy || !ready} onClick=${done}>${press}</button></footer>
  </${Dialog}>`;
}

const notices = { list: [], heard: new Set(), last: 0 };

// Tell the operator something for some seconds; `wrong` for what was refused.
export function tell(words, { wrong = false } = {}) {
  const one = { id: (notices.last += 1), words: text(words), wrong };
  const put = (list) => {
    notices.list = list;
    notices.heard.forEach((changed) => changed(list));
  };
  put([...notices.list.slice(-3), one]);
  setTimeout(() => put(notices.list.filter((other) => other.id !== one.id)), wrong ? 12_000 : 5_000);
}

// Show a change at once and send it; where it is refused, take it back and tell why.
export async function attempt(show, sending, takeBack) {
  show?.();
  try {
    return await sending();
  } catch (error) {
    takeBack?.(error);
    tell(error.message, { wrong: true });
    return null;
  }
}

export function Notices() {
  const [list, setList] = useState(notices.list);
  useEffect(() => {
    notices.heard.add(setList);
    return () => notices.heard.delete(setList);
  }, []);
  return html`<div class="notices" role="status">${list.map((one) => html`<p key=${one.id} class=${one.wrong ? "wrong" : ""}>${one.words}</p>`)}</div>`;
}

// The signs of a turn or a conversation, by its `flags`.
export function Signs({ flags, failed = 0, rating = null, by = "", stopped = false }) {
  const has = new Set(Array.isArray(flags) ? flags : []);
  return html`${has.has("waits") && html`<span class="sign call">wants a person</span>`}
    ${has.has("taken") && html`<span class="sign">${by ? `${text(by)} answers` : "taken over"}</span>`}
    ${(failed > 0 || has.has("failed")) && html`<span class="sign bad">${failed > 0 ? plural(failed, "failure") : "failed"}</span>`}
    ${has.has("none") && html`<span class="sign mild">no answer</span>`}
    ${stopped === true && html`<span class="sign mild">stopped</span>`}
    ${has.has("slow") && html`<span class="sign mild">slow</span>`}
    ${(has.has("down") || rating < 0) && html`<span class="thumb bad-thumb" title="thumbs down"><${Drawing} name="down" /><span class="hidden">thumbs down</span></span>`}
    ${(has.has("up") || rating > 0) && html`<span class="thumb" title="thumbs up"><${Drawing} name="up" /><span class="hidden">thumbs up</span></span>`}`;
}

// A menu of one choice that stands in the address: `options` are [value, words].
export function Choice({ label, value, options, choose }) {
  return html`<select aria-label=${label} value=${value} onChange=${(event) => choose(event.target.value)}>
    ${options.map(([one, words]) => html`<option value=${one} selected=${one === value}>${words}</option>`)}</select>`;
}

// Give a list of what may be none.
export const listOf = (value) => (Array.isArray(value) ? value : []);

// Give names that come as a list or as one text.
export const namesOf = (value) => (Array.isArray(value) ? value : [value]).map(text).filter(Boolean);

// Tell whether one of these agents writes Markdown.
export const writesMarkdown = (names, operator) => namesOf(names).some((name) => listOf(operator.markdown).includes(name));

// Give a reply as one line: of an agent that writes Markdown, without its marks.
export function replyLine(one, operator) {
  return writesMarkdown(one.spoke, operator) ? plainWords(one.reply) : text(one.reply);
}


// The address of an upload in a text, also a cut one, as a part of its own where the text is split by it.
export const UPLOAD = /((?:https?:\/\/[^\s/]+)?\/uploads\/[0-9a-f]*(?:\.\w+|…$))/;
export const uploadName = (address) => `[a ${uploadKind(address)}]`;

// Give what a person said as one line, with the name of an upload in place of its address.
export const saidLine = (value) => text(value).split(UPLOAD).map((part, n) => (n % 2 ? uploadName(part) : part)).join("");

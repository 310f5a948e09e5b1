// The list of one's conversations, and search in them, beside the one that is shown.

import { Search } from "./search.js";
import { periodName } from "./times.js";
import { Drawing, html, useEffect, useLayoutEffect, useRef, useState } from "./ui.js";
import { ask, currentConversation, pageAddress } from "./visitor.js";

const JSON_BODY = { "Content-Type": "application/json" };

// Hold the list; `renew()` reads its beginning again, `more()` reads on.
export function useTalks() {
  const [list, setList] = useState({ items: [], next: null, wrong: "" });
  const read = (cursor) =>
    ask("/api/conversations", { query: cursor ? { cursor } : {} }).then(
      (found) => setList((before) => joined(cursor ? before.items : [], found)),
      (error) => setList((before) => ({ ...before, wrong: error.message })),
    );
  const change = async (id, method, body) => {
    const options = body ? { method, body: JSON.stringify(body), headers: JSON_BODY } : { method };
    await ask(`/api/conversations/${encodeURIComponent(id)}`, options);
    await read(null);
  };
  return {
    ...list,
    renew: () => read(null),
    more: () => read(list.next),
    rename: (id, title) => change(id, "PATCH", { title: title || null }),
    remove: (id) => change(id, "DELETE"),
  };
}

function joined(before, found) {
  const items = Array.isArray(found?.items) ? found.items : [];
  const known = new Set(before.map((one) => one.id));
  return { items: [...before, ...items.filter((one) => !known.has(one.id))], next: found?.next ?? null, wrong: "" };
}

export function Talks({ talks, turnTo, begin, goTo, close }) {
  const [query, setQuery] = useState("");
  const periods = Map.groupBy ? Map.groupBy(talks.items, (one) => periodName(1000 * one.at)) : grouped(talks.items);
  const search = (event) => setQuery(event.target.value);
  const pressed = (event) => event.key === "Escape" && query && (event.stopPropagation(), setQuery(""));
  return html`<nav class="talks" id="talks" aria-label="Conversations">
    <div class="talks-top">
      <button class="press" onClick=${begin}><${Drawing} name="plus" />New conversation</button>
      <button class="round narrow" aria-label="Close the conversations" onClick=${close}><${Drawing} name="close" /></button>
    </div>
    <label class="find"><${Drawing} name="search" />
      <input type="search" placeholder="Search what was said" aria-label="Search what was said" maxlength="200"
        value=${query} onInput=${search} onKeyDown=${pressed} /></label>
    ${query.trim()
      ? html`<${Search} words=${query.trim()} titles=${talks.items} goTo=${goTo} />`
      : html`<div class="talk-list">
          ${talks.wrong && html`<p class="wrong" role="alert">${talks.wrong}</p>`}
          ${!talks.items.length && !talks.wrong && html`<p class="faint">Your conversations will be listed here.</p>`}
          ${[...periods].map(([period, items]) => html`<h2>${period}</h2><ul>
            ${items.map((one) => html`<${Talk} key=${one.id} talk=${one} talks=${talks} turnTo=${turnTo} begin=${begin} />`)}
          </ul>`)}
          ${talks.next && html`<button class="quiet" onClick=${talks.more}>Older conversations</button>`}
        </div>`}
  </nav>`;
}

function Talk({ talk, talks, turnTo, begin }) {
  const [doing, setDoing] = useState(null);
  const [wrong, setWrong] = useState("");
  const opener = useRef(null);
  const title = talk.title || "Without words";
  const here = talk.id === currentConversation();
  const done = () => {
    setDoing(null);
    setWrong("");
    opener.current?.focus();
  };
  const follow = (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
    event.preventDefault();
    turnTo(talk.id);
  };
  const rename = (words) => talks.rename(talk.id, words).then(done, (error) => setWrong(error.message));
  const remove = () =>
    talks.remove(talk.id).then(() => (here ? begin() : done()), (error) => setWrong(error.message));
  if (doing === "rename") return html`<li><${Rename} title=${title} save=${rename} leave=${done} wrong=${wrong} /></li>`;
  return html`<li class="talk">
    <a href=${pageAddress(talk.id)} aria-current=${here ? "page" : undefined} title=${title} onClick=${follow}>${title}</a>
    <span class="talk-acts">
      <button class="small" aria-label=${`Rename ${title}`} title="Rename" onClick=${() => setDoing("rename")}><${Drawing} name="pen" /></button>
      <button class="small" ref=${opener} aria-label=${`Delete ${title}`} title="Delete" onClick=${() => setDoing("delete")}><${Drawing} name="bin" /></button>
    </span>
    ${doing === "delete" && html`<${Question} title=${title} yes=${remove} no=${done} wrong=${wrong} />`}
  </li>`;
}

function Rename({ title, save, leave, wrong }) {
  const field = useRef(null);
  useLayoutEffect(() => field.current.select(), []);
  const submit = (event) => {
    event.preventDefault();
    save(field.current.value.trim());
  };
  const pressed = (event) => event.key === "Escape" && (event.stopPropagation(), leave());
  return html`<form class="rename" onSubmit=${submit} onKeyDown=${pressed}>
    <input ref=${field} type="text" defaultValue=${title} maxlength="80" aria-label="Title of the conversation" />
    <button class="small" aria-label="Keep the title"><${Drawing} name="check" /></button>
    <button class="small" type="button" aria-label="Leave the title" onClick=${leave}><${Drawing} name="close" /></button>
    ${wrong && html`<p class="wrong" role="alert">${wrong}</p>`}
  </form>`;
}

// Ask before something is gone for good.
function Question({ title, yes, no, wrong }) {
  const box = useRef(null);
  useEffect(() => box.current.showModal(), []);
  const closing = (event) => {
    event.preventDefault();
    no();
  };
  const pressed = (event) => event.key === "Escape" && event.stopPropagation();
  return html`<dialog class="question" ref=${box} aria-label="Delete this conversation?" onCancel=${closing} onKeyDown=${pressed}>
    <p>Delete <strong>${title}</strong>? All that was said in it is gone then.</p>
    ${wrong && html`<p class="wrong" role="alert">${wrong}</p>`}
    <div class="pair"><button class="press" onClick=${no}>Keep it</button>
      <button class="press danger" onClick=${yes}>Delete</button></div>
  </dialog>`;
}

function grouped(items) {
  const found = new Map();
  for (const one of items) {
    const period = periodName(1000 * one.at);
    found.set(period, [...(found.get(period) ?? []), one]);
  }
  return found;
}

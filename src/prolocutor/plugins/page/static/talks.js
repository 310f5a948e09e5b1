// The list of one's conversations, and search in them, beside the one that is shown.

import { Later } from "./later.js";
import { periodName, timeName } from "./times.js";
import { Drawing, html, useEffect, useLayoutEffect, useRef, useState } from "./ui.js";
import { ask, currentConversation, pageAddress } from "./visitor.js";

const loadSearch = () => import("./search.js");
const loadMenu = () => import("./talk_menu.js");
const JSON_BODY = { "Content-Type": "application/json" };

// Hold the list; `renew()` reads its beginning again, `more()` reads on.
export function useTalks() {
  const [list, setList] = useState({ items: [], pinned: [], tags: [], archived: 0, next: null, wrong: "" });
  const [only, setOnly] = useState("");
  const asked = useRef(0);
  const read = (cursor, which = only) => {
    const mine = (asked.current += 1); // of two answers that overtake each other the later question's counts
    const put = (change) => mine === asked.current && setList(change);
    return ask("/api/conversations", { query: { ...(cursor ? { cursor } : {}), ...queryOf(which) } }).then(
      (found) => put((before) => joined(cursor ? before : null, found)),
      (error) => put((before) => ({ ...before, wrong: error.message, away: !error.status })),
    );
  };
  const change = async (id, method, body) => {
    const options = body ? { method, body: JSON.stringify(body), headers: JSON_BODY } : { method };
    await ask(`/api/conversations/${encodeURIComponent(id)}`, options);
    await read(null);
  };
  return {
    ...list,
    only,
    show: (which) => {
      setOnly(which);
      read(null, which);
    },
    renew: () => read(null),
    more: () => read(list.next),
    change: (id, changes) => change(id, "PATCH", changes),
    rename: (id, title) => change(id, "PATCH", { title: title || null }),
    remove: (id) => change(id, "DELETE"),
  };
}

function joined(before, found) {
  const items = listOf(found?.items);
  const old = before?.items ?? [];
  const known = new Set(old.map((one) => one.id));
  const { pinned = listOf(found?.pinned), tags = listOf(found?.tags), archived = found?.archived ?? 0 } = before ?? {};
  return { items: [...old, ...items.filter((one) => !known.has(one.id))], pinned, tags, archived, next: found?.next ?? null, wrong: "" };
}

const listOf = (value) => (Array.isArray(value) ? value : []);

// Give what is asked for by a choice of the list: "" for all, "archived", or "tag:NAME".
const queryOf = (which) => (which.startsWith("tag:") ? { tag: which.slice(4) } : which ? { kind: which } : {});

export function Talks({ talks, turnTo, begin, goTo, close, links }) {
  const [query, setQuery] = useState("");
  const pinned = talks.only ? [] : talks.pinned;
  const rest = talks.items.filter((one) => !pinned.some((other) => other.id === one.id));
  const times = timesOfEqualTitles([...pinned, ...rest]);
  const periods = new Map([...(pinned.length ? [["Pinned", pinned]] : []), ...grouped(rest)]);
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
    ${(talks.tags.length > 0 || talks.archived > 0 || talks.only) && html`<select class="which" aria-label="Which conversations" onChange=${(event) => talks.show(event.target.value)}>
      <option value="" selected=${!talks.only}>All conversations</option>
      ${talks.tags.map((tag) => html`<option value=${`tag:${tag}`} selected=${talks.only === `tag:${tag}`}>${tag}</option>`)}
      <option value="archived" selected=${talks.only === "archived"}>Archived (${talks.archived})</option></select>`}
    ${query.trim()
      ? html`<${Later} load=${loadSearch} back=${false} words=${query.trim()} titles=${talks.items} goTo=${goTo} />`
      : html`<div class="talk-list">
          ${talks.wrong && (talks.away
            ? html`<p class="faint" role="status">${talks.wrong}${periods.size > 0 && " The list is as it was."}</p>`
            : html`<p class="wrong" role="alert">${talks.wrong}</p>`)}
          ${!periods.size && !talks.wrong && html`<p class="faint">${talks.only ? "There are none." : "Your conversations will be listed here."}</p>`}
          ${[...periods].map(([period, items]) => html`<h2>${period}</h2><ul>
            ${items.map((one) => html`<${Talk} key=${one.id} talk=${one} when=${times.get(one.id)} talks=${talks} turnTo=${turnTo} begin=${begin} />`)}
          </ul>`)}
          ${talks.next && html`<button class="quiet" onClick=${talks.more}>Older conversations</button>`}
        </div>`}
    <div class="narrow">${links}</div>
  </nav>`;
}

// Give the times that tell conversations of one title apart, by id: with seconds where minutes do not.
function timesOfEqualTitles(items) {
  const nameOf = (one, exact) => timeName(1000 * one.at, exact);
  const isShared = (one, same) => items.some((other) => other.id !== one.id && other.title === one.title && same(other));
  const alike = items.filter((one) => isShared(one, () => true));
  return new Map(alike.map((one) => [one.id, nameOf(one, isShared(one, (other) => nameOf(other) === nameOf(one)))]));
}

function Talk({ talk, when, talks, turnTo, begin }) {
  const [doing, setDoing] = useState(null);
  const [wrong, setWrong] = useState("");
  const opener = useRef(null);
  const words = talk.title || "Without words";
  const title = when ? `${words}, ${when}` : words;
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
  if (doing === "rename") return html`<li><${Rename} title=${words} save=${rename} leave=${done} wrong=${wrong} /></li>`;
  return html`<li class="talk">
    <a href=${pageAddress(talk.id)} aria-current=${here ? "page" : undefined} title=${title} onClick=${follow}>${talk.pinned && html`<${Drawing} name="pin" /><span class="hidden">Pinned: </span>`}${words}${when && html`<small class="when">${when}</small>`}
      ${listOf(talk.tags).length > 0 && html`<span class="tags">${talk.tags.map((tag) => html`<small class="tag">${tag}</small> `)}</span>`}</a>
    <span class="talk-acts">
      <button class="small" aria-label=${`More for ${title}`} title="Pin, tag, archive, export, share" aria-haspopup="dialog" onClick=${() => setDoing("more")}><${Drawing} name="more" /></button>
      <button class="small" aria-label=${`Rename ${title}`} title="Rename" onClick=${() => setDoing("rename")}><${Drawing} name="pen" /></button>
      <button class="small" ref=${opener} aria-label=${`Delete ${title}`} title="Delete" onClick=${() => setDoing("delete")}><${Drawing} name="bin" /></button>
    </span>
    ${doing === "more" && html`<${Later} load=${loadMenu} talk=${talk} title=${title} talks=${talks} close=${() => setDoing(null)} rename=${() => setDoing("rename")} remove=${() => setDoing("delete")} />`}
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

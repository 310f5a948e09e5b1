// What was found of what one said and was told.

import { Face } from "./faces.js";
import { plainWords } from "./markdown.js";
import { useInfo } from "./page_info.js";
import { text } from "./safe.js";
import { timeName, wholeTime } from "./times.js";
import { html, useEffect, useState } from "./ui.js";
import { ask } from "./visitor.js";

const PAUSE = 250;
const LIMIT = 20;
const ENOUGH = 8;
const PAGES = 50;

export default function Search({ words, titles, goTo }) {
  const [found, setFound] = useState({ items: [], next: null, busy: true, wrong: "" });
  useEffect(() => {
    let wanted = true;
    setFound((before) => ({ ...before, busy: true }));
    const look = () => lookFor(words, null, [], () => wanted).then((one) => wanted && setFound(one));
    const timer = setTimeout(look, PAUSE);
    return () => {
      wanted = false;
      clearTimeout(timer);
    };
  }, [words]);
  const more = () => {
    setFound({ ...found, busy: true });
    lookFor(words, found.next, found.items, () => true).then(setFound);
  };
  return html`<div class="talk-list" aria-busy=${found.busy}>
    <p class="faint" role="status">${tell(found)}</p>
    ${found.wrong && html`<p class="wrong" role="alert">${found.wrong}</p>`}
    <ul>${found.items.map((hit) => html`<${Hit} key=${`${hit.conversation} ${hit.message}`} hit=${hit} words=${words}
      title=${titles.find((one) => one.id === hit.conversation)?.title} goTo=${goTo} />`)}</ul>
    ${found.next && !found.busy && html`<button class="quiet" onClick=${more}>Search further back</button>`}
  </div>`;
}

function tell({ items, busy, next }) {
  if (busy) return "Searching…";
  return items.length || next ? `${items.length}${next ? " or more" : ""} found` : "Nothing was found.";
}

// Look until there is enough to show, or nothing is left: one answer may be empty and go on.
async function lookFor(words, cursor, items, goesOn) {
  let next = cursor;
  const found = [...items];
  try {
    for (let page = 0; page < PAGES && goesOn(); page += 1) {
      const query = { words, limit: LIMIT, ...(next ? { cursor: next } : {}) };
      const one = await ask("/api/search", { query });
      found.push(...one.items);
      next = one.next;
      if (!next || found.length - items.length >= ENOUGH) break;
    }
    return { items: found, next, busy: false, wrong: "" };
  } catch (error) {
    return { items: found, next: null, busy: false, wrong: error.message };
  }
}

function Hit({ hit, words, title, goTo }) {
  const isDrawn = useInfo().agents.some((one) => one.name === hit.icon && one.markdown);
  const said = isDrawn ? plainWords(hit.text) : text(hit.text);
  const time = Number.isFinite(hit.at) ? 1000 * hit.at : null;
  return html`<li><button class="hit" onClick=${() => goTo(hit.conversation, hit.message)}>
    <span class="hit-top">${hit.own ? html`<strong>You</strong>` : html`<${Face} name=${hit.icon} /><strong>${text(hit.icon) || "Assistant"}</strong>`}
      ${time && html`<time dateTime=${new Date(time).toISOString()} title=${wholeTime(time)}>${timeName(time)}</time>`}</span>
    <span>${lit(said, words)}</span>
    ${title && html`<small>${title}</small>`}
  </button></li>`;
}

// Mark the words that were looked for.
function lit(said, words) {
  const wanted = words.split(/\s+/).filter(Boolean).map((one) => one.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  return said.split(new RegExp(`(${wanted.join("|")})`, "giu")).map((part, at) => (at % 2 ? html`<mark>${part}</mark>` : part));
}

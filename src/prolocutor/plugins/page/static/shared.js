// A conversation that somebody shared, to be read: the words without anything to press.

import { Face } from "./faces.js";
import { grouped } from "./groups.js";
import { Message, Own } from "./messages.js";
import { speakers, text } from "./safe.js";
import { dayName, shortTime, wholeTime } from "./times.js";
import { html, render, useEffect, useState } from "./ui.js";

const TOKEN = location.pathname.split("/").pop();
const MOST_PAGES = 200;

function Shared() {
  const [state, setState] = useState({ items: [] });
  useEffect(() => {
    read(setState).catch((error) => setState((before) => ({ ...before, wrong: error.message })));
  }, []);
  const { title, at, items, wrong } = state;
  return html`<div class="app"><main>
    <header class="top"><h1>${document.title}${title && html`<small> ${title}</small>`}</h1></header>
    <div class="log-box" tabindex="0" role="region" aria-label="Conversation"><div class="log">
      ${at && html`<p class="day"><span>A copy to read, as it was on ${wholeTime(1000 * at)}</span></p>`}
      ${wrong && !items.length && html`<section class="welcome" role="alert"><h2>Nothing to read here</h2><p>${wrong}</p></section>`}
      ${wrong && items.length > 0 && html`<p class="wrong" role="alert">${wrong}</p>`}
      ${grouped(items).map((group) => html`<${Part} key=${group.key} group=${group} />`)}
    </div></div>
    <footer><p class="faint">Written by a person and by agents. <a href="/">Talk to ${document.title}</a></p></footer></main></div>`;
}

function Part({ group }) {
  if (group.day) return html`<p class="day"><span>${dayName(group.day)}</span></p>`;
  if (group.fold) return null;
  const [{ frame }] = group.items;
  const time = group.time && html`<time dateTime=${new Date(group.time).toISOString()} title=${wholeTime(group.time)}>${shortTime(group.time)}</time>`;
  if (group.own) return html`<article class="group own" aria-label="The person"><${Own} said=${frame.command} /><div class="beside">${time}</div></article>`;
  return html`<article class="group theirs" aria-label="Assistant"><${Face} name=${group.icon} /><div class="messages">
    ${group.items.map((item) => html`<${Message} key=${item.key} frame=${item.frame} />`)}
    <div class="beside"><span class="by">${speakers({ ...frame, icon: group.icon })}</span>${time}</div></div></article>`;
}

// Read all pages; what has come is shown at once.
async function read(put) {
  const items = [];
  let after = -1;
  for (let page = 0; page < MOST_PAGES && after !== null; page += 1) {
    const response = await fetch(`/api/shared/${encodeURIComponent(TOKEN)}?after=${after}`, { credentials: "omit" });
    const found = await response.json().catch(() => ({}));
    if (!response.ok) throw new Error(found.error ?? "The conversation did not come.");
    items.push(...found.items.map(({ id, message }) => ({ key: `m${id}`, at: id, frame: message, time: null })));
    put({ title: text(found.title), at: found.at, items: [...items] });
    after = found.next;
  }
}

render(html`<${Shared} />`, document.getElementById("page"));

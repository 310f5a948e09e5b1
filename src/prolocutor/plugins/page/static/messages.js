// One component for each kind of message; what it shows was written by others and is only text.

import { play } from "./bell.js";
import { Markdown } from "./markdown.js";
import { internalAddress, pieces, text, uploadedAddress, uploadKind, webAddress } from "./safe.js";
import { Drawing, html, useState } from "./ui.js";
import { withToken } from "./visitor.js";

// Show one message of the assistant; `say(frame, shown)` answers it, `open` tells of a choice
// whether it can still be chosen.
export function Message({ frame, say, open }) {
  const Kind = KINDS[frame.type] ?? Unknown;
  return html`<${Kind} frame=${frame} say=${say} open=${open} />`;
}

// Show what the person said.
export function Own({ said }) {
  const [, words, last] = /^([^]*?)(\S*)\s*$/.exec(text(said));
  const file = uploadedAddress(last);
  if (!file) return html`<p class="words">${text(said)}</p>`;
  const kind = uploadKind(file);
  const isPicture = kind === "picture";
  return html`${words.trim() && html`<p class="words">${words.trim()}</p>`}
    <figure class="sent"><a href=${file} target="_blank" rel="noopener">${isPicture
      ? html`<img class="picture" src=${file} alt="The picture that you sent" />` : `The ${kind} that you sent`}</a>
      ${isPicture && html`<figcaption class="faint">A picture from you</figcaption>`}</figure>`;
}

function Words({ frame }) {
  const stopped = frame.stopped === true;
  const said = stopped && !frame.icon ? "" : text(frame.text);
  const mark = stopped && html`<span class="mark">stopped</span>`;
  if (!said) return mark && html`<p class="words">${mark}</p>`;
  return frame.format === "markdown"
    ? html`<div class="words drawn"><${Markdown} source=${said} />${mark}</div>`
    : html`<p class="words">${pieces(said).map(Piece)}${mark}</p>`;
}

function Piece(piece) {
  return piece.href ? html`<${Away} href=${piece.href}>${piece.text}<//>` : piece.text;
}

function Away({ href, children, ...more }) {
  return html`<a href=${href} target="_blank" rel="noopener noreferrer nofollow" ...${more}
    >${children}</a>`;
}

function Picture({ frame }) {
  const href = webAddress(frame.url);
  const [missing, setMissing] = useState(false);
  const alt = text(frame.alt) || "A picture";
  if (!href || missing) return html`<${Unshown} what="picture" frame=${frame} href=${href} />`;
  return html`<${Away} href=${href} class="frame">
    <img class="picture" src=${href} alt=${alt} onError=${() => setMissing(true)} />
  <//>`;
}

function Unshown({ what, frame, href }) {
  const alt = text(frame.alt);
  const address = text(frame.url);
  return html`<p class="words faint">
    A ${what} that cannot be shown${alt && `: ${alt}`}
    ${" ("}${href ? html`<${Away} href=${href}>${address}<//>` : address}${")"}
  </p>`;
}

function Audio({ frame }) {
  const href = webAddress(frame.url);
  if (!href) return html`<${Unshown} what="recording" frame=${frame} />`;
  return html`<audio controls preload="none" src=${href} aria-label=${text(frame.alt) || "Audio"} />`;
}

function Video({ frame }) {
  const href = webAddress(frame.url);
  if (!href) return html`<${Unshown} what="video" frame=${frame} />`;
  return html`<video class="picture" controls playsinline preload="metadata" src=${href}
    aria-label=${text(frame.alt) || "Video"} />`;
}

function Sound({ frame }) {
  const name = text(frame.name);
  const shown = SOUNDS[name] ?? name.replace(/[-_]+/g, " ");
  return html`<p class="words sound">
    <button class="round" aria-label=${`Play the sound ${shown}`} onClick=${() => play(name, true)}>
      <${Drawing} name="play" />
    </button>
    ${shown}
  </p>`;
}

// What the sounds of the freedesktop theme are for, where their names do not say it well.
const SOUNDS = {
  __proto__: null,
  "alarm-clock-elapsed": "alarm clock",
  "message-new-instant": "a new message",
  "message-new-email": "a new e-mail",
  "phone-incoming-call": "a call",
  complete: "done",
  bell: "bell",
};

function Rdl({ frame }) {
  const rdl = frame.rdl !== null && typeof frame.rdl === "object" ? frame.rdl : {};
  const href = webAddress(rdl.webCallback);
  const thumbnail = webAddress(rdl.pictureUrl);
  const title = text(rdl.displayTitle) || text(rdl.webCallback);
  const inside = html`
    ${thumbnail && html`<${Thumbnail} address=${thumbnail} />`}
    <span class="rdl-words">
      <strong>${title}</strong>
      ${rdl.displayText && html`<span>${text(rdl.displayText)}</span>`}
      <small>${href ? new URL(href).host : text(rdl.webCallback)}</small>
    </span>`;
  return href
    ? html`<${Away} class="card rdl" href=${href}>${inside}<//>`
    : html`<div class="card rdl">${inside}</div>`;
}

function Thumbnail({ address }) {
  const [missing, setMissing] = useState(false);
  return missing ? null
    : html`<img class="thumbnail" src=${address} alt="" onError=${() => setMissing(true)} />`;
}

function Result({ frame }) {
  const { result } = frame;
  const parts = Array.isArray(result?.formatted) ? result.formatted : [result];
  const shown = parts.map(partOf).filter(Boolean);
  if (!shown.length) return html`<p class="words">${text(frame.fallback)}</p>`;
  return html`<div class="card result" role="group" aria-label=${text(frame.fallback) || "A result"}>
    ${shown}
  </div>`;
}

function partOf(part) {
  if (typeof part === "string") return part && html`<p class="words">${pieces(part).map(Piece)}</p>`;
  if (part === null || typeof part !== "object") return null;
  if (PARTS.has(part.type)) return html`<${Message} frame=${part} />`;
  const fields = Object.entries(part).filter(([name]) => name !== "type");
  return fields.length
    ? html`<dl>${fields.map(([name, value]) => html`<div><dt>${name}</dt><dd>${text(value)}</dd></div>`)}</dl>`
    : null;
}

function Button({ frame, say }) {
  const title = text(frame.title);
  const press = () => say({ type: "parsed", json: frame.json, title }, title);
  return html`<button class="press" onClick=${press}>${title}</button>`;
}

function Choice({ frame, say, open }) {
  if (!open) return null;
  const title = text(frame.title);
  const json = { code: ["bookkeeping", "choice", text(frame.idx)], entities: {} };
  return html`<button class="press choice" onClick=${() => say({ type: "parsed", json, title }, title)}>
    ${title}${frame.text && html`<small>${text(frame.text)}</small>`}
  </button>`;
}

function Link({ frame }) {
  const given = frame.url ?? frame.link;
  const href = internalAddress(given);
  const title = text(frame.title);
  if (!href) return html`<p class="words">${title} <span class="faint">(${text(given)})</span></p>`;
  return html`<a class="press link" href=${withToken(href)} target="_blank" rel="noopener">
    ${title}
  </a>`;
}

function NewProgram({ frame }) {
  const errors = Array.isArray(frame.errors) ? frame.errors : [];
  const counts = [count(frame.results, "result"), count(errors, "error")].filter(Boolean);
  return html`<details class="card program">
    <summary>${text(frame.name) || "A program"} <small>${counts.join(", ")}</small></summary>
    <pre><code>${text(frame.code)}</code></pre>
    ${errors.map((error) => html`<p class="wrong">${text(error)}</p>`)}
    <a href=${withToken("/apps")} target="_blank" rel="noopener">All programs</a>
  </details>`;
}

function count(list, what) {
  const number = Array.isArray(list) ? list.length : 0;
  return number && `${number} ${what}${number === 1 ? "" : "s"}`;
}

function Wrong({ frame }) {
  const words = text(frame.error) || text(frame.message) || "Something went wrong.";
  return html`<p class="words wrong" role="alert">${words}</p>`;
}

function Unknown({ frame }) {
  return html`<p class="words faint">A message of a kind that this page does not know (${text(frame.type)})</p>`;
}

const PARTS = new Set(["text", "picture", "audio", "video", "rdl"]);
const KINDS = {
  __proto__: null,
  text: Words,
  picture: Picture,
  audio: Audio,
  video: Video,
  sound: Sound,
  rdl: Rdl,
  result: Result,
  button: Button,
  choice: Choice,
  link: Link,
  "new-program": NewProgram,
  error: Wrong,
};

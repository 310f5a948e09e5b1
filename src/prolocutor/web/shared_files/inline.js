// The inside of a paragraph of Markdown: emphasis, code, links and bare addresses.

import { webAddress } from "./safe.js";
import { html } from "./ui.js";

export const DEEPEST = 8;

const TOKEN = /\\[!-/:-@[-`{-~]|`+|\*\*|__|~~|\*|_|!?\[|<?https?:\/\/[^\s<>"]+>?|\n/g;
const LINK = /!?\[((?:[^[\]\\]|\\.)*)\]\(\s*<?([^\s()<>]*(?:\([^\s()<>]*\)[^\s()<>]*)*)>?(?:\s+"[^"]*")?\s*\)/y;
const MARKS = { "**": "strong", __: "strong", "*": "em", _: "em", "~~": "del" };

// Draw a piece of Markdown that has no blocks.
export function inline(source, depth) {
  if (depth > DEEPEST) return source;
  const nodes = [];
  const hopeless = new Set();
  const ticks = ticksIn(source);
  let at = 0;
  for (const { 0: token, index } of source.matchAll(TOKEN)) {
    if (index < at) continue;
    const node = marked(source, token, index, depth, hopeless, ticks);
    if (!node) continue;
    nodes.push(source.slice(at, index), node.shown);
    at = node.end;
  }
  return [...nodes, source.slice(at)];
}

// Give what a token begins and where that ends, or null where it is only itself.
function marked(source, token, from, depth, hopeless, ticks) {
  const end = from + token.length;
  if (token === "\n") return { shown: html`<br />`, end };
  if (token[0] === "\\") return { shown: token[1], end };
  if (token.startsWith("h") || token[0] === "<") {
    const [address] = /^[^>]*[^>.,;:!?)\]}'*_~]/.exec(token.replace("<", "")) ?? [""];
    const href = webAddress(address);
    const length = token[0] === "<" ? token.length : address.length;
    return href ? { shown: away(href, address), end: from + length } : null;
  }
  if (token.endsWith("[")) {
    LINK.lastIndex = from;
    const found = LINK.exec(source);
    const href = found && webAddress(found[2]);
    return href ? { shown: away(href, inline(found[1], DEEPEST)), end: LINK.lastIndex } : null;
  }
  if (hopeless.has(token)) return null;
  const close = token[0] === "`" ? nextOf(ticks[token.length], end) : closing(source, token, end);
  if (close === null) hopeless.add(token);
  if (close === null || close < 0) return null;
  const inner = source.slice(end, close);
  const shown = token[0] === "`" ? html`<code>${/^ [^]* $/.test(inner) && inner.trim() ? inner.slice(1, -1) : inner}</code>`
    : html`<${MARKS[token]}>${inline(inner, depth + 1)}<//>`;
  return { shown, end: close + token.length };
}

// Give where the runs of so many backticks are, the last one first.
function ticksIn(source) {
  const found = {};
  for (const { 0: run, index } of source.matchAll(/`+/g)) (found[run.length] ??= []).push(index);
  for (const places of Object.values(found)) places.reverse();
  return found;
}

// Give the first of these places from here on, and forget those before; null where there is none.
function nextOf(places, from) {
  while (places?.at(-1) < from) places.pop();
  return places?.at(-1) ?? null;
}

// Give where a mark ends; -1 where it does not begin here, null where none ends in the rest.
function closing(source, token, from) {
  const isWord = (at) => token[0] === "_" && /[\p{L}\p{N}]/u.test(source[at] ?? "");
  if (!/\S/.test(source[from] ?? " ") || isWord(from - token.length - 1)) return -1;
  for (let at = source.indexOf(token, from + 1); at >= 0; at = source.indexOf(token, at)) {
    let run = at;
    while (source[run] === token[0]) run += 1;
    const fits = run - at >= token.length && !(run - at === 2 && token.length === 1);
    if (fits && /\S/.test(source[at - 1]) && !isWord(run)) return run - token.length;
    at = run;
  }
  return null;
}

function away(href, shown) {
  return html`<a href=${href} target="_blank" rel="noopener noreferrer nofollow">${shown}</a>`;
}

// Markdown as Preact nodes: no HTML, no pictures, links to the web alone, a bounded depth. Every step
// goes on in the text, or is noted as hopeless, so a text of any kind takes time by its length.

import { CodeBlock } from "./copying.js";
import { text, webAddress } from "./safe.js";
import { html } from "./ui.js";

const DEEPEST = 8;
const FENCE = /^ {0,3}(`{3,}|~{3,})\s*([^`\s]*)[^`]*$/;
const HEADING = /^ {0,3}(#{1,6})(?:\s+(.*?))?\s*#*$/;
const RULE = /^ {0,3}(?:(?:-\s*){3,}|(?:\*\s*){3,}|(?:_\s*){3,})$/;
const QUOTE = /^ {0,3}> ?/;
const ITEM = /^( {0,3})([-*+]|\d{1,9}[.)])( +|$)/;
const DASHES = /^\s*\|?(?:\s*:?-+:?\s*\|)*\s*:?-+:?\s*\|?\s*$/;
const TOKEN = /\\[!-/:-@[-`{-~]|`+|\*\*|__|~~|\*|_|!?\[|<?https?:\/\/[^\s<>"]+>?|\n/g;
const LINK = /!?\[((?:[^[\]\\]|\\.)*)\]\(\s*<?([^\s()<>]*(?:\([^\s()<>]*\)[^\s()<>]*)*)>?(?:\s+"[^"]*")?\s*\)/y;
const MARKS = { "**": "strong", __: "strong", "*": "em", _: "em", "~~": "del" };

// Draw a text that is written in Markdown.
export function Markdown({ source }) {
  return html`<div class="markdown">${blocks(text(source).replace(/\r\n?/g, "\n").split("\n"), 0)}</div>`;
}

function blocks(lines, depth) {
  if (depth > DEEPEST) return html`<p>${lines.join("\n")}</p>`;
  const nodes = [];
  for (let at = 0; at < lines.length; ) {
    const line = lines[at];
    const [fence, heading, item] = [FENCE.exec(line), HEADING.exec(line), ITEM.exec(line)];
    const from = at;
    at += 1;
    if (!line.trim()) continue;
    if (fence) {
      const ends = (one) => one.trim().startsWith(fence[1]) && !/[^`~\s]/.test(one);
      while (at < lines.length && !ends(lines[at])) at += 1;
      nodes.push(html`<${CodeBlock} language=${fence[2]} source=${lines.slice(from + 1, at).join("\n")} />`);
      at += 1;
    } else if (heading) {
      nodes.push(html`<${`h${Math.min(6, heading[1].length + 2)}`}>${inline(heading[2] ?? "", depth)}<//>`);
    } else if (RULE.test(line)) {
      nodes.push(html`<hr />`);
    } else if (QUOTE.test(line)) {
      while (at < lines.length && lines[at].trim() && !starts(lines[at], QUOTE)) at += 1;
      nodes.push(html`<blockquote>${blocks(lines.slice(from, at).map((one) => one.replace(QUOTE, "")), depth + 1)}</blockquote>`);
    } else if (item) {
      at = list(lines, from, depth, nodes);
    } else if (line.includes("|") && DASHES.test(lines[at] ?? "") && lines[at].includes("|")) {
      at = table(lines, from, depth, nodes);
    } else {
      while (at < lines.length && lines[at].trim() && !starts(lines[at])) at += 1;
      nodes.push(html`<p>${inline(lines.slice(from, at).map((one) => one.trim()).join("\n"), depth)}</p>`);
    }
  }
  return nodes;
}

// Tell whether a line begins a block of its own, other than one of these.
function starts(line, but) {
  return [FENCE, HEADING, RULE, QUOTE, ITEM].some((one) => one !== but && one.test(line));
}

function list(lines, from, depth, nodes) {
  const kind = (found) => (/\d/.test(found[2]) ? "ol" : "ul");
  const first = ITEM.exec(lines[from]);
  const items = [];
  let at = from;
  for (let found = first; found && kind(found) === kind(first) && !RULE.test(lines[at]); found = ITEM.exec(lines[at] ?? "")) {
    const inset = found[1].length + found[2].length + Math.min(4, found[3].length || 1);
    const own = [lines[at].slice(found[0].length)];
    for (at += 1; at < lines.length; at += 1) {
      const blank = !lines[at].trim();
      const inside = lines[at].search(/\S/) >= Math.min(inset, 2 + found[1].length);
      const next = blank ? (lines[at + 1] ?? "").search(/\S/) >= inset : inside || !starts(lines[at]);
      if (!next || (!blank && !inside && !lines[at - 1].trim())) break;
      own.push(lines[at].slice(Math.min(inset, Math.max(0, lines[at].search(/\S/)))));
    }
    const box = /^\[([ xX])\] /.exec(own[0]);
    if (box) own[0] = `${box[1] === " " ? "☐" : "☑"} ${own[0].slice(4)}`;
    items.push(html`<li>${own.length === 1 ? inline(own[0], depth + 1) : blocks(own, depth + 1)}</li>`);
    while (at < lines.length && !lines[at].trim() && ITEM.test(lines[at + 1] ?? "")) at += 1;
  }
  nodes.push(kind(first) === "ol" ? html`<ol start=${parseInt(first[2], 10)}>${items}</ol>` : html`<ul>${items}</ul>`);
  return at;
}

function table(lines, from, depth, nodes) {
  const cells = (line) => line.trim().replace(/^\||\|$/g, "").split(/(?<!\\)\|/).map((one) => one.trim());
  const head = cells(lines[from]);
  let at = from + 2;
  while (at < lines.length && lines[at].includes("|")) at += 1;
  const rows = lines.slice(from + 2, at).map((line) => cells(line).slice(0, head.length));
  nodes.push(html`<div class="table" tabindex="0" role="region" aria-label="A table"><table>
    <thead><tr>${head.map((one) => html`<th scope="col">${inline(one, depth)}</th>`)}</tr></thead>
    <tbody>${rows.map((row) => html`<tr>${row.map((one) => html`<td>${inline(one, depth)}</td>`)}</tr>`)}</tbody>
  </table></div>`);
  return at;
}

function inline(source, depth) {
  if (depth > DEEPEST) return source;
  const nodes = [];
  const hopeless = new Set();
  let at = 0;
  for (const { 0: token, index } of source.matchAll(TOKEN)) {
    if (index < at) continue;
    const node = marked(source, token, index, depth, hopeless);
    if (!node) continue;
    nodes.push(source.slice(at, index), node.shown);
    at = node.end;
  }
  return [...nodes, source.slice(at)];
}

// Give what a token begins and where that ends, or null where it is only itself.
function marked(source, token, from, depth, hopeless) {
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
  const close = closing(source, token, end);
  if (close === null) hopeless.add(token);
  if (close === null || close < 0) return null;
  const inner = source.slice(end, close);
  const shown = token[0] === "`" ? html`<code>${inner.replace(/^ (.*\S.*) $/, "$1")}</code>`
    : html`<${MARKS[token]}>${inline(inner, depth + 1)}<//>`;
  return { shown, end: close + token.length };
}

// Give where a mark ends; -1 where it does not begin here, null where none ends in the rest.
function closing(source, token, from) {
  const isCode = token[0] === "`";
  const isWord = (at) => token[0] === "_" && /[\p{L}\p{N}]/u.test(source[at] ?? "");
  if (!isCode && (!/\S/.test(source[from] ?? " ") || isWord(from - token.length - 1))) return -1;
  for (let at = source.indexOf(token, from + 1); at >= 0; at = source.indexOf(token, at)) {
    let run = at;
    while (source[run] === token[0]) run += 1;
    const fits = run - at >= token.length && !(run - at === 2 && token.length === 1);
    if (isCode ? run - at === token.length : fits && /\S/.test(source[at - 1]) && !isWord(run)) return isCode ? at : run - token.length;
    at = run;
  }
  return null;
}

function away(href, shown) {
  return html`<a href=${href} target="_blank" rel="noopener noreferrer nofollow">${shown}</a>`;
}

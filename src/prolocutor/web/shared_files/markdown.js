// Markdown as Preact nodes: no HTML, no pictures, links to the web alone, a bounded depth. Every step
// goes on in the text, or is noted as hopeless, and no pattern can split a line in two ways, so a text
// of any kind takes time by its length.

import { CodeBlock } from "./copying.js";
import { DEEPEST, inline } from "./inline.js";
import { text } from "./safe.js";
import { html } from "./ui.js";

const LONGEST = 100_000;
const FENCE = /^ {0,3}(`{3,}|~{3,})([^`]*)$/;
const HEADING = /^ {0,3}(#{1,6})(?!\S)(.*)$/s;
const RULE = /^ {0,3}(?:(?:-\s*){3,}|(?:\*\s*){3,}|(?:_\s*){3,})$/;
const QUOTE = /^ {0,3}> ?/;
const ITEM = /^( {0,3})([-*+]|\d{1,9}[.)])( +|$)/;
const WIDEST = 100;
const DASHES = /^:?-+:?$/;

// Draw a text that is written in Markdown; one that is longer than any answer stays as it is.
export function Markdown({ source }) {
  const lines = text(source).replace(/\r\n?/g, "\n").split("\n");
  return html`<div class="markdown">${blocks(lines, text(source).length > LONGEST ? DEEPEST + 1 : 0)}</div>`;
}

// Give the words of the beginning of such a text without its marks, for where there is one line.
export function plainWords(source) {
  return wordsIn(blocks(text(source).slice(0, 2000).split("\n"), 0)).replace(/\s+/g, " ").trim();
}

function wordsIn(node) {
  if (Array.isArray(node)) return node.map(wordsIn).join("");
  if (typeof node !== "object" || node === null) return text(node);
  const { source, children } = node.props;
  const words = typeof node.type === "function" ? text(source) : wordsIn(children);
  return /^(?:a|code|del|em|strong)$/.test(node.type) ? words : `${words} `;
}

function blocks(lines, depth) {
  if (depth > DEEPEST) return html`<p>${lines.join("\n")}</p>`;
  const nodes = [];
  let level = 1; // of the heading before: none is left out, whatever the text does
  for (let at = 0; at < lines.length; ) {
    const line = lines[at];
    const [fence, heading, item] = [FENCE.exec(line), HEADING.exec(line), ITEM.exec(line)];
    const from = at;
    at += 1;
    if (!line.trim()) continue;
    if (fence) {
      const ends = (one) => one.trim().startsWith(fence[1]) && !/[^`~\s]/.test(one);
      while (at < lines.length && !ends(lines[at])) at += 1;
      nodes.push(html`<${CodeBlock} language=${fence[2].trim().split(/\s/, 1)[0]} source=${lines.slice(from + 1, at).join("\n")} />`);
      at += 1;
    } else if (heading) {
      level = Math.min(6, level + 1, heading[1].length + 1);
      nodes.push(html`<${`h${level}`}>${inline(titleOf(heading[2]), depth)}<//>`);
    } else if (RULE.test(line)) {
      nodes.push(html`<hr />`);
    } else if (QUOTE.test(line)) {
      while (at < lines.length && lines[at].trim() && !starts(lines[at], QUOTE)) at += 1;
      nodes.push(html`<blockquote>${blocks(lines.slice(from, at).map((one) => one.replace(QUOTE, "")), depth + 1)}</blockquote>`);
    } else if (item) {
      at = list(lines, from, depth, nodes);
    } else if (line.includes("|") && lines[at]?.includes("|") && cells(lines[at]).every((one) => DASHES.test(one))) {
      at = table(lines, from, depth, nodes);
    } else {
      while (at < lines.length && lines[at].trim() && !starts(lines[at])) at += 1;
      nodes.push(html`<p>${inline(lines.slice(from, at).map((one) => one.trim()).join("\n"), depth)}</p>`);
    }
  }
  return nodes;
}

// Give the words of a heading, without the signs that may close it.
function titleOf(rest) {
  const words = rest.trim();
  let end = words.length;
  while (words[end - 1] === "#") end -= 1;
  return end === 0 || /\s/.test(words[end - 1]) ? words.slice(0, end).trim() : words;
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

const cells = (line) => line.trim().replace(/^\||\|$/g, "").split(/(?<!\\)\|/).slice(0, WIDEST).map((one) => one.trim());

function table(lines, from, depth, nodes) {
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

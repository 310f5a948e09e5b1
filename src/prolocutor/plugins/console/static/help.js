// The keys of the console, in a dialog.

import { PAGES } from "./pages.js";
import { Dialog } from "./parts.js";
import { html } from "./ui.js";

const KEYS = [
  [["g", ...PAGES.map((page) => page.key)], "g, then a letter: go to a page"], [["/"], "search"],
  [["j", "k"], "next, previous in a list; also inside what is opened from it"],
  [["Enter"], "open"], [["Esc"], "close, go back"], [["[", "]"], "previous, next turn"],
  [["1", "…", "9"], "right agent for this question"], [["0"], "nobody should answer that"], [["s"], "skip"],
  [["z"], "take back the last label"], [["r"], "run this turn again"], [["h"], "hold the running turns still, and go on"], [["t"], "take over, give back"], [["?"], "these keys"],
];

export default function Help({ close }) {
  return html`<${Dialog} title="Keys" close=${close}>
    <dl class="keys">${KEYS.map(([keys, what]) => html`<div><dt>${keys.map((one) => html`<kbd>${one}</kbd> `)}</dt><dd>${what}</dd></div>`)}</dl></${Dialog}>`;
}

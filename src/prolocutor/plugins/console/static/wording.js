// What comes as a code or as an address, in words.

import { text, uploadedAddress } from "./safe.js";
import { html, useState } from "./ui.js";

const FAILURES = {
  __proto__: null, raised: "raised an error", unreachable: "could not be reached", refused: "refused", bad_reply: "malformed reply", late: "too late",
  no_place: "too many calls at once", breaker_open: "left alone", purse: "over the budget", switched_off: "switched off", service: "failed",
};
const ADDRESS = /((?:https?:\/\/[^\s/]+)?\/uploads\/[0-9a-f]{32}\.(?:png|jpg|gif|webp|pdf)|(?:https?:\/\/[^\s/]+)?\/uploads\/[0-9a-f]*…$)/;

// Give the code of a failure in words.
export function failureName(code) {
  const status = /^refused_(\d)xx$/.exec(text(code));
  return status ? `answered with an error (${status[1]}xx)` : FAILURES[text(code)] ?? text(code).replaceAll("_", " ");
}

// The code of a failure in words, with the code as its title.
export const Failure = ({ code }) => html`<span class="failure" title=${text(code)}>${failureName(code)}</span>`;

const isPicture = (address) => !address.endsWith(".pdf");

// Give what a person said as one line: what was uploaded is named, not its address.
export function saidLine(value) {
  return text(value).split(ADDRESS).map((part, n) => (n % 2 ? (isPicture(part) ? "[a picture]" : "[a document]") : part)).join("");
}

// What a person said, in full: what was uploaded here is shown.
export function Said({ words }) {
  return text(words).split(ADDRESS).map((part, n) => (n % 2 ? html`<${Upload} address=${part} />` : part));
}

function Upload({ address }) {
  const [missing, setMissing] = useState(false);
  const file = uploadedAddress(address);
  const name = isPicture(address) ? "a picture" : "a document";
  if (!file || missing) return `[${name}]`;
  return html`<a class="uploaded" href=${file} target="_blank" rel="noopener">${isPicture(file) ? html`<img src=${file} alt="A picture of the person" loading="lazy" onError=${() => setMissing(true)} />` : name}</a>`;
}

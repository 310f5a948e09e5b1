// What comes as a code in words, and what was uploaded as it is.

import { UPLOAD, uploadName } from "./parts.js";
import { text, uploadedAddress } from "./safe.js";
import { html, useState } from "./ui.js";

const FAILURES = {
  __proto__: null, raised: "raised an error", unreachable: "could not be reached", refused: "refused", bad_reply: "malformed reply", late: "too late",
  no_place: "too many calls at once", breaker_open: "left alone", purse: "over the budget", switched_off: "switched off", service: "failed",
};

// Give the code of a failure in words.
export function failureName(code) {
  const status = /^refused_(\d)xx$/.exec(text(code));
  return status ? `answered with an error (${status[1]}xx)` : FAILURES[text(code)] ?? text(code).replaceAll("_", " ");
}

// The code of a failure in words, with the code as its title.
export const Failure = ({ code }) => html`<span class="failure" title=${text(code)}>${failureName(code)}</span>`;

// What a person said, in full: what was uploaded here is shown.
export function Said({ words }) {
  return text(words).split(UPLOAD).map((part, n) => (n % 2 ? html`<${Upload} address=${part} />` : part));
}

function Upload({ address }) {
  const [missing, setMissing] = useState(false);
  const file = uploadedAddress(address);
  const name = uploadName(address);
  if (!file || missing) return name;
  return html`<a class="uploaded" href=${file} target="_blank" rel="noopener">${!file.endsWith(".pdf") ? html`<img src=${file} alt="A picture of the person" loading="lazy" onError=${() => setMissing(true)} />` : name}</a>`;
}

// The pictures of those who speak; letters on a ground of their own where there is none.

import { iconAddress, text } from "./safe.js";
import { html, useEffect, useState } from "./ui.js";

const GOLDEN = 137.508;
const OWN = new URL("icon.svg", import.meta.url).pathname;
const MISSING = new Set();
const heard = new Set();
let pictured = new Set();

// Say which agents have a picture at `/icons/<name>`.
export function setPictured(names) {
  pictured = new Set(names);
  heard.forEach((draw) => draw({}));
}

export function Face({ name }) {
  const [, draw] = useState(null);
  useEffect(() => {
    heard.add(draw);
    return () => heard.delete(draw);
  }, []);
  const address = pictured.has(name) ? iconAddress(name) : null;
  const failed = () => {
    MISSING.add(address);
    draw({});
  };
  if (address && !MISSING.has(address)) {
    return html`<img class="face" src=${address} alt="" title=${name} onError=${failed} />`;
  }
  const shown = text(name);
  if (!shown) return html`<img class="face" src=${OWN} alt="" />`;
  const hue = Math.round((160 + GOLDEN * sumOf(shown)) % 360); // of the name alone: the same on every page
  return html`<span class="face letter" style=${{ "--hue": `${hue}` }} title=${shown}
    aria-hidden="true">${initials(shown)}</span>`;
}

function initials(name) {
  const words = name.split(/[^\p{L}\p{N}]+/u).filter(Boolean);
  if (!words.length) return "·";
  const [first, second] = words.map((one) => [...one]);
  return first[0] + (second ? second[0] : first[1] ?? "");
}

function sumOf(name) {
  return [...name].reduce((sum, letter) => (sum * 31 + letter.codePointAt(0)) % 997, 0);
}

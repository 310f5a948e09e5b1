// The pictures of those who speak; letters on a ground of their own where there is none.

import { useInfo } from "./page_info.js";
import { iconAddress, text } from "./safe.js";
import { html, useState } from "./ui.js";

const GOLDEN = 137.508;

export function Face({ name }) {
  const { agents } = useInfo();
  const known = agents.find((one) => one?.name === name);
  const address = known?.icon ? iconAddress(name) : null;
  const [missing, setMissing] = useState(MISSING.has(address));
  const failed = () => {
    MISSING.add(address);
    setMissing(true);
  };
  if (address && !missing) {
    return html`<img class="face" src=${address} alt="" title=${name} onError=${failed} />`;
  }
  const shown = text(name);
  if (!shown) return html`<img class="face" src="/page/icon.svg" alt="" />`;
  const hue = Math.round((160 + GOLDEN * sumOf(shown)) % 360); // of the name alone: the same on every page
  return html`<span class="face letter" style=${{ "--hue": `${hue}` }} title=${shown}
    aria-hidden="true">${initials(shown)}</span>`;
}

const MISSING = new Set();

function initials(name) {
  const words = name.split(/[^\p{L}\p{N}]+/u).filter(Boolean);
  if (!words.length) return "·";
  const [first, second] = words.map((one) => [...one]);
  return first[0] + (second ? second[0] : first[1] ?? "");
}

function sumOf(name) {
  return [...name].reduce((sum, letter) => (sum * 31 + letter.codePointAt(0)) % 997, 0);
}

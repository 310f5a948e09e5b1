// A text of any length; what is very long is shown on demand.

import { count } from "./figures.js";
import { text } from "./safe.js";
import { html, useState } from "./ui.js";

const LONG = 2000;

export function Long({ value }) {
  const [whole, setWhole] = useState(false);
  const words = text(value);
  if (words.length <= LONG || whole) return words;
  return html`${words.slice(0, LONG)}… <button class="link" onClick=${() => setWhole(true)}>all ${count(words.length)} characters</button>`;
}

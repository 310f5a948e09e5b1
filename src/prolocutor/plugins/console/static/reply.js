// What an agent said, in full: drawn where it writes Markdown, else word for word.

import { Long } from "./long.js";
import { Markdown } from "./markdown.js";
import { writesMarkdown } from "./parts.js";
import { html } from "./ui.js";

export function Reply({ by, words, operator }) {
  return writesMarkdown(by, operator) ? html`<${Markdown} source=${words} />` : html`<${Long} value=${words} />`;
}

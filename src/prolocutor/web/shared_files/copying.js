// Copying what was said, as it was written.

import { Drawing, html, useEffect, useState } from "./ui.js";

const SHOWN = 2000;

// Put a text on the clipboard; pages without https have the old way alone.
export async function copy(source) {
  try {
    await navigator.clipboard.writeText(source);
  } catch {
    const field = document.createElement("textarea");
    field.value = source;
    field.className = "hidden";
    document.body.append(field);
    field.select();
    document.execCommand("copy");
    field.remove();
  }
}

export function CopyButton({ source, label = "Copy" }) {
  const [done, setDone] = useState(false);
  useEffect(() => {
    const timer = done && setTimeout(() => setDone(false), SHOWN);
    return () => clearTimeout(timer);
  }, [done]);
  const press = () => copy(source).then(() => setDone(true));
  const shown = done ? "Copied" : label;
  return html`<button class="small" type="button" aria-label=${shown} title=${shown} onClick=${press}>
    <${Drawing} name=${done ? "check" : "copy"} /></button>`;
}

// Code in a text: its language, where that was named, and a button that copies it.
export function CodeBlock({ language, source }) {
  return html`<figure class="code">
    <figcaption><span>${language || "code"}</span><${CopyButton} source=${source} label="Copy the code" /></figcaption>
    <pre tabindex="0"><code>${source}</code></pre>
  </figure>`;
}

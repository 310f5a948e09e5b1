// The form for the key of an operator.

import { text } from "./safe.js";
import { html, useEffect, useRef, useState } from "./ui.js";

// `enter(key, keep)` tries a key; `wrong` is what was wrong with the last one.
export function SignIn({ name, enter, wrong }) {
  const field = useRef(null);
  const [keep, setKeep] = useState(false);
  useEffect(() => field.current.focus(), []);
  const submit = (event) => {
    event.preventDefault();
    const key = field.current.value.trim();
    if (key) enter(key, keep);
  };
  return html`<main class="alone"><form class="sign-in" onSubmit=${submit}>
    <h1>Console of ${name}</h1>
    <p>It is for operators. Your key is one of those under <code>auth.keys</code>, or was made with <code>prolocutor keys</code>.</p>
    <input class="hidden" type="text" name="username" autocomplete="username" value=${`operator of ${name}`} readonly tabindex="-1" aria-hidden="true" />
    <label><span>Key</span><input ref=${field} type="password" autocomplete="current-password" required aria-invalid=${wrong ? "true" : undefined} aria-describedby=${wrong ? "wrong-key" : undefined} /></label>
    <label class="check"><input type="checkbox" checked=${keep} onChange=${(event) => setKeep(event.target.checked)} /> Keep it on this device</label>
    ${wrong && html`<p class="wrong" role="alert" id="wrong-key">${text(wrong)}</p>`}
    <button class="press strong">Come in</button>
  </form></main>`;
}

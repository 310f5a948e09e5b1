// The form for the key of an operator, and the way to the identity provider.

import { elsewhere } from "./api.js";
import { tell } from "./parts.js";
import { text } from "./safe.js";
import { html, useEffect, useRef, useState } from "./ui.js";

const BACK = () => encodeURIComponent(location.pathname + location.search);

// `enter(key, keep)` tries a key; `wrong` is what was wrong with the last one. `provider`: people
// may sign in with an identity provider; `refused`: they may not be here without a key.
export default function SignIn({ name, enter, wrong, provider, refused }) {
  const field = useRef(null);
  const [signedIn, setSignedIn] = useState(false);
  const [keep, setKeep] = useState(false);
  useEffect(() => !provider && field.current.focus(), []);
  useEffect(() => {
    if (refused) elsewhere("GET", "/api/visitor").then((visitor) => setSignedIn(visitor.kind === "person"), () => {});
  }, [refused]);
  const submit = (event) => {
    event.preventDefault();
    const key = field.current.value.trim();
    if (key) enter(key, keep);
  };
  return html`<main class="alone"><form class="sign-in" onSubmit=${submit}>
    <h1>Console of ${name}</h1>
    <p>It is for operators. Your key is one of those under <code>auth.keys</code>, or was made with <code>prolocutor keys</code>.</p>
    ${provider && html`<a class="press strong" href=${`/auth/login?next=${BACK()}`}>Sign in</a><p class="faint">or with a key:</p>`}
    ${signedIn && html`<p class="wrong" role="alert">You are signed in, but not as an operator. <button type="button" class="link" onClick=${signOut}>Sign out</button></p>`}
    <input class="hidden" type="text" name="username" autocomplete="username" value=${`operator of ${name}`} readonly tabindex="-1" aria-hidden="true" />
    <label><span>Key</span><input ref=${field} type="password" autocomplete="current-password" required aria-invalid=${wrong ? "true" : undefined} aria-describedby=${wrong ? "wrong-key" : undefined} /></label>
    <label class="check"><input type="checkbox" checked=${keep} onChange=${(event) => setKeep(event.target.checked)} /> Keep it on this device</label>
    ${wrong && html`<p class="wrong" role="alert" id="wrong-key">${text(wrong)}</p>`}
    <button class=${`press ${provider ? "" : "strong"}`}>Come in</button>
  </form></main>`;
}

// End a session at the identity provider, or tell that there was none.
export async function signOut() {
  try {
    const { url } = await elsewhere("POST", "/auth/logout", { body: "{}" });
    location.assign(url ?? "/console");
  } catch (error) {
    tell(error.message, { wrong: true });
  }
}

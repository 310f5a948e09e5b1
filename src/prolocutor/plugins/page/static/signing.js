// Coming in: by the identity provider where there is one, or with a token; and where to go from here.

import { html, useEffect, useRef, useState } from "./ui.js";
import { ask } from "./visitor.js";

// `enter(token)` tries a token. `provider`: whether people sign in with an identity provider.
export function SignIn({ enter, provider }) {
  const field = useRef(null);
  const submit = (event) => {
    event.preventDefault();
    if (field.current.value.trim()) enter(field.current.value.trim());
  };
  const back = encodeURIComponent(location.pathname + location.search);
  return html`<form class="welcome sign-in" onSubmit=${submit}>
    <h2>Who are you?</h2>
    ${provider && html`<p><a class="press strong" href=${`/auth/login?next=${back}`}>Sign in</a></p>`}
    <p>${provider ? "Or come in with a token." : "This assistant lets in those who have a token."}</p>
    <label><span>Token</span>
      <input ref=${field} type="password" autocomplete="current-password" /></label>
    <button class=${provider ? "press" : "press strong"}>Come in</button>
  </form>`;
}

// The page for operators, and signing out for those who signed in. `line` is the state of the line.
export function VisitorLinks({ line }) {
  const [who, setWho] = useState(null);
  const open = line === "open";
  useEffect(() => {
    if (open) ask("/api/visitor").then(setWho, () => setWho(null));
  }, [open]);
  if (!who || line === "sign-in") return null;
  const leave = async () => {
    const headers = { "Content-Type": "application/json" };
    const { url } = await ask("/auth/logout", { method: "POST", headers, body: "{}" });
    location.assign(url ?? "/");
  };
  return html`${who.operators_page && html`<a class="press" href=${who.operators_page}>Console</a>`}
    ${who.signed_in && html`<button class="press" title=${who.name} onClick=${leave}>Sign out</button>`}`;
}

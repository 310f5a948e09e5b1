// The handover box under a conversation: take it over, write to the person, give it back.

import { send } from "./api.js";
import { When, clock, personName } from "./figures.js";
import { Confirm, attempt, listOf, tell } from "./parts.js";
import { text } from "./safe.js";
import { Drawing, html, useEffect, useRef, useState } from "./ui.js";

const DRAFT = "prolocutor.console.draft.";

// Follow who has a conversation: `now` is its handover, `{state: "waits" | "taken", by, since,
// reason}` or null; `press` takes over or asks for the note to give back, where the operator may.
// What was done shows at once and until the conversation comes anew.
export function useHandover(id, operator, talk) {
  const path = `/conversations/${encodeURIComponent(id)}`;
  const active = Boolean(talk.value?.active);
  const [done, setDone] = useState(null);
  const [giving, setGiving] = useState(false);
  const holds = done?.id === id && (done.pending || done.at >= talk.at);
  const now = (holds ? done.handover : talk.value?.handover) ?? null;
  const mine = now?.state === "taken" && now.by === operator.name;
  const settle = (answer) => {
    setDone({ id, at: Date.now(), handover: answer.handover });
    talk.again();
  };
  const take = () => attempt(
    () => setDone({ id, pending: true, handover: { state: "taken", by: operator.name, since: Date.now() / 1000, reason: "" } }),
    async () => settle(await send("POST", `${path}/take`, {})),
    () => {
      setDone(null);
      talk.again();
    },
  );
  const give = async (note) => settle(await send("POST", `${path}/give`, note ? { note } : {}));
  const say = async (words, key) => settle(await send("POST", `${path}/say`, { text: words }, { "Idempotency-Key": key }));
  const may = active && operator.writes && (now?.state !== "taken" || mine);
  return { id, now, mine, active, take, give, say, giving, setGiving, press: may ? (mine ? () => setGiving(true) : take) : null };
}

export function Handover({ of, user, items, agents }) {
  const { now, mine, active, giving } = of;
  if (!active) return null;
  return html`
    ${mine ? html`<${Mine} of=${of} user=${user} items=${items} agents=${agents} />` : now && html`<${Theirs} of=${of} user=${user} />`}
    ${giving && html`<${Give} of=${of} user=${user} />`}
    ${!now && of.press && html`<div class="handover only-phone"><button class="press" onClick=${of.take}>Take over</button></div>`}`;
}

function Theirs({ of, user }) {
  const { now } = of;
  if (now.state === "taken") return html`<div class="handover"><p><b dir="auto">${text(now.by)}</b> answers <span dir="auto">${text(user)}</span> since ${clock(now.since)}. The assistant is silent.</p></div>`;
  return html`<div class="handover"><p><span class="sign call">wants a person</span> <span dir="auto">${text(user)}</span> asked for a person <${When} at=${now.since} /> ago. Nobody has taken over.${now.reason && html` <q dir="auto">${text(now.reason)}</q>`}</p>
    ${of.press && html`<button class="press small-press strong" onClick=${of.take}>Take over</button>`}</div>`;
}

function Mine({ of, user, items, agents }) {
  const [words, setWords] = useState(() => kept(of.id));
  const [busy, setBusy] = useState(false);
  const [wrong, setWrong] = useState("");
  const field = useRef(null);
  const key = useRef(null);
  useEffect(() => field.current.focus(), []);
  const write = (value) => {
    setWords(value);
    keep(of.id, value);
    key.current = null;
  };
  // The same words get the same key until they were said, so that trying again says them once.
  const speak = async () => {
    if (!words.trim() || busy) return;
    setBusy(true);
    setWrong("");
    key.current ??= crypto.randomUUID?.() ?? String(crypto.getRandomValues(new Uint32Array(4)));
    try {
      await of.say(words, key.current);
      write("");
    } catch (error) {
      setWrong(error.message);
    }
    setBusy(false);
    field.current?.focus();
  };
  const pressed = (event) => {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    speak();
  };
  const submit = (event) => {
    event.preventDefault();
    speak();
  };
  const name = text(user);
  return html`<div class="handover mine">
    <p><b>You answer.</b> The assistant is silent since ${clock(of.now.since)}. <button class="link" onClick=${() => of.setGiving(true)}>Give back</button></p>
    <form class="composer" onSubmit=${submit}><textarea ref=${field} rows="2" placeholder=${`Write to ${personName(name)}`} aria-label=${`Write to ${name}`} value=${words} onInput=${(event) => write(event.target.value)} onKeyDown=${pressed}></textarea>
      <button class="round strong" aria-label="Send" disabled=${busy}><${Drawing} name="send" /></button></form>
    ${wrong && html`<p class="wrong" role="alert">It was not said: ${text(wrong)} It is still here.</p>`}
    <${Suggestion} id=${of.id} said=${text(items.findLast((one) => text(one.said))?.said)} agents=${agents} use=${write} />
  </div>`;
}

// What an agent would say; asked for, as it may cost.
function Suggestion({ id, said, agents, use }) {
  const [agent, setAgent] = useState(listOf(agents).at(-1) ?? "");
  const [state, setState] = useState({});
  if (!said || !agent) return null;
  const ask = async () => {
    setState({ busy: true });
    try {
      const answer = await send("POST", `/agents/${encodeURIComponent(agent)}/alone`, { text: said, dialog_id: id });
      const found = listOf(answer?.hypotheses).map((one) => text(one?.text)).filter(Boolean);
      setState({ agent, found, wrong: answer?.error ? text(answer.error) : found.length ? "" : "It has no answer." });
    } catch (error) {
      setState({ wrong: error.message });
    }
  };
  return html`<div class="suggestion faint">
    <label>What would <select value=${agent} onChange=${(event) => setAgent(event.target.value)}>${agents.map((name) => html`<option value=${name} selected=${name === agent}>${name}</option>`)}</select> say?</label>
    ${" "}<button class="link" onClick=${ask} disabled=${state.busy}>${state.busy ? "Asking…" : "Ask it"}</button>
    ${state.found?.map((words) => html`<p><b>${state.agent}</b> would say <q dir="auto">${words.slice(0, 500)}</q> <button class="link" onClick=${() => use(words)}>Use</button></p>`)}
    ${state.wrong && html`<p class="wrong">${state.wrong}</p>`}</div>`;
}

function Give({ of, user }) {
  const note = useRef(null);
  const act = async () => {
    await of.give(note.current.value.trim());
    keep(of.id, "");
    tell("The assistant answers again.");
  };
  return html`<${Confirm} title="Give back to the assistant" press="Give back" act=${act} close=${() => of.setGiving(false)}>
    <p>From the next input of <span dir="auto">${text(user)}</span> on the assistant answers again.</p>
    <label class="field"><span>A note for the agents (they see it; <span dir="auto">${text(user)}</span> does not)</span><textarea ref=${note} rows="3" maxlength="2000" autofocus></textarea></label></${Confirm}>`;
}

function kept(id) {
  try {
    return sessionStorage.getItem(DRAFT + id) ?? "";
  } catch {
    return "";
  }
}

function keep(id, words) {
  try {
    if (words) sessionStorage.setItem(DRAFT + id, words);
    else sessionStorage.removeItem(DRAFT + id);
  } catch {
    // Without storage the words last as long as the box.
  }
}

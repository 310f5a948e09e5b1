// The chat page: the line, the conversation, and what is drawn of them.

import { ALONE, Ask } from "./asks.js";
import { isQuiet, play, ring, setQuiet } from "./bell.js";
import { Composer } from "./composer.js";
import { cutOff, EMPTY, firstId, lastId, opening, received, saying, settled } from "./conversation.js";
import { Log } from "./log.js";
import { Panel } from "./panel.js";
import { text } from "./safe.js";
import { Drawing, html, render, useEffect, useRef, useState } from "./ui.js";
import { setConversation, setToken, timezone } from "./visitor.js";
import { Wire } from "./wire.js";

const PAGE = 50;
const LINES = {
  connecting: "Connecting…",
  open: "Connected",
  broken: "The line is broken; trying again",
  refused: "A token is needed",
};

function App({ name }) {
  const [state, line, talk] = useConversation();
  const [panel, setPanel] = useState(null);
  const [quiet, hush] = useState(isQuiet());
  const origin = useRef(null);
  const why = (uttId) => {
    origin.current = document.activeElement;
    setPanel(uttId);
  };
  const close = () => {
    setPanel(null);
    origin.current?.focus();
  };
  const toggle = () => {
    setQuiet(!quiet);
    hush(!quiet);
  };
  return html`<div class=${`app ${panel ? "with-panel" : ""}`}>
    <main>
      <header class="top">
        <h1>${name}</h1>
        <span class="line ${line}" role="status">${LINES[line]}</span>
        <button class="round" aria-label="Sounds" aria-pressed=${!quiet} title=${quiet ? "Sounds are off" : "Sounds are on"}
          onClick=${toggle}><${Drawing} name=${quiet ? "mute" : "bell"} /></button>
      </header>
      ${line === "refused"
        ? html`<${SignIn} enter=${talk.enter} />`
        : html`<${Log} state=${state} name=${name} say=${talk.say} again=${talk.again} why=${why}
              earlier=${firstId(state) > 0 && talk.earlier} />
            <footer>
              ${state.ask && !state.busy && html`<${Ask} key=${`${state.ask}-${lastId(state)}`} kind=${state.ask} say=${talk.say} />`}
              ${!(ALONE.has(state.ask) && !state.busy) && html`<${Composer} say=${talk.say} ask=${state.ask} />`}
            </footer>`}
    </main>
    ${panel && html`<${Panel} uttId=${panel} close=${close} />`}
  </div>`;
}

function SignIn({ enter }) {
  const field = useRef(null);
  const submit = (event) => {
    event.preventDefault();
    if (field.current.value.trim()) enter(field.current.value.trim());
  };
  return html`<form class="welcome sign-in" onSubmit=${submit}>
    <h2>Who are you?</h2>
    <p>This assistant lets in those who have a token.</p>
    <label><span>Token</span>
      <input ref=${field} type="password" autocomplete="current-password" /></label>
    <button class="press strong">Come in</button>
  </form>`;
}

// Hold the conversation: its state, the state of the line, and what can be done.
function useConversation() {
  const [state, setState] = useState(EMPTY);
  const [line, setLine] = useState("connecting");
  const held = useRef(null);
  held.current ??= conversation(setState, setLine);
  useEffect(() => held.current.open(), []);
  return [state, line, held.current];
}

function conversation(show, showLine) {
  let state = EMPTY;
  let count = 0;
  const change = (next) => {
    if (next !== state) show((state = next));
  };
  const wire = new Wire({
    after: () => lastId(state),
    onLine(line) {
      if (line === "connecting") change(opening(state));
      if (line === "broken") change(cutOff(state));
      showLine(line);
    },
    onFrame(frame) {
      const before = state;
      change(received(state, frame));
      if (frame.type === "id" && typeof frame.id === "string") setConversation(frame.id);
      if (frame.type === "askSpecial") {
        send();
        if (!before.begun) earlier();
      }
      if (state !== before) call(state.items.at(-1), before);
    },
  });

  // Ask for more of what was said before than the line tells by itself.
  function earlier() {
    const first = firstId(state);
    if (first > 0) wire.open(Math.max(-1, first - PAGE - 1));
  }

  // Send what waits for a line on which all earlier messages have come.
  function send() {
    for (const entry of state.caughtUp ? state.pending : []) {
      const frame = { ...entry.frame, platformData: { timezone } };
      if (entry.state === "waiting" && wire.send(frame)) change(settled(state, entry.key, "sent"));
    }
  }

  // Call the person where something new came that they did not ask for.
  function call(item, before) {
    if (!item?.news || before.items.at(-1) === item) return;
    if (item.frame.type === "sound") play(text(item.frame.name));
    else if (item.unasked && before.caughtUp) ring();
  }

  function say(frame, shown) {
    count += 1;
    change(saying(state, { key: `p${count}`, frame, shown: text(shown), state: "waiting" }));
    send();
  }

  return {
    say,
    earlier,
    open: () => wire.open(),
    again(entry) {
      change(settled(state, entry.key, null));
      say(entry.frame, entry.shown);
    },
    enter(token) {
      setToken(token);
      change(EMPTY);
      wire.open(null);
    },
  };
}

render(html`<${App} name=${document.title} />`, document.getElementById("page"));

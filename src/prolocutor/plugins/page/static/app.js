// The chat page: the conversations, the one that is shown, and how its answers came about.

import "./drawings.js";
import { ALONE, Ask } from "./asks.js";
import { isQuiet, setQuiet } from "./bell.js";
import { useChoices } from "./choices.js";
import { loadChoices } from "./chosen.js";
import { Composer } from "./composer.js";
import { EMPTY, firstId, lastId } from "./conversation.js";
import { keep, kept } from "./kept.js";
import { Later } from "./later.js";
import { Log } from "./log.js";
import { loadInfo } from "./page_info.js";
import { SignIn, VisitorLinks } from "./signing.js";
import { makeTalk } from "./talk.js";
import { Talks, useTalks } from "./talks.js";
import { setTheme, theme } from "./themes.js";
import { Drawing, html, render, useEffect, useRef, useState } from "./ui.js";
import { addressedConversation, currentConversation, newConversation, pageAddress } from "./visitor.js";

const loadPanel = () => import("./panel.js");
const loadSettings = () => import("./settings.js");
const SIDE = "prolocutor.side";
const NARROW = matchMedia("(max-width: 47.99rem)");
const THEMES = ["system", "light", "dark"];
const LINES = {
  connecting: "Connecting…",
  open: "Connected",
  broken: "The line is broken; trying again",
  refused: "A token is needed",
  "sign-in": "Not signed in",
};

function App({ name }) {
  const talks = useTalks();
  const [state, line, talk] = useTalk(talks.renew);
  const [panel, setPanel] = useState(null);
  const [side, setSide] = useSide();
  const [target, setTarget] = useState(null);
  const origin = useRef(null);
  const menu = useRef(null);
  const why = (uttId) => {
    origin.current = document.activeElement;
    setPanel(uttId);
  };
  const close = () => {
    setPanel(null);
    origin.current?.focus();
  };
  const show = (id, message = null) => {
    setPanel(null);
    setTarget(message === null ? null : { message });
    if (NARROW.matches) setSide(false);
    if (id === currentConversation() && message !== null) return talk.reach(message);
    history.pushState(null, "", pageAddress(id));
    return talk.turnTo(id, message);
  };
  const begin = () => {
    show(newConversation());
    document.getElementById("words")?.focus();
  };
  const leaving = useRef(false);
  const leaveSide = () => {
    leaving.current = true;
    setSide(false);
  };
  useEffect(() => {
    if (!side && leaving.current) menu.current.focus();
    leaving.current = false;
  }, [side]);
  useEffect(() => {
    const moved = () => {
      setTarget(null);
      talk.turnTo(addressedConversation());
    };
    addEventListener("popstate", moved);
    return () => removeEventListener("popstate", moved);
  }, []);
  const escape = useRef(null);
  escape.current = () => (side && NARROW.matches ? leaveSide() : talk.stop());
  useEffect(() => {
    const pressed = (event) => {
      if (event.key !== "Escape" || event.defaultPrevented || document.querySelector("dialog[open]")) return;
      escape.current();
    };
    addEventListener("keydown", pressed);
    return () => removeEventListener("keydown", pressed);
  }, []);
  const [settings, setSettings] = useState(false);
  useChoices();
  const title = [...talks.items, ...talks.pinned].find((one) => one.id === currentConversation())?.title;
  return html`<div class=${`app ${panel ? "with-panel" : ""} ${side ? "with-talks" : ""}`}>
    ${side && html`<div class="veil" onClick=${leaveSide}></div>
      <${Talks} talks=${talks} turnTo=${show} begin=${begin} goTo=${show} close=${leaveSide} links=${html`<${VisitorLinks} line=${line} />`} />`}
    <main inert=${side && NARROW.matches}>
      <header class="top">
        <button class="round" ref=${menu} aria-label="Conversations" aria-expanded=${side} aria-controls="talks"
          title="Conversations" onClick=${() => setSide(!side)}><${Drawing} name="menu" /></button>
        <h1>${name}${title && html`<small> ${title}</small>`}</h1>
        <span class="line ${line}" role="status">${LINES[line]}</span>
        <span class="wide"><${VisitorLinks} line=${line} /></span>
        <${Theme} />
        <${Sounds} />
        <button class="round" aria-label="Settings" title="Settings" aria-haspopup="dialog" onClick=${() => setSettings(true)}><${Drawing} name="gear" /></button>
      </header>
      ${line === "refused" || line === "sign-in"
        ? html`<${SignIn} enter=${talk.enter} provider=${line === "sign-in"} />`
        : html`<${Log} state=${state} name=${name} say=${talk.say} begin=${begin} again=${talk.again} why=${why} target=${target}
              earlier=${firstId(state) > 0 && talk.earlier} />
            <footer>
              ${state.ask && !state.busy && html`<${Ask} key=${`${state.ask}-${lastId(state)}`} kind=${state.ask} say=${talk.say} />`}
              ${!(ALONE.has(state.ask) && !state.busy) && html`<${Composer} say=${talk.say} ask=${state.ask} busy=${state.busy} stop=${talk.stop} askOnly=${talk.askOnly} />`}
            </footer>`}
    </main>
    ${panel && html`<${Later} load=${loadPanel} back=${false} uttId=${panel} close=${close} />`}
    ${settings && html`<${Later} load=${loadSettings} close=${() => setSettings(false)} />`}
  </div>`;
}

function Sounds() {
  const [quiet, hush] = useState(isQuiet());
  const toggle = () => {
    setQuiet(!quiet);
    hush(!quiet);
  };
  return html`<button class="round not-phone" aria-label="Sounds" aria-pressed=${!quiet} title=${quiet ? "Sounds are off" : "Sounds are on"}
    onClick=${toggle}><${Drawing} name=${quiet ? "mute" : "bell"} /></button>`;
}

function Theme() {
  const [chosen, choose] = useState(theme());
  const next = () => {
    const after = THEMES[(THEMES.indexOf(chosen) + 1) % THEMES.length];
    setTheme(after);
    choose(after);
  };
  return html`<button class="round not-phone" aria-label=${`Theme: ${chosen}`} title=${`Theme: ${chosen}`} onClick=${next}>
    <${Drawing} name="theme" /></button>`;
}

// Hold the conversation: its state, the state of the line, and what can be done.
function useTalk(ended) {
  const [state, setState] = useState(EMPTY);
  const [line, setLine] = useState("connecting");
  const held = useRef(null);
  const opened = (now) => {
    setLine(now);
    if (now !== "open") return;
    loadInfo();
    loadChoices();
  };
  held.current ??= makeTalk(setState, opened, ended);
  useEffect(() => held.current.open(), []);
  return [state, line, held.current];
}

// Hold whether the conversations are shown: on a phone when they are asked for, else as before.
function useSide() {
  const [shown, setShown] = useState(!NARROW.matches && kept(SIDE) !== "no");
  const set = (value) => {
    setShown(value);
    if (!NARROW.matches) keep(SIDE, value ? "yes" : "no");
  };
  return [shown, set];
}

render(html`<${App} name=${document.title} />`, document.getElementById("page"));

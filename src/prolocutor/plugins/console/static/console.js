// The console: pages by address, keys, and what all pages stand in.

import { elsewhere, hasKey, offersSignIn, onLine, setKey } from "./api.js";
import "./drawings.js";
import { forget, useFetched } from "./fetching.js";
import { count, setCurrency } from "./figures.js";
import { useKeys } from "./keys.js";
import { keep, kept } from "./kept.js";
import { Later } from "./later.js";
import { PAGES, loadOf } from "./pages.js";
import { Nothing, NotCome, Notices, Waiting } from "./parts.js";
import { address, go, link, useAddress } from "./router.js";
import { setTheme, theme } from "./themes.js";
import { Drawing, html, render, useEffect, useRef, useState } from "./ui.js";

const THEMES = { system: "System theme", light: "Light theme", dark: "Dark theme" };
const loadHelp = () => import("./help.js");
const loadSignIn = () => import("./sign_in.js");
const signOut = () => loadSignIn().then((module) => module.signOut());
const FOLDED = "prolocutor.console.folded";
const SMALL = matchMedia("(max-width: 70rem)");
const NAME = document.body.dataset.name;

function App() {
  const [line, setLine] = useState("open");
  const [visit, setVisit] = useState(0);
  useEffect(() => onLine(setLine), []);
  const enter = (key, keep) => {
    setKey(key, keep);
    forget();
    setVisit((n) => n + 1);
  };
  return html`<${Visit} key=${visit} line=${line} enter=${enter} />`;
}

// One operator at the console, or a form where nobody is known to be one.
function Visit({ line, enter }) {
  const operator = useFetched("/operator", {}, { every: 300 });
  const { value, error } = operator;
  const refused = error && (error.status === 401 || error.status === 403);
  if (refused || (line === "out" && value)) {
    return html`<${Later} load=${loadSignIn} name=${NAME} enter=${enter} provider=${offersSignIn()} refused=${!hasKey() && error?.status === 403}
      wrong=${hasKey() ? error?.message ?? "This key is not known any more." : ""} />`;
  }
  if (!value) return html`<main class="alone">${error ? html`<${NotCome} of=${operator} what="The console" />` : html`<${Waiting} rows=${6} />`}</main>`;
  setCurrency(value.currency);
  return html`<${Shell} operator=${value} line=${line} leave=${hasKey() ? () => enter(null, false) : value.session ? signOut : null} />`;
}

function Shell({ operator, line, leave }) {
  const at = useAddress();
  const [help, setHelp] = useState(false);
  const chat = useChatPage();
  const page = PAGES.find((other) => other.id === at.page);
  const load = page && loadOf(page, at);
  useKeys({
    "?": () => setHelp(true),
    "/": () => {
      const field = document.querySelector("main input[type=search]");
      field?.focus();
      field?.select();
      return Boolean(field);
    },
    ...Object.fromEntries(PAGES.map((one) => [`g ${one.key}`, () => go(link([one.id]))])),
  });
  useEffect(() => {
    document.title = `${page ? page.name : "Console"} · ${NAME}`;
  }, [page]);
  const [folded, fold] = useFold();
  return html`<div class=${`shell ${folded ? "folded" : ""}`}>
    <a class="skip" href="#main" onClick=${toMain}>To the content</a>
    <${Rail} here=${at} operator=${operator} line=${line} leave=${leave} chat=${chat} folded=${folded} fold=${fold} help=${() => setHelp(true)} />
    <main id="main" tabindex="-1">${page ? html`<${Loaded} load=${load} name=${page.name} at=${at} operator=${operator} key=${`${page.id} ${load === page.loadOne}`} />`
      : html`<h1 class="hidden">Console</h1><${Nothing} title="There is no such page"><p><a href=${link(["conversations"])}>To the conversations</a></p></${Nothing}>`}</main>
    <${Notices} />
    ${help && html`<${Later} load=${loadHelp} close=${() => setHelp(false)} />`}
  </div>`;
}

function toMain(event) {
  event.preventDefault();
  document.getElementById("main").focus();
}

// A page whose file comes when it is first opened.
function Loaded({ load, name, at, operator }) {
  const [state, setState] = useState(() => loaded.get(load) ?? {});
  const fetchPage = () => load().then(
    (module) => {
      const come = { Page: module.default };
      loaded.set(load, come);
      setState(come);
    },
    () => setState({ failed: true }),
  );
  useEffect(() => {
    if (!state.Page) fetchPage();
  }, []);
  if (state.Page) return html`<${state.Page} at=${at} operator=${operator} />`;
  if (!state.failed) return html`<h1 class="hidden">${name}</h1><${Waiting} />`;
  return html`<h1 class="hidden">${name}</h1><${Nothing} title="The page did not come"><button class="press" onClick=${() => location.reload()}>Load it again</button></${Nothing}>`;
}
const loaded = new Map();

function Rail({ here, operator, line, leave, chat, folded, fold, help }) {
  const [more, setMore] = useState(false);
  const drawer = useRef(null);
  useEffect(() => setMore(false), [here]);
  useKeys({ Escape: () => more && (setMore(false), true) });
  const others = PAGES.filter((page) => !page.tab);
  const entry = (page) => html`<${Entry} page=${page} here=${here.page === page.id} />`;
  return html`<nav class="rail" aria-label="Pages">
    <a class="brand" href=${link(["conversations"])}><strong>${NAME}</strong> <small>Console</small></a>
    <ul class="pages">${PAGES.map((page) => html`<li class=${page.tab ? "" : "not-phone"}>${entry(page)}</li>`)}
      <li class="only-phone"><button class="entry" aria-expanded=${more} onClick=${() => setMore(!more)}><${Drawing} name="more" /><span>More</span></button></li></ul>
    <div class=${`foot ${more ? "open" : ""}`} ref=${drawer}>
      ${more && html`<ul class="only-phone">${others.map((page) => html`<li>${entry(page)}</li>`)}</ul>`}
      ${chat && html`<a class="entry" href="/"><${Drawing} name="chat" /><span>Chat page</span></a>`}
      <${ThemeEntry} />
      <button class="entry not-phone" onClick=${help}><${Drawing} name="key" /><span>Keys</span> <kbd aria-hidden="true">?</kbd></button>
      <button class="entry not-phone" aria-pressed=${folded} title=${folded ? "Show the names" : "Icons alone"} onClick=${fold}><${Drawing} name="fold" /><span>Icons alone</span></button>
      ${leave && html`<button class="entry" onClick=${leave}><${Drawing} name="out" /><span>Sign out</span></button>`}
      <p class=${`line ${line}`} role="status"><span>${line === "open" ? "Connected" : "Not connected"} · ${operator.name}</span></p>
    </div>
  </nav>`;
}

function Entry({ page, here }) {
  const badge = page.badge ?? {};
  const fetched = useFetched(badge.path ?? null, badge.query, { every: badge.every ?? 30 });
  const number = fetched.value ? badge.of(fetched.value) : 0;
  return html`<a class="entry" href=${link([page.id])} aria-current=${here ? "page" : undefined} title=${page.name}>
    <${Drawing} name=${page.drawing} /><span class=${page.short ? "long" : ""}>${page.name}</span>${page.short && html`<span class="short" aria-hidden="true">${page.short}</span>`}
    ${number > 0 && html`<b class=${`number ${badge.wrong ? "wrong-number" : ""}`}>${count(number)}<span class="hidden"> ${badge.means}</span></b>`}</a>`;
}

function ThemeEntry() {
  const [shown, setShown] = useState(theme());
  const names = Object.keys(THEMES);
  const next = () => {
    const chosen = names[(names.indexOf(shown) + 1) % names.length];
    setTheme(chosen);
    setShown(chosen);
  };
  return html`<button class="entry" onClick=${next} title="Another theme"><${Drawing} name="theme" /><span>${THEMES[shown]}</span></button>`;
}

// Hold whether the rail has icons alone: as was chosen here, else where there is little room.
function useFold() {
  const [folded, setFolded] = useState((kept(FOLDED) ?? (SMALL.matches ? "yes" : "no")) === "yes");
  useEffect(() => {
    const fits = () => kept(FOLDED) === null && setFolded(SMALL.matches);
    SMALL.addEventListener("change", fits);
    return () => SMALL.removeEventListener("change", fits);
  }, []);
  const toggle = () => {
    keep(FOLDED, folded ? "no" : "yes");
    setFolded(!folded);
  };
  return [folded, toggle];
}

// Tell whether this assistant has a chat page.
function useChatPage() {
  const [there, setThere] = useState(false);
  useEffect(() => {
    elsewhere("GET", "/api/visitor").then(() => setThere(true), () => {});
  }, []);
  return there;
}

// The file of the page comes while it is found out who looks at it.
const first = PAGES.find((page) => page.id === address().page);
if (first) loadOf(first, address())().catch(() => {});

render(html`<${App} />`, document.getElementById("page"));

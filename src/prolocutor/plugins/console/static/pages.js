// The pages of the console, in the order of its navigation. One file a page, loaded when it is
// opened: its default export is the component, which gets `at` (router.js).
//
// `loadOne`: what is loaded instead where the path goes on after the page. `key`: what follows `g`.
// `tab`: on a phone it has a tab, else it stands under "More". `badge`: a number beside the name:
// `of` makes it from the answer of `path`, `means` says what it counts, `wrong` shows it in red;
// it is fetched every 30 seconds, or as `every` says.

// What all pages but the first look like comes with the first of them that is opened.
const STYLES = ["markdown", "turn", "agents", "live", "plan", "quality"];
let styles = null;

const styled = (load) => () => {
  styles ??= Promise.all(STYLES.map(style)).catch((error) => {
    styles = null;
    throw error;
  });
  return Promise.all([load(), styles]).then(([module]) => module);
};

function style(name) {
  return new Promise((come, fail) => {
    const sheet = Object.assign(document.createElement("link"), { rel: "stylesheet", href: `/console/files/${name}.css`, onload: come });
    sheet.onerror = () => (sheet.remove(), fail(new Error(`${name}.css did not come`)));
    document.head.append(sheet);
  });
}

// Tell whether an agent of the list needs somebody to look at it.
export const isIll = (one) => ["alone", "failing", "trying"].includes(one.state);

export const PAGES = [
  {
    id: "conversations", name: "Conversations", short: "Talks", drawing: "talk", key: "c", tab: true,
    load: () => import("./conversations.js"), loadOne: styled(() => import("./conversation.js")),
    badge: { path: "/counts", every: 10, of: (counts) => counts.waits, means: "want a person", wrong: true },
  },
  { id: "live", name: "Live", drawing: "live", key: "l", tab: true, load: styled(() => import("./live.js")) },
  {
    id: "agents", name: "Agents", drawing: "agents", key: "a", tab: true,
    load: styled(() => import("./agents.js")),
    badge: { path: "/agents", of: (list) => list.items.filter(isIll).length, means: "are ill", wrong: true },
  },
  {
    id: "quality", name: "Quality", drawing: "quality", key: "q", tab: true,
    load: styled(() => import("./quality.js")),
    badge: { path: "/work", query: { limit: 1 }, of: (work) => work.questions, means: "questions to look at" },
  },
  { id: "figures", name: "Figures", drawing: "figures", key: "f", load: styled(() => import("./over_time.js")) },
  {
    id: "evaluations", name: "Evaluations", drawing: "runs", key: "e",
    load: styled(() => import("./evaluations.js")),
  },
  { id: "plan", name: "Plan", drawing: "plan", key: "p", load: styled(() => import("./plan.js")) },
];

// Give what loads a page: that of one of its things where the path goes on.
export const loadOf = (page, at) => (page.loadOne && at.rest.length ? page.loadOne : page.load);

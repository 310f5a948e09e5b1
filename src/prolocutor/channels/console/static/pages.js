// The pages of the console, in the order of its navigation. One file a page, loaded when it is
// opened: its default export is the component, which gets `at` (router.js).
//
// `key`: what follows `g`. `tab`: on a phone it has a tab, else it stands under "More". `badge`: a
// number beside the name: `of` makes it from the answer of `path`, `means` says what it counts,
// and `wrong` shows it in red.

export const PAGES = [
  {
    id: "conversations", name: "Conversations", short: "Talks", drawing: "talk", key: "c", tab: true,
    load: () => import("./conversations.js"),
    badge: { path: "/counts", of: (counts) => counts.waits, means: "want a person", wrong: true },
  },
];

// The console's own drawings beside those that all pages have.

import { addDrawings } from "./ui.js";

addDrawings({
  talk: "M4 4h16a2 2 0 0 1 2 2v9a2 2 0 0 1-2 2h-8l-5 4v-4H4a2 2 0 0 1-2-2V6c0-1.1.9-2 2-2zm2 4v2h12V8zm0 4v2h8v-2z",
  live: "M3 11h4l3-8 4 18 3-10h4v2h-2.500L14 24 9.700 8 8.500 13H3z",
  agents: "M9 3a4 4 0 1 1 0 8 4 4 0 0 1 0-8zm8 2a3 3 0 1 1 0 6 3 3 0 0 1 0-6zM2 20c0-4 3-7 7-7s7 3 7 7zm15.700 0c0-2.700-.9-5-2.300-6.600.5-.2 1-.4 1.600-.4 3 0 5 2.500 5 7z",
  quality: "M4 5h2.500v2.500H4zm5 0h11v2.500H9zM4 10.700h2.500v2.500H4zm5 0h11v2.500H9zm-5 5.700h2.500v2.500H4zm5 0h7v2.500H9z",
  runs: "M4 20V10h4v10zm6 0V4h4v16zm6 0v-7h4v7z",
  plan: "M3 4h6v5H7v3h10V9h-2V4h6v5h-2v5h-6v2h2v5H9v-5h2v-2H5V9H3z",
  search: "M10 3a7 7 0 0 1 5.600 11.200l5.100 5.100-1.400 1.400-5.100-5.100A7 7 0 1 1 10 3zm0 2a5 5 0 1 0 0 10 5 5 0 0 0 0-10z",
  fold: "M3 4h18v16H3zm2 2v12h3V6zm5 0v12h9V6zm6.500 3v6l-3.500-3z",
  back: "m14 5 1.500 1.500L10 12l5.500 5.500L14 19l-7-7z",
  again: "M12 5V1l6 5-6 5V7a5 5 0 1 0 5 5h2a7 7 0 1 1-7-7z",
  hand: "M12 2a4 4 0 1 1 0 8 4 4 0 0 1 0-8zM4 21c0-5 3.500-9 8-9s8 4 8 9z",
  chat: "M4 4h16a2 2 0 0 1 2 2v9a2 2 0 0 1-2 2h-8l-5 4v-4H4a2 2 0 0 1-2-2V6c0-1.100.9-2 2-2z",
  pause: "M6 4h4v16H6zm8 0h4v16h-4z",
  more: "M4 10h4v4H4zm6 0h4v4h-4zm6 0h4v4h-4z",
  check: "m9 16.200-4-4L3.500 13.700 9 19.200 20.500 7.700 19 6.200z",
  copy: "M8 3h11a2 2 0 0 1 2 2v11h-2V5H8zM5 7h9a2 2 0 0 1 2 2v10a2 2 0 0 1-2 2H5a2 2 0 0 1-2-2V9c0-1.100.9-2 2-2z",
  bin: "M9 3h6l1 2h4v2H4V5h4zM6 9h12l-1 12H7z",
  theme: "M12 2a10 10 0 1 0 0 20 10 10 0 0 0 0-20zm0 2.500v15a7.500 7.500 0 0 1 0-15z",
  out: "M4 3h9v2H6v14h7v2H4zm11.500 4L21 12l-5.500 5-1.400-1.500L17 13H9v-2h8l-2.900-2.500z",
  key: "M8 7a5 5 0 1 1 0 10A5 5 0 0 1 8 7zm0 3a2 2 0 1 0 0 4 2 2 0 0 0 0-4zm4.700 1H22v2h-2v3h-3v-3h-4.300z",
});

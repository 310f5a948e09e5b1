// All conversations: found by filters that stand in the address, walked by keys.

import { usePages } from "./fetching.js";
import { When, duration } from "./figures.js";
import { useRowKeys } from "./keys.js";
import { Fresh, More, Nothing, Signs, States, listOf } from "./parts.js";
import { link, useScroll } from "./router.js";
import { text } from "./safe.js";
import { html, useRef } from "./ui.js";

export default function Conversations() {
  const found = usePages("/conversations", {}, { id: (one) => one.dialog_id, every: 10 });
  const box = useRef(null);
  useScroll(box, Boolean(found.value));
  useRowKeys(box, found.more);
  return html`<div class="page conversations"><header class="head"><h1>Conversations</h1></header>
    <${States} of=${found} what="The list" empty=${html`<${Nothing} title="Nobody has said anything yet" />`}>
      <${Fresh} list=${found} />
      <div class="rows" ref=${box}><ol>${listOf(found.value).map((one) => html`<li class="row" key=${one.dialog_id}>
        <a class="said" data-row=${one.dialog_id} href=${link(["conversations", one.dialog_id])}>${text(one.said)}</a>
        <span>${duration(one.slowest)}</span><${Signs} flags=${one.flags} failed=${one.failed} /><${When} at=${one.at} /></li>`)}</ol>
        <${More} list=${found}>the latest first</${More}></div>
    </${States}></div>`;
}

// The tags and the comment of a turn; all turns of one tag are a data set.

import { send } from "./api.js";
import { useFetched } from "./fetching.js";
import { wholeTime } from "./figures.js";
import { Confirm, listOf } from "./parts.js";
import { link } from "./router.js";
import { text } from "./safe.js";
import { html, useRef, useState } from "./ui.js";

export function Note({ turn, operator, put }) {
  const [open, setOpen] = useState(false);
  const { tags = [], comment = "", by, at } = turn.note ?? {};
  const noted = listOf(tags).length > 0 || comment;
  return html`${operator.writes && html`<button class="press small-press" onClick=${() => setOpen(true)}>${noted ? "Change the note…" : "Tag or comment…"}</button>`}
    ${noted && html`<p class="noted" role="note">${listOf(tags).map((tag) => html`<a class="chip" href=${link(["conversations"], { tag })}>${text(tag)}</a> `)}
      <span dir="auto">${text(comment)}</span> <small class="faint" title=${wholeTime(at)}>${text(by)}</small></p>`}
    ${open && html`<${Form} turn=${turn} put=${put} close=${() => setOpen(false)} />`}`;
}

function Form({ turn, put, close }) {
  const [tags, comment] = [useRef(null), useRef(null)];
  const known = Object.keys(useFetched("/tags").value?.tags ?? {});
  const act = async () => {
    const given = tags.current.value.split(",").map((one) => one.trim()).filter(Boolean);
    put({ note: await send("PUT", `/turns/${encodeURIComponent(turn.utt_id)}/note`, { tags: given, comment: comment.current.value }) });
  };
  return html`<${Confirm} title="A note of this turn" press="Keep it" act=${act} close=${close}>
    <label class="field"><span>Tags, with commas between; all turns of one tag are a data set to evaluate with</span>
      <input ref=${tags} type="text" maxlength="250" list="known-tags" defaultValue=${listOf(turn.note?.tags).join(", ")} /></label>
    <datalist id="known-tags">${known.map((tag) => html`<option value=${tag}></option>`)}</datalist>
    <label class="field"><span>Comment, for your team</span><textarea ref=${comment} rows="3" maxlength="4000" defaultValue=${text(turn.note?.comment)}></textarea></label></${Confirm}>`;
}

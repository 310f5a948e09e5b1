// What one side said in a turn, and what can be done with it.

import { CopyButton } from "./copying.js";
import { Face } from "./faces.js";
import { Message, Own } from "./messages.js";
import { speakers, text } from "./safe.js";
import { canRead, useReading } from "./speech.js";
import { shortTime, wholeTime } from "./times.js";
import { Drawing, html, useLayoutEffect, useRef, useState } from "./ui.js";
import { ask } from "./visitor.js";

export function OwnGroup({ group, say, lit }) {
  const [editing, setEditing] = useState(false);
  const opener = useRef(null);
  const [item] = group.items;
  const said = text(item.frame.command);
  const editable = group.answer !== null && item.frame.json === undefined && !said.startsWith("\\");
  const leave = () => {
    setEditing(false);
    opener.current?.focus();
  };
  const anew = (words) => {
    setEditing(false);
    say({ type: "command", text: words, again_of: group.answer }, words);
  };
  return html`<article class=${`group own ${item.key === lit ? "lit" : ""}`} aria-label="You" tabindex="-1" data-at=${item.key}>
    ${editing ? html`<${Editor} said=${said} save=${anew} leave=${leave} />` : html`<${Own} said=${item.frame.command} />`}
    ${!editing && html`<div class="beside">
      <${When} time=${group.time} />
      <span class="actions">
        ${editable && html`<button class="small" ref=${opener} aria-label="Edit and ask again" title="Edit and ask again"
          onClick=${() => setEditing(true)}><${Drawing} name="pen" /></button>`}
        <${CopyButton} source=${said} />
      </span></div>`}
  </article>`;
}

function Editor({ said, save, leave }) {
  const field = useRef(null);
  useLayoutEffect(() => {
    field.current.focus();
    field.current.setSelectionRange(said.length, said.length);
  }, []);
  const submit = (event) => {
    event.preventDefault();
    const words = field.current.value;
    if (words.trim()) save(words);
  };
  const pressed = (event) => {
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing) submit(event);
    if (event.key !== "Escape") return;
    event.stopPropagation();
    leave();
  };
  return html`<form class="editor" onSubmit=${submit}>
    <textarea ref=${field} rows="3" maxlength="100000" aria-label="Other words" defaultValue=${said} onKeyDown=${pressed}></textarea>
    <div class="pair"><button class="press" type="button" onClick=${leave}>Leave it</button>
      <button class="press strong">Ask again</button></div>
  </form>`;
}

export function TheirGroup({ group, say, open, why, lit }) {
  const shown = group.items.filter((item) => item.frame.type !== "choice" || open.has(item.key));
  if (!shown.length) return null;
  const marked = group.items.some((item) => item.key === lit);
  const at = group.items.map((item) => item.key).join(" ");
  return html`<article class=${`group theirs ${marked ? "lit" : ""}`} aria-label="Assistant" tabindex="-1" data-at=${at}>
    <${Face} name=${group.icon} />
    <div class="messages">
      ${shown.map((item) => html`<${Message} key=${item.key} frame=${item.frame} say=${say} open=${open.has(item.key)} />`)}
      <div class="beside">
        ${group.icon && html`<span class="by">${speakers({ ...group.items[0].frame, icon: group.icon })}</span>`}
        <${When} time=${group.time} />
        ${group.uttId && html`<${Actions} group=${group} say=${say} why=${why} />`}
      </div>
    </div>
  </article>`;
}

function Actions({ group, say, why }) {
  const { uttId, asked } = group;
  const [rated, setRated] = useState(0);
  const rate = async (rating) => {
    const before = rated;
    setRated(rating);
    const body = JSON.stringify({ utt_id: uttId, rating });
    const headers = { "Content-Type": "application/json" };
    await ask("/rating/reply", { method: "POST", body, headers }).catch(() => setRated(before));
  };
  const source = group.items.map((item) => text(item.frame.text)).filter(Boolean).join("\n\n");
  const thumb = (rating, name, label) => html`<button class="small" aria-label=${label}
    aria-pressed=${rated === rating} title=${label} onClick=${() => rate(rating)}><${Drawing} name=${name} /></button>`;
  const words = asked && asked.frame.json === undefined ? text(asked.frame.command) : "";
  const anew = () => say({ type: "command", text: words, again_of: uttId }, words);
  return html`<span class="actions">
    ${thumb(1, "up", "A good answer")}${thumb(-1, "down", "A bad answer")}
    ${source && html`<${CopyButton} source=${source} />`}
    ${words && !words.startsWith("\\") && html`<button class="small" aria-label="Ask the same again" title="Ask the same again"
      onClick=${anew}><${Drawing} name="again" /></button>`}
    ${source && canRead && html`<${ReadAloud} source=${source} />`}
    <button class="small" aria-label="How this answer came about" title="How this answer came about"
      onClick=${() => why(uttId)}><${Drawing} name="why" /></button>
  </span>`;
}

function ReadAloud({ source }) {
  const [reading, toggle] = useReading(source);
  return html`<button class="small" aria-label="Read aloud" aria-pressed=${reading} title=${reading ? "End reading" : "Read aloud"}
    onClick=${toggle}><${Drawing} name=${reading ? "stop" : "speak"} /></button>`;
}

function When({ time }) {
  if (!time) return null;
  return html`<time dateTime=${new Date(time).toISOString()} title=${wholeTime(time)}>${shortTime(time)}</time>`;
}

// "Keep as test": a stored conversation, or that up to a reply, as a cassette for `prolocutor test`.

import { send } from "./api.js";
import { useDoorData } from "./fetching.js";
import { plural } from "./figures.js";
import { tell } from "./parts.js";
import { saveFile } from "./files.js";
import { text } from "./safe.js";
import { Drawing, html, useState } from "./ui.js";

// `of` is {utt_id} or {dialog_id}. Nothing where the plug-in of tests is not there, or the operator only reads.
export function KeepAsTest({ of, operator }) {
  const [busy, setBusy] = useState(false);
  const found = useDoorData(operator, "/tests");
  if (!found.value || !operator.writes) return null;
  const keep = async () => {
    setBusy(true);
    try {
      const kept = await send("POST", "/tests", of);
      if (!kept.file) saveFile(`${kept.name}.cassette`, "application/jsonl", kept.cassette);
      tell(`${plural(kept.turns, "turn")} kept as ${text(kept.file ?? `${kept.name}.cassette`)}: prolocutor test runs it.`);
    } catch (error) {
      tell(error.message, { wrong: true });
    } finally {
      setBusy(false);
    }
  };
  return html`<button class="press small-press" onClick=${keep} disabled=${busy}><${Drawing} name="check" />Keep as test${of.utt_id ? " up to here" : ""}</button>`;
}

// What is found as a file: conversations for spreadsheets, tagged turns as a data set. Cells that a
// spreadsheet would reckon are text.

import { get } from "./api.js";
import { plural } from "./figures.js";
import { asked } from "./filters.js";
import { tell } from "./parts.js";
import { saveFile } from "./files.js";
import { text } from "./safe.js";

const COLUMNS = ["at", "user", "channel", "dialog_id", "said", "reply", "spoke", "turns", "slowest", "cost", "flags", "failed"];
const MOST = 10_000;

// Fetch all rows that some filters find, up to 10,000, and give them to the operator.
export async function exportRows(filters) {
  const rows = [];
  let cursor = null;
  do {
    const page = await get("/conversations", { ...asked(filters), limit: 200, ...(cursor ? { cursor } : {}) });
    rows.push(...page.items);
    cursor = page.next;
  } while (cursor && rows.length < MOST);
  const lines = [COLUMNS, ...rows.map((one) => COLUMNS.map((name) => value(name, one[name])))];
  saveFile("conversations.csv", "text/csv", lines.map((line) => `${line.map(cell).join(",")}\r\n`).join(""));
  tell(`${plural(rows.length, "conversation")} ${rows.length === 1 ? "is" : "are"} in your downloads${cursor ? ": the newest, there are more" : ""}.`);
  return true;
}

// Give the operator the turns that have a tag, as `prolocutor evaluate run --data jsonl:` reads them.
export async function exportTurns(tag) {
  saveFile(`${tag}.jsonl`, "application/jsonl", await get("/data-set", { tag }));
  tell(`The turns tagged “${tag}” are in your downloads: prolocutor evaluate run reads them.`);
  return true;
}

const value = (name, one) => (name === "at" && Number.isFinite(one) ? new Date(1000 * one).toISOString() : Array.isArray(one) ? one.join(" ") : text(one));
const cell = (one) => `"${(/^[=+\-@\t\r]/.test(one) && !Number.isFinite(Number(one)) ? `'${one}` : one).replaceAll('"', '""')}"`;

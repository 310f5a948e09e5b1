// A list of conversations as a file for spreadsheets. Cells that a spreadsheet would reckon are text.

import { get } from "./api.js";
import { plural } from "./figures.js";
import { asked } from "./filters.js";
import { tell } from "./parts.js";
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
  const address = URL.createObjectURL(new Blob([lines.map((line) => `${line.map(cell).join(",")}\r\n`).join("")], { type: "text/csv" }));
  Object.assign(document.createElement("a"), { href: address, download: "conversations.csv" }).click();
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
  tell(`${plural(rows.length, "conversation")} ${rows.length === 1 ? "is" : "are"} in your downloads${cursor ? ": the newest, there are more" : ""}.`);
  return true;
}

const value = (name, one) => (name === "at" && Number.isFinite(one) ? new Date(1000 * one).toISOString() : Array.isArray(one) ? one.join(" ") : text(one));
const cell = (one) => `"${(/^[=+\-@\t\r]/.test(one) && !Number.isFinite(Number(one)) ? `'${one}` : one).replaceAll('"', '""')}"`;

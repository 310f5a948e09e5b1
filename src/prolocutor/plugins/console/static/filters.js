// The filters of conversations as they stand in the address, and as the server takes them.

const NAMES = ["kind", "words", "user", "agent", "channel", "tag", "order", "time", "since", "until"];
const HOUR = 3600;
const TIMES = { "24h": 24, "7d": 168, "30d": 720 };

export const KINDS = [["", "All"], ["waits", "Wants a person"], ["down", "Thumbs down"], ["none", "No answer"], ["failed", "Failures"], ["slow", "Slow"]];

// The doors by the names that dialogs have for them.
export const CHANNELS = [
  ["almond", "Page and Almond"], ["http_client", "DeepPavlov"], ["openai", "OpenAI"], ["a2a", "A2A"], ["mcp", "MCP"],
  ["agui", "AG-UI"], ["telegram", "Telegram"], ["parlai", "ParlAI"], ["cmd_client", "Command line"],
];
export const channelName = (channel) => CHANNELS.find(([name]) => name === channel)?.[1];

// Give those of a query that are filters, as they stand in the address.
export function filtersOf(query) {
  return Object.fromEntries(NAMES.map((name) => [name, query.get(name)]).filter(([, value]) => value));
}

// Give them as `/conversations` takes them. A time such as `7d` begins at a whole hour, so that the
// same address asks for the same for an hour.
export function asked({ time, since, until, ...others }) {
  if (since || until) return { ...others, since, until };
  return TIMES[time] ? { ...others, since: (Math.floor(Date.now() / 1000 / HOUR) - TIMES[time]) * HOUR } : others;
}

// Give the hours that the histogram shows: those that are chosen, else 7 days.
export function span({ time, since, until }) {
  const next = (Math.floor(Date.now() / 1000 / HOUR) + 1) * HOUR;
  if (since && until) {
    const margin = Math.max(12 * HOUR, until - since);
    return { since: whole(since - margin), until: Math.min(next, whole(Number(until) + margin)) };
  }
  return { since: next - (TIMES[time] ?? TIMES["7d"]) * HOUR, until: next };
}

const whole = (at) => Math.floor(at / HOUR) * HOUR;

// Give what was typed for a search: words, a person as `@name`, or the id of a conversation.
export function searched(typed) {
  const words = typed.trim();
  if (/^[0-9a-f]{24,32}$/i.test(words)) return { dialog: words.toLowerCase() };
  if (words.startsWith("@") && words.length > 1) return { user: words.slice(1), words: "" };
  return { words, user: "" };
}

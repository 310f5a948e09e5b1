// Who sits before the page: the token, the conversation, and requests in their name.

const TOKEN = "prolocutor.token";
const CONVERSATION = "prolocutor.conversation";

const given = new URLSearchParams(location.search);

let token = read(TOKEN);
let conversation = given.get("id") || read(CONVERSATION);

if (given.has("access_token")) {
  setToken(given.get("access_token"));
  given.delete("access_token");
  const rest = given.toString();
  history.replaceState(null, "", location.pathname + (rest ? `?${rest}` : ""));
}

export const timezone = Intl.DateTimeFormat().resolvedOptions().timeZone || null;

// Take a token, or forget it (null).
export function setToken(value) {
  token = value;
  write(TOKEN, value);
}

// Remember the id of the conversation; one that was given in the address is not remembered.
// An anonymous person is known by it alone.
export function setConversation(id) {
  conversation = id;
  if (!given.has("id")) write(CONVERSATION, /^web-/.test(id) ? id : null);
}

// Give the address of the wire, from after the message with this id.
export function wireAddress(after) {
  const query = whose();
  query.set("events", "1");
  if (given.has("skill")) query.set("skill", given.get("skill"));
  if (after !== null) query.set("after", after);
  if (token) query.set("access_token", token);
  return `${location.origin.replace(/^http/, "ws")}/api/conversation?${query}`;
}

// Give one of our own pages with the token, as it is opened in a window of its own.
export function withToken(address) {
  if (!token) return address;
  return `${address}${address.includes("?") ? "&" : "?"}access_token=${encodeURIComponent(token)}`;
}

// Ask the assistant's other addresses: JSON, or an Error that says what is wrong.
export async function ask(address, options = {}) {
  const headers = { ...options.headers };
  if (token) headers.Authorization = `Bearer ${token}`;
  const response = await fetch(`${address}?${whose()}`, { ...options, headers });
  const body = await response.json().catch(() => null);
  if (!response.ok) {
    const refused = new Error(body?.error || `the assistant answered ${response.status}`);
    refused.status = response.status;
    throw refused;
  }
  return body;
}

// Tell whether the assistant would let us in: "in", "out" (a token is needed) or "away".
export async function admission() {
  try {
    await ask("/api/visitor");
    return "in";
  } catch (error) {
    return error.status === 401 || error.status === 403 ? "out" : "away";
  }
}

// Tell whose conversation it is: an operator may speak for another user (`/?user=NAME`).
function whose() {
  const query = new URLSearchParams();
  if (conversation) query.set("id", conversation);
  if (given.has("user")) query.set("user", given.get("user"));
  return query;
}

function read(name) {
  try {
    return localStorage.getItem(name);
  } catch {
    return null;
  }
}

function write(name, value) {
  try {
    if (value === null) localStorage.removeItem(name);
    else localStorage.setItem(name, value);
  } catch {
    // Without storage it is known until the page is left.
  }
}

// Who sits before the page: the token, the conversation, and requests in their name.

import { keep, kept } from "./kept.js";

const TOKEN = "prolocutor.token";
const CONVERSATION = "prolocutor.conversation";
const BEGUN = "prolocutor.begun";

const given = new URLSearchParams(location.search);

let token = kept(TOKEN);
let conversation = given.get("id") || kept(CONVERSATION);
let isGiven = given.has("id");

if (given.has("access_token")) {
  setToken(given.get("access_token"));
  given.delete("access_token");
  const rest = given.toString();
  history.replaceState(null, "", location.pathname + (rest ? `?${rest}` : ""));
}

const ANONYMOUS = /^web-[0-9a-f]{32}/;

// Take a token, or forget it (null).
export function setToken(value) {
  token = value;
  keep(TOKEN, value);
}

// Remember the id of the conversation; one that was given in the address is not remembered.
// An anonymous person is known by it alone.
export function setConversation(id) {
  conversation = id;
  const [person] = ANONYMOUS.exec(id) ?? [null];
  if (!isGiven || person === kept(CONVERSATION)) keep(CONVERSATION, person);
}

// Give the id of the conversation that is shown; null before the assistant has named it.
export function currentConversation() {
  return conversation;
}

// Turn to another conversation of the same person, or (null) to the one without a name.
export function turnTo(id) {
  const known = kept(CONVERSATION);
  conversation = id ?? known;
  isGiven = id !== null;
}

// Give an id for a conversation that is new, as this window remembers.
export function newConversation() {
  const name = [...crypto.getRandomValues(new Uint8Array(6))].map((one) => one.toString(16).padStart(2, "0")).join("");
  const [person] = ANONYMOUS.exec(conversation ?? "") ?? [];
  const id = person ? `${person}.${name}` : name;
  keep(BEGUN, id, "sessionStorage");
  return id;
}

// Tell whether the address names a conversation that was not begun in this window.
export function namesOldConversation() {
  const id = addressedConversation();
  return id !== null && id !== kept(BEGUN, "sessionStorage");
}

// Give the address of the page with a conversation.
export function pageAddress(id) {
  const query = new URLSearchParams(given);
  query.set("id", id);
  return `/?${query}`;
}

// Give the id of the conversation that the address names, null where it names none.
export function addressedConversation() {
  return new URLSearchParams(location.search).get("id");
}

// Give the skill that alone is talked to, null for the whole assistant.
export function currentSkill() {
  return given.get("skill");
}

// Talk to one skill alone, or (null) to the whole assistant, from the next line on.
export function setSkill(name) {
  if (name) given.set("skill", name);
  else given.delete("skill");
  const query = new URLSearchParams(location.search);
  if (name) query.set("skill", name);
  else query.delete("skill");
  const rest = query.toString();
  history.replaceState(null, "", location.pathname + (rest ? `?${rest}` : ""));
}

// Give the address of the wire, from after the message with this id.
export function wireAddress(after) {
  const query = whose();
  query.set("events", "1");
  query.set("hide_welcome", "1"); // the page has a beginning of its own
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

// Ask the assistant's other addresses: JSON, or an Error that says what is wrong, without `status` where
// the server is away.
export async function ask(address, options = {}) {
  const headers = { ...options.headers };
  if (token) headers.Authorization = `Bearer ${token}`;
  const query = whose();
  for (const [name, value] of Object.entries(options.query ?? {})) query.set(name, value);
  const response = await fetch(`${address}?${query}`, { ...options, headers }).catch(away);
  const body = parsed(await response.text().catch(away));
  if (!response.ok) {
    const refused = new Error(body?.error || `the assistant answered ${response.status}`);
    refused.status = response.status;
    refused.code = body?.code;
    throw refused;
  }
  return body;
}

// No answer came, or only its beginning.
function away() {
  throw new Error("The server is away.");
}

function parsed(body) {
  try {
    return JSON.parse(body);
  } catch {
    return null;
  }
}

// Tell whether the assistant would let us in: "in", "out" (a token is needed), "sign-in" (or signing
// in with the identity provider), or "away".
export async function admission() {
  try {
    await ask("/api/visitor");
    return "in";
  } catch (error) {
    if (error.code === "sign_in_needed") return "sign-in";
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

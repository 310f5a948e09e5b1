// The console's endpoints: JSON, with the operator's key where one is needed.

import { keep, kept } from "./kept.js";

const API = "/api/console";
const KEY = "prolocutor.console.key";

const heard = new Set();
let key = kept(KEY, "sessionStorage") ?? kept(KEY);
let line = "open";
let providerKnown = false;

// What was refused, or did not come: `status` is 0 where nobody answered. `passes` tells whether
// trying again may help, `wait` how many seconds the server wants to be left alone.
export class Refused extends Error {
  constructor(text, { status = 0, code = "", field = null, wait = null } = {}) {
    super(text);
    Object.assign(this, { status, code, field, wait });
    this.passes = status === 0 || status === 429 || status >= 500;
  }
}

// Ask for something below `/api/console`; `query` is an object in which empty values are left out.
export async function get(path, query = {}, { signal } = {}) {
  return request("GET", API + path + search(query), { signal });
}

// Change something; the answer is JSON or null.
export async function send(method, path, body = undefined, headers = {}) {
  return request(method, API + path, { body: body === undefined ? undefined : JSON.stringify(body), headers });
}

// Give the address of a socket below `/api/console`.
export function socketAddress(path, query = {}) {
  const whole = key ? { ...query, access_token: key } : query;
  return location.origin.replace(/^http/, "ws") + API + path + search(whole);
}

// Ask for any address of this assistant; null where it has no such.
export async function elsewhere(method, path, options = {}) {
  return request(method, path, options);
}

// Take the operator's key; with `stays` it is left on this device when the window is closed.
export function setKey(value, stays) {
  key = value;
  keep(KEY, stays ? null : value, "sessionStorage");
  keep(KEY, stays ? value : null);
}

export const hasKey = () => Boolean(key);

// Whether people may sign in with an identity provider here, as far as a refusal told.
export const offersSignIn = () => providerKnown;

// Follow the line: "open", "broken" where the last request had no answer, "out" where it was
// refused for want of a key.
export function onLine(changed) {
  heard.add(changed);
  changed(line);
  return () => heard.delete(changed);
}

async function request(method, address, { body, headers = {}, signal } = {}) {
  const all = { ...headers };
  if (key) all.Authorization = `Bearer ${key}`;
  if (body !== undefined) all["Content-Type"] = "application/json";
  let response;
  try {
    response = await fetch(address, { method, body, headers: all, signal, credentials: "same-origin" });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    setLine("broken");
    throw new Refused("The assistant does not answer.", { code: "no_answer" });
  }
  const lines = /ndjson/.test(response.headers.get("Content-Type"));
  const answer = await (lines ? response.text() : response.json()).catch(() => undefined);
  if (answer?.code === "sign_in_needed") providerKnown = true;
  if (response.status === 401) setLine("out");
  else setLine(response.status >= 502 ? "broken" : "open");
  if (response.ok && answer === undefined && response.status !== 204) {
    throw new Refused("What came is not from this assistant.", { code: "no_json" });
  }
  if (response.ok) return answer ?? null;
  throw new Refused(answer?.error || `The assistant answered ${response.status}.`, {
    status: response.status, code: answer?.code ?? "", field: answer?.field ?? null,
    wait: Number(response.headers.get("Retry-After")) || null,
  });
}

function search(query) {
  const pairs = Object.entries(query).filter(([, value]) => value !== "" && value !== null && value !== undefined);
  return pairs.length ? `?${new URLSearchParams(pairs.map(([name, value]) => [name, String(value)]))}` : "";
}

function setLine(now) {
  if (now === line) return;
  line = now;
  heard.forEach((changed) => changed(line));
}

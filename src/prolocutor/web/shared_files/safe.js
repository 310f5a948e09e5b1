// What others wrote, made safe to show: text is text, an address leads where it says or nowhere.

const INTERNAL = [
  /^\/user\/register$/,
  /^\/apps$/,
  /^\/devices\/create$/,
  /^\/devices\/(?:oauth2|configure)\/[\w.-]+$/,
];

// Give anything as text; objects as the JSON that they are.
export function text(value) {
  if (typeof value === "string") return value;
  if (value === null || value === undefined) return "";
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

// Give names in a row: "a", "a and b", "a, b and c".
export function listed(names) {
  return names.length < 2 ? names.join("") : `${names.slice(0, -1).join(", ")} and ${names.at(-1)}`;
}

const LOCAL = "local"; // the name of an operator at the machine itself, which tells a person nothing

// Name who speaks in a message: an operator, or all agents of a reply that was put together.
export function speakers({ icon, skills, handover }) {
  const names = Array.isArray(skills) ? skills.map(text).filter(Boolean) : [];
  return names.length ? listed(names) : text(handover?.by === LOCAL ? "operator" : handover?.by || icon);
}

// Give the address of a page or a file on the web, or null: only http and https, and nothing that
// hides the host behind a name and password.
export function webAddress(value) {
  const url = parsed(value);
  return url && !url.username && !url.password ? url.href : null;
}

// Give the address of one of the assistant's own pages that messages may lead to, or null.
export function internalAddress(value) {
  if (typeof value !== "string" || !value.startsWith("/")) return null;
  const url = parsed(value);
  if (!url || url.origin !== location.origin) return null;
  return INTERNAL.some((known) => known.test(url.pathname)) ? url.pathname + url.search : null;
}

// Give the address of a file that was uploaded here, or null.
export function uploadedAddress(value) {
  const url = parsed(value);
  const ours = url && /^\/uploads\/[0-9a-f]{32}\.(?:png|jpg|gif|webp|pdf|txt|csv)$/.test(url.pathname);
  return ours ? url.pathname : null;
}

const FILES = { __proto__: null, pdf: "PDF", txt: "text", csv: "table" };

// Name the kind of an uploaded file by its address.
export const uploadKind = (address) => FILES[address.split(".").at(-1)] ?? "picture";

// Give the address of a service's icon, or null where the name cannot be one.
export function iconAddress(name) {
  const usable = typeof name === "string" && /^[^/\\]{1,200}$/.test(name) && !/^\.+$/.test(name);
  return usable ? `/icons/${encodeURIComponent(name)}` : null;
}

// Cut a text into pieces: {text} and {text, href}.
export function pieces(value) {
  return text(value)
    .split(/(https?:\/\/[^\s<>"']*[^\s<>"'.,;:!?)\]}])/)
    .map((part, position) => ({ text: part, href: position % 2 ? webAddress(part) : null }))
    .filter((piece) => piece.text);
}

function parsed(value) {
  if (typeof value !== "string" || /[\u0000-\u0020\u007f\\]/.test(value.trim())) return null;
  const address = value.trim();
  if (!/^https?:\/\//i.test(address) && !/^\/(?!\/)/.test(address)) return null;
  try {
    const url = new URL(address, location.href);
    return url.protocol === "http:" || url.protocol === "https:" ? url : null;
  } catch {
    return null;
  }
}

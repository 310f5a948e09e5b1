// How an answer of each kind is written down, so that the assistant understands it for certain.

import { ask } from "./visitor.js";

const LARGEST = 900_000;
const SIDES = [1600, 1000, 500];
const GOOD = 0.85;
const TEXTS = { txt: "text/plain", csv: "text/csv" };
const TAKEN = [/^\x89PNG\r\n\x1a\n/, /^\xff\xd8\xff/, /^GIF8[79]a/, /^%PDF-/, /^RIFF[^]{4}WEBP/];

export const MASK = "••••••••";

// Each gives [frame, what is shown of it].

export function words(said) {
  return [{ type: "command", text: said }, said];
}

export function special(name, title) {
  return parsed(["bookkeeping", "special", `special:${name}`], {}, title);
}

// A password goes as a value beside the words, so that the words can be shown to all.
export function password(secret) {
  return parsed(["bookkeeping", "answer", "QUOTED_STRING_0"], { QUOTED_STRING_0: secret }, MASK);
}

export function place({ latitude, longitude }) {
  const display = `${latitude.toFixed(5)}, ${longitude.toFixed(5)}`;
  const value = { latitude, longitude, display };
  return parsed(["bookkeeping", "answer", "LOCATION_0"], { LOCATION_0: value }, `Here (${display})`);
}

function parsed(code, entities, title) {
  return [{ type: "parsed", json: { code, entities }, title }, title];
}

// Ask the browser where this is; an Error says why it does not tell.
export function whereabouts() {
  return new Promise((resolve, reject) => {
    const refused = (error) =>
      reject(new Error(error.code === 1 ? "You did not allow it." : "Your place cannot be found."));
    if (!navigator.geolocation) return refused({});
    navigator.geolocation.getCurrentPosition((found) => resolve(found.coords), refused, {
      timeout: 15_000,
      maximumAge: 60_000,
    });
  });
}

// Upload a file and give its address; an Error says why it was not taken.
export const upload = async (file) => uploadFitting(await fitting(file));

// Upload what `fitting` gave.
export async function uploadFitting(body) {
  const headers = { "Content-Type": body.type || "application/octet-stream" };
  const { url } = await ask("/uploads", { method: "POST", body, headers });
  return new URL(url, location.href).href;
}

// Give a file as it can be uploaded; an Error says why it cannot. Photographs are drawn anew: they become
// small enough, and lose the place where they were taken.
export async function fitting(file) {
  const [, ending] = /\.(txt|csv)$/i.exec(file.name ?? "") ?? [];
  if (ending && file.size <= LARGEST) return new Blob([file], { type: TEXTS[ending.toLowerCase()] });
  if (ending) throw new Error("This text is too large: 900 kB at most.");
  const isTaken = await hasTakenType(file);
  if (isTaken && file.type !== "image/jpeg" && file.size <= LARGEST) return file;
  if (file.type === "application/pdf") throw new Error("This PDF is too large: 900 kB at most.");
  let picture;
  try {
    picture = await createImageBitmap(file);
  } catch {
    if (isTaken && file.size <= LARGEST) return file;
    throw new Error("Pictures (PNG, JPEG, GIF, WebP), PDF and texts (.txt, .csv) are taken.");
  }
  for (const side of SIDES) {
    const smaller = await drawn(picture, Math.min(1, side / Math.max(picture.width, picture.height)));
    if (smaller.size <= LARGEST) return smaller;
  }
  throw new Error("This picture is too large.");
}

// Tell by its first bytes whether the assistant takes a file as it is, as the assistant itself does.
async function hasTakenType(file) {
  const head = String.fromCharCode(...new Uint8Array(await file.slice(0, 12).arrayBuffer()));
  return TAKEN.some((beginning) => beginning.test(head));
}

function drawn(picture, scale) {
  const canvas = new OffscreenCanvas(
    Math.max(1, Math.round(picture.width * scale)),
    Math.max(1, Math.round(picture.height * scale)),
  );
  canvas.getContext("2d").drawImage(picture, 0, 0, canvas.width, canvas.height);
  return canvas.convertToBlob({ type: "image/jpeg", quality: GOOD });
}

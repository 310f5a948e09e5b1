// What the page asks once of the assistant: who speaks, what to begin with, what is switched on.

import { setPictured } from "./faces.js";
import { useEffect, useState } from "./ui.js";
import { ask } from "./visitor.js";

const NOTHING = { agents: [], starters: [], voice: false };

let info = NOTHING;
const heard = new Set();

export async function loadInfo() {
  const found = await ask("/api/page").catch(() => null);
  if (!Array.isArray(found?.agents)) return;
  info = { ...NOTHING, ...found };
  setPictured(info.agents.filter((one) => one?.icon).map((one) => one.name));
  heard.forEach((one) => one(info));
}

// Give what is known, and draw again when it changes.
export function useInfo() {
  const [known, setKnown] = useState(info);
  useEffect(() => {
    setKnown(info);
    heard.add(setKnown);
    return () => heard.delete(setKnown);
  }, []);
  return known;
}

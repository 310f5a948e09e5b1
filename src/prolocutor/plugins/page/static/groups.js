// What was said, cut into what is drawn: groups of one speaker, lines of days, folds of old versions.

import { dayOf, timeOfId } from "./times.js";

// Give groups, days and folds in their order: {key, own, items, uttId, icon, time, asked, answer},
// {key, day}, {key, fold: [...]}. `asked` are the words that a reply answers, `answer` the id of the
// reply to words.
export function grouped(items) {
  return drawn(folded(linked(items)));
}

// Give items with what belongs to them: the time, and for words their reply and the other way round.
function linked(items) {
  let own = null;
  const found = items.map((item) => {
    const isOwn = item.frame.type === "command";
    const uttId = !isOwn && typeof item.frame.utt_id === "string" ? item.frame.utt_id : null;
    const time = timeOfId(uttId) ?? item.time;
    const one = { ...item, uttId, own: isOwn, time, asked: uttId ? own : null, answer: null };
    if (isOwn) own = one;
    if (own && uttId && own.answer === null) {
      own.answer = uttId;
      own.time = timeOfId(uttId) ?? own.time;
    }
    return one;
  });
  return found;
}

// Put away what was said anew: from the words that a later input replaces up to that input.
function folded(items) {
  const shown = [];
  for (const item of items) {
    const replaced = item.own ? item.frame.again_of : null;
    const reply = replaced ? shown.findIndex((one) => one.uttId === replaced) : -1;
    const from = reply < 0 ? -1 : shown.findLastIndex((one, at) => at <= reply && one.own);
    if (from >= 0) {
      const old = shown.splice(from);
      shown.push({ key: `f${item.key}`, fold: old });
    }
    shown.push(item);
  }
  return shown;
}

function drawn(nodes) {
  const groups = [];
  let day = null;
  for (const node of nodes) {
    const time = node.fold ? node.fold[0].time : node.time;
    if (time && dayOf(time) !== day) {
      day = dayOf(time);
      groups.push({ key: `d${node.key}`, day: time });
    }
    if (node.fold) {
      groups.push({ key: node.key, fold: drawn(node.fold).filter((one) => !one.day), count: node.fold.length });
      continue;
    }
    const last = groups.at(-1);
    const icon = node.frame.icon ?? null;
    const goesOn = !node.own && last?.items && !last.own && last.uttId === node.uttId && last.icon === icon;
    if (goesOn) {
      last.items.push(node);
      continue;
    }
    const { key, own, uttId, asked, answer } = node;
    groups.push({ key, own, uttId, icon, time, asked, answer, items: [node] });
  }
  return groups;
}

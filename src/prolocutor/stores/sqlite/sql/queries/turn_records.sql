-- Records of turns: what the writer adds, counts and deletes, and what operators read.

-- name: turn_place
SELECT utterance, dialog FROM utterances WHERE utt_id = ? AND by_bot;

-- name: dialog_number
SELECT dialog FROM dialogs WHERE dialog_id = ?;

-- name: add_turns
INSERT OR IGNORE INTO turns VALUES (?, ?, ?, ?, ?, ?);

-- name: add_facts
INSERT INTO facts VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (dialog) DO UPDATE SET
    at = max(at, excluded.at),
    turns = turns + excluded.turns,
    slowest = max(slowest, excluded.slowest),
    cost = cost + excluded.cost,
    failed = failed + excluded.failed,
    flags = flags | excluded.flags,
    last = max(coalesce(last, 0), excluded.last);

-- The record of a new dialog's first turn may be lost with the process, and with it the row here.
-- name: add_lost_facts
INSERT INTO facts
SELECT d.dialog, (julianday(u.date_time) - 2440587.5) * 86400.0,
    (julianday(d.date_start) - 2440587.5) * 86400.0,
    (SELECT count(*) FROM utterances WHERE dialog = d.dialog AND by_bot),
    0, 0, 0, 0, u.utterance, d.channel_type
FROM dialogs AS d JOIN utterances AS u ON u.utterance = (
    SELECT utterance FROM utterances WHERE dialog = d.dialog AND by_bot ORDER BY position DESC LIMIT 1)
WHERE d.dialog > (SELECT max(dialog) FROM dialogs) - ?
    AND NOT EXISTS (SELECT 1 FROM facts WHERE facts.dialog = d.dialog)
    AND julianday(u.date_time) IS NOT NULL AND julianday(d.date_start) IS NOT NULL;

-- name: touch_facts
UPDATE facts SET at = max(at, ?) WHERE dialog = ?;

-- name: count_records
UPDATE meta SET value = max(0, value + ?) WHERE name = 'turn_records';

-- name: record_count
SELECT value FROM meta WHERE name = 'turn_records';

-- name: add_hour
INSERT INTO hours VALUES (?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (hour) DO UPDATE SET
    turns = max(0, turns + excluded.turns),
    bad = max(0, bad + excluded.bad),
    down = max(0, down + excluded.down),
    none = max(0, none + excluded.none),
    failed = max(0, failed + excluded.failed),
    slow = max(0, slow + excluded.slow);

-- name: figures_of
SELECT figures FROM agent_figures WHERE at = ? AND agent = ?;

-- name: put_figures
INSERT OR REPLACE INTO agent_figures VALUES (?, ?, ?);

-- name: turn_to_rate
SELECT at, flags, record FROM turns WHERE turn = ?;

-- name: set_flags
UPDATE turns SET flags = ? WHERE turn = ?;

-- name: set_down
UPDATE facts SET flags = flags & ~1 | (SELECT coalesce(max(flags & 1), 0) FROM turns
    WHERE turn IN (SELECT utterance FROM utterances WHERE dialog = ?1 AND by_bot))
WHERE dialog = ?1;

-- name: last_indexed
SELECT value FROM meta WHERE name = 'words';

-- name: next_indexed
SELECT max(utterance) FROM (
    SELECT utterance FROM utterances WHERE utterance > ? ORDER BY utterance LIMIT ?
);

-- name: set_indexed
UPDATE meta SET value = ? WHERE name = 'words';

-- name: index_no_further
UPDATE meta SET value = min(value, coalesce((SELECT max(utterance) FROM utterances), 0))
WHERE name = 'words';

-- name: index_words
INSERT INTO words (rowid, said, reply)
SELECT reply.utterance,
    substr(json_extract(CAST(said.body AS TEXT), '$.text'), 1, 2000),
    substr(json_extract(CAST(reply.body AS TEXT), '$.text'), 1, 2000)
FROM utterances AS reply
LEFT JOIN utterances AS said ON said.dialog = reply.dialog AND said.position = reply.position - 1
    AND NOT said.by_bot
WHERE reply.utterance > ? AND reply.utterance <= ? AND reply.by_bot;

-- name: index_words_checked
INSERT INTO words (rowid, said, reply)
SELECT reply.utterance,
    CASE WHEN json_valid(CAST(said.body AS TEXT))
        THEN substr(json_extract(CAST(said.body AS TEXT), '$.text'), 1, 2000) END,
    CASE WHEN json_valid(CAST(reply.body AS TEXT))
        THEN substr(json_extract(CAST(reply.body AS TEXT), '$.text'), 1, 2000) END
FROM utterances AS reply
LEFT JOIN utterances AS said ON said.dialog = reply.dialog AND said.position = reply.position - 1
    AND NOT said.by_bot
WHERE reply.utterance > ? AND reply.utterance <= ? AND reply.by_bot;

-- name: forget_words
INSERT INTO words (words, rowid, said, reply)
SELECT 'delete', reply.utterance,
    CASE WHEN json_valid(CAST(said.body AS TEXT))
        THEN substr(json_extract(CAST(said.body AS TEXT), '$.text'), 1, 2000) END,
    CASE WHEN json_valid(CAST(reply.body AS TEXT))
        THEN substr(json_extract(CAST(reply.body AS TEXT), '$.text'), 1, 2000) END
FROM utterances AS reply
LEFT JOIN utterances AS said ON said.dialog = reply.dialog AND said.position = reply.position - 1
    AND NOT said.by_bot
WHERE reply.dialog = ? AND reply.position > ? AND reply.by_bot
    AND reply.utterance <= (SELECT value FROM meta WHERE name = 'words');

-- name: merge_words
INSERT INTO words (words, rank) VALUES ('merge', ?);

-- name: turns_to_forget
SELECT at, flags, record, utt_id FROM utterances JOIN turns ON turn = utterance
WHERE dialog = ? AND position > ? AND by_bot;

-- name: all_turns
SELECT at, flags, record, utt_id FROM turns JOIN utterances ON utterance = turn ORDER BY at;

-- name: forget_turns
DELETE FROM turns
WHERE turn IN (SELECT utterance FROM utterances WHERE dialog = ? AND position > ? AND by_bot);

-- name: oldest_turns
SELECT turn, at FROM turns ORDER BY turn LIMIT ?;

-- name: delete_turns_up_to
DELETE FROM turns WHERE turn <= ?;

-- name: delete_hours
DELETE FROM hours WHERE hour < ?;

-- name: delete_figures
DELETE FROM agent_figures WHERE at < ?;

-- name: delete_days
DELETE FROM agent_days WHERE day < ?;

-- name: figures_summed
SELECT value FROM meta WHERE name = 'figures_summed';

-- name: set_figures_summed
UPDATE meta SET value = ? WHERE name = 'figures_summed';

-- name: next_figures
SELECT min(at) FROM agent_figures WHERE at >= ?;

-- name: day_of_agent
SELECT figures FROM agent_days WHERE day = ? AND agent = ?;

-- name: put_day
INSERT OR REPLACE INTO agent_days VALUES (?, ?, ?);

-- name: days_between
SELECT figures FROM agent_days WHERE day >= ? AND day < ? ORDER BY day;

-- name: hours_between
SELECT hour, turns, bad, down, none, failed, slow FROM hours
WHERE hour >= ? AND hour < ? AND turns > 0 ORDER BY hour;

-- name: figures_between
SELECT figures FROM agent_figures WHERE at >= ? AND at < ? ORDER BY at, agent;

-- The index begins with the time: each span is looked up, in place of reading those of all agents.
-- name: figures_of_agent
WITH RECURSIVE spans (at) AS (
    SELECT min(at) FROM agent_figures WHERE at >= ?1
    UNION ALL
    SELECT (SELECT min(f.at) FROM agent_figures AS f WHERE f.at > spans.at) FROM spans
    WHERE spans.at IS NOT NULL
)
SELECT figures FROM spans CROSS JOIN agent_figures USING (at) WHERE at < ?2 AND agent = ?3
ORDER BY at;

-- name: conversation_head
SELECT dialog_id, user, name, channel_type, date_start, active
FROM dialogs JOIN people USING (person) WHERE dialog_id = ?1 OR id = ?1;

-- name: turns_after
SELECT utterance, position, utt_id, by_bot, date_time, body, at, seconds, cost, flags, record
FROM utterances LEFT JOIN turns ON turn = utterance
WHERE dialog = ? AND position > ? ORDER BY position LIMIT ?;

-- name: turns_before
SELECT utterance, position, utt_id, by_bot, date_time, body, at, seconds, cost, flags, record
FROM utterances LEFT JOIN turns ON turn = utterance
WHERE dialog = ? AND position < ? ORDER BY position DESC LIMIT ?;

-- name: latest_turns
SELECT t.at, b.utt_id, d.dialog_id, p.user, h.body, b.body, t.flags, t.record
FROM turns AS t CROSS JOIN utterances AS b ON b.utterance = t.turn
CROSS JOIN dialogs AS d ON d.dialog = b.dialog CROSS JOIN people AS p ON p.person = d.person
LEFT JOIN utterances AS h ON h.dialog = b.dialog AND h.position = b.position - 1 AND NOT h.by_bot
WHERE t.turn < ?1 AND (?2 = 0 OR t.flags & ?2) ORDER BY t.turn DESC LIMIT ?3;

-- name: place_of_turn
SELECT coalesce(
    (SELECT utterance FROM utterances WHERE utt_id = ?1),
    (SELECT turn + 1 FROM turns WHERE at <= ?2 ORDER BY turn DESC LIMIT 1), 0);

-- name: kept_turn
SELECT utterance, dialog, position, dialog_id, user, flags, record
FROM utterances JOIN dialogs USING (dialog) JOIN people USING (person)
LEFT JOIN turns ON turn = utterance
WHERE utt_id = ? AND by_bot;

-- name: values_of_ratings
SELECT utterance, value FROM ratings WHERE dialog = ? AND utterance IS NOT NULL ORDER BY rating;

-- name: is_rare
SELECT count(*) FROM (SELECT 1 FROM spoke WHERE skill = ? LIMIT 2001);

-- name: hits_of
SELECT count(*) FROM (SELECT 1 FROM words WHERE words MATCH ? LIMIT ?);

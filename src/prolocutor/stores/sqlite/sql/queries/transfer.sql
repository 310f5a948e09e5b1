-- All that is stored of a person, to be put into another store; and what comes from one.

-- name: users
SELECT user FROM people UNION SELECT user FROM agenda UNION SELECT user FROM records ORDER BY 1;

-- name: copied_person
SELECT person, human_id, max(
    feed_floor, coalesce((SELECT max(n) FROM feed WHERE feed.person = people.person), 0)
) FROM people WHERE user = ?;

-- name: copied_dialogs
SELECT dialog, dialog_id, id, bot_id, name, channel_type, date_start, active, attributes, round
FROM dialogs WHERE person = ? ORDER BY dialog;

-- name: copied_versions
SELECT number, changes, state FROM versions WHERE owner = ? ORDER BY number;

-- name: copied_skills
SELECT skill FROM spoke WHERE dialog = ? ORDER BY skill;

-- name: copied_utterances
SELECT position, utt_id, by_bot, user_version, date_time, body, list
FROM utterances LEFT JOIN hypotheses USING (utterance) WHERE dialog = ? ORDER BY position;

-- name: copied_ratings
SELECT position, value, shown FROM ratings LEFT JOIN utterances USING (utterance)
WHERE ratings.dialog = ? ORDER BY rating;

-- name: copied_names
SELECT name, max(floor, coalesce(
    (SELECT max(id) FROM feed WHERE feed.dialog_name = dialog_names.dialog_name), -1
)) FROM dialog_names WHERE person = ? ORDER BY dialog_name;

-- name: copied_feed
SELECT n, dialog_id, dialog_names.name, feed.id, message, closing
FROM feed JOIN dialogs USING (dialog) JOIN dialog_names USING (dialog_name)
WHERE feed.person = ? ORDER BY n;

-- name: copied_requests
SELECT key, hash, turn_id, dialog_id, at, outcome FROM requests JOIN dialogs USING (dialog)
WHERE requests.person = ? ORDER BY key;

-- name: copied_open_turns
SELECT turn_id, attempts, dialog_id, dialog_names.name, n, open_turns.id, started, request_key,
    request_hash, beginning
FROM open_turns JOIN dialogs USING (dialog) JOIN dialog_names USING (dialog_name)
WHERE open_turns.person = ? ORDER BY n;

-- name: copied_agenda
SELECT name, skill, key, due, body, dropped FROM agenda WHERE user = ? ORDER BY entry;

-- name: copied_records
SELECT kind, key, body, coalesce(dialog_id, '') FROM records LEFT JOIN dialogs USING (dialog)
WHERE user = ? ORDER BY record;

-- name: copy_person
INSERT INTO people (user, human_id, feed_floor) VALUES (?, ?, ?);

-- name: copy_name
INSERT INTO dialog_names (person, name, floor) VALUES (?, ?, ?);

-- name: copy_dialog
INSERT INTO dialogs (dialog, person, name, dialog_id, id, bot_id, channel_type, date_start, active,
    rated, attributes, round) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?);

-- name: copy_open_turn
INSERT INTO open_turns (person, turn_id, dialog, n, started, attempts, request_key, request_hash,
    beginning, dialog_name, id) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?);

-- name: copy_facts
INSERT INTO facts
SELECT dialog,
    (julianday((SELECT date_time FROM utterances WHERE utterances.dialog = dialogs.dialog
        ORDER BY position DESC LIMIT 1)) - 2440587.5) * 86400.0,
    (julianday(date_start) - 2440587.5) * 86400.0,
    (SELECT (max(position) + 2) / 2 FROM utterances WHERE utterances.dialog = dialogs.dialog),
    0, 0, 0, 0,
    (SELECT utterance FROM utterances WHERE utterances.dialog = dialogs.dialog AND by_bot
        ORDER BY position DESC LIMIT 1),
    channel_type
FROM dialogs
WHERE dialog = ? AND julianday(date_start) IS NOT NULL AND julianday(
    (SELECT date_time FROM utterances WHERE utterances.dialog = dialogs.dialog
        ORDER BY position DESC LIMIT 1)) IS NOT NULL;

-- name: copied_turns
SELECT position, at, seconds, cost, flags, record
FROM turns JOIN utterances ON utterance = turn WHERE dialog = ? ORDER BY position;

-- name: copied_facts
SELECT at, began, turns, slowest, cost, failed, flags, position, channel
FROM facts LEFT JOIN utterances ON utterance = last WHERE facts.dialog = ?;

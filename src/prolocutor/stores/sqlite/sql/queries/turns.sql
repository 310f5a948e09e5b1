-- What a turn reads and writes. The last (?, ...) group of a statement is repeated for many rows.

-- name: add_people
INSERT INTO people VALUES (?, ?, ?, ?);

-- name: add_dialogs
INSERT INTO dialogs (dialog, person, name, dialog_id, id, bot_id, channel_type, date_start, active,
    rated, attributes) VALUES (?, ?, ?, ?, ?, ?, ?, ?, 1, 0, ?);

-- name: add_dialog_names
INSERT INTO dialog_names (dialog_name, person, name) VALUES (?, ?, ?);

-- name: set_round
UPDATE dialogs SET round = ? WHERE dialog = ?;

-- name: set_body
UPDATE utterances SET body = ? WHERE dialog = ? AND position = ?;

-- name: add_open_turns
INSERT INTO open_turns VALUES (?, ?, ?, ?, ?, 1, ?, ?, ?, ?, ?);

-- name: remove_open_turns
DELETE FROM open_turns WHERE (person, turn_id) IN (VALUES (?, ?));

-- name: add_utterances
INSERT INTO utterances VALUES (?, ?, ?, ?, ?, ?, ?, ?);

-- name: add_hypotheses
INSERT INTO hypotheses VALUES (?, ?);

-- name: add_versions
INSERT INTO versions VALUES (?, ?, ?, ?);

-- name: add_feed
INSERT INTO feed (person, n, dialog, message, dialog_name, id, closing)
VALUES (?, ?, ?, ?, ?, ?, ?);

-- name: add_spoke
INSERT OR IGNORE INTO spoke VALUES (?, ?);

-- name: add_requests
INSERT OR REPLACE INTO requests (person, key, hash, turn_id, dialog, at, outcome)
VALUES (?, ?, ?, ?, ?, ?, ?);

-- name: person_of
SELECT person, human_id, max(
    feed_floor,
    coalesce((SELECT max(n) FROM feed WHERE feed.person = people.person), 0),
    coalesce((SELECT max(n) FROM open_turns WHERE open_turns.person = people.person), 0)
) FROM people WHERE user = ?;

-- name: numbering
SELECT dialog_name, max(
    floor,
    coalesce((SELECT max(id) FROM feed WHERE feed.dialog_name = dialog_names.dialog_name), -1),
    coalesce((SELECT max(id) FROM open_turns WHERE open_turns.person = dialog_names.person
        AND open_turns.dialog_name = dialog_names.dialog_name), -1)
) FROM dialog_names WHERE person = ? AND name = ?;

-- name: active_dialog
SELECT dialog, name, dialog_id, id, bot_id, date_start, attributes, rated, round
FROM dialogs WHERE person = ? AND name = ? AND active = 1;

-- name: dialog_by_number
SELECT dialog, name, dialog_id, id, bot_id, date_start, attributes, rated, round
FROM dialogs WHERE dialog = ?;

-- name: last_utterances
SELECT utterance, position, by_bot, user_version, body FROM utterances
WHERE dialog = ? ORDER BY position DESC LIMIT ?;

-- name: hypotheses_of
SELECT list FROM hypotheses WHERE utterance = ?;

-- name: latest_versions
SELECT number, changes, state FROM versions
WHERE owner = ?1 AND number >= (SELECT max(number) FROM versions WHERE owner = ?1) / 16 * 16
ORDER BY number;

-- name: versions_between
SELECT number, changes, state FROM versions
WHERE owner = ? AND number BETWEEN ? AND ? ORDER BY number;

-- name: ratings_from
SELECT utterance, shown FROM ratings
WHERE dialog = ? AND (utterance IS NULL OR utterance >= ?) ORDER BY rating;

-- name: answered_request
SELECT turn_id, hash, outcome FROM requests WHERE person = ? AND key = ? AND at >= ?;

-- name: open_requests
SELECT request_key, turn_id, request_hash FROM open_turns WHERE person = ? AND request_key IS NOT NULL;

-- name: oldest_request
SELECT at FROM requests ORDER BY request LIMIT 1;

-- name: forget_requests
DELETE FROM requests WHERE request IN (
    SELECT request FROM (SELECT request, at FROM requests ORDER BY request LIMIT ?) WHERE at < ?
);

-- name: open_turns
SELECT turn_id, user, started, attempts FROM open_turns JOIN people USING (person)
ORDER BY started, turn_id;

-- name: open_turn
SELECT person, dialog, n, attempts, beginning, id FROM open_turns WHERE turn_id = ?;

-- name: count_attempt
UPDATE open_turns SET attempts = attempts + 1 WHERE person = ? AND turn_id = ?;

-- name: close_dialog
UPDATE dialogs SET active = 0 WHERE dialog = ?;

-- name: generation
SELECT value FROM meta WHERE name = 'generation';

-- name: next_generation
UPDATE meta SET value = value + 1 WHERE name = 'generation';

-- name: feed_floor
SELECT value FROM meta WHERE name = 'feed_floor';

-- Numbers of what is still being deleted are not given again.
-- name: last_numbers
SELECT (SELECT max(person) FROM (
        SELECT max(person) AS person FROM people
        UNION ALL SELECT max(key) FROM doomed WHERE what = 'feed')),
    (SELECT max(dialog) FROM (
        SELECT max(dialog) AS dialog FROM dialogs
        UNION ALL SELECT max(key) FROM doomed WHERE what = 'utterances')),
    (SELECT max(dialog_name) FROM dialog_names), (SELECT max(utterance) FROM utterances);

-- Rating and deleting, in the writer's connection.

-- name: dialog_to_rate
SELECT dialog, NULL, user FROM dialogs JOIN people USING (person) WHERE dialog_id = ?1 OR id = ?1;

-- name: utterance_to_rate
SELECT dialog, utterance, user FROM utterances JOIN dialogs USING (dialog) JOIN people USING (person)
WHERE utt_id = ?;

-- name: add_rating
INSERT INTO ratings (dialog, utterance, value, shown) VALUES (?, ?, ?, ?);

-- name: ratings_since
SELECT * FROM (
    SELECT rating, replied.utt_id, user, asked.body, replied.body AS reply, value
    FROM ratings JOIN utterances replied USING (utterance)
    JOIN dialogs ON dialogs.dialog = ratings.dialog JOIN people USING (person)
    JOIN utterances asked ON asked.dialog = replied.dialog AND asked.position = replied.position - 1
    WHERE rating > ? AND replied.by_bot AND NOT asked.by_bot ORDER BY rating DESC LIMIT ?
) ORDER BY rating;

-- name: rating_count
SELECT count(*) FROM ratings WHERE utterance IS NOT NULL;

-- name: mark_rated
UPDATE dialogs SET rated = 1 WHERE dialog = ? AND rated = 0;

-- name: dialogs_of_person
SELECT dialog FROM dialogs WHERE person = ?;

-- name: raise_meta_floor
UPDATE meta SET value = max(value, ?) WHERE name = 'feed_floor';

-- name: raise_feed_floor
UPDATE people SET feed_floor = max(feed_floor, ?) WHERE person = ?;

-- name: raise_id_floor
UPDATE dialog_names SET floor = max(floor, coalesce(
    (SELECT max(id) FROM feed WHERE feed.dialog_name = dialog_names.dialog_name), -1
)) WHERE person = ? AND name = (SELECT name FROM dialogs WHERE dialog = ?);

-- name: deletable_dialog
SELECT user FROM dialogs JOIN people USING (person)
WHERE dialog = ?1
AND coalesce((SELECT date_time FROM utterances WHERE utterances.dialog = ?1
    ORDER BY position DESC LIMIT 1), date_start) < ?2
AND NOT EXISTS (SELECT 1 FROM open_turns
    WHERE open_turns.person = dialogs.person AND open_turns.dialog = ?1);

-- name: doom
INSERT INTO doomed (what, key) VALUES (?, ?);

-- name: doom_utterances
INSERT INTO doomed (what, key) SELECT 'utterances', value FROM json_each(?);

-- name: doom_bots
INSERT INTO doomed (what, key)
SELECT 'versions', bot_id FROM json_each(?) JOIN dialogs ON dialog = value;

-- name: delete_bots
DELETE FROM versions
WHERE owner IN (SELECT bot_id FROM dialogs WHERE dialog IN (SELECT value FROM json_each(?)));

-- name: delete_facts
DELETE FROM facts WHERE dialog IN (SELECT value FROM json_each(?));

-- name: delete_ratings
DELETE FROM ratings WHERE dialog IN (SELECT value FROM json_each(?));

-- name: delete_records_of_dialogs
DELETE FROM records WHERE dialog IN (SELECT value FROM json_each(?));

-- name: delete_spoke
DELETE FROM spoke WHERE dialog IN (SELECT value FROM json_each(?));

-- name: delete_dialogs
DELETE FROM dialogs WHERE dialog IN (SELECT value FROM json_each(?));

-- name: next_doom
SELECT doom, what, key FROM doomed ORDER BY doom LIMIT ?;

-- name: done_doom
DELETE FROM doomed WHERE doom = ?;

-- The position of the first of the last rows, which are deleted at once.
-- name: doomed_from
SELECT position FROM utterances WHERE dialog = ? ORDER BY position DESC LIMIT 1 OFFSET ?;

-- name: delete_hypotheses
DELETE FROM hypotheses
WHERE utterance IN (SELECT utterance FROM utterances WHERE dialog = ? AND position > ?);

-- name: delete_utterances
DELETE FROM utterances WHERE dialog = ? AND position > ?;

-- name: delete_some_versions
DELETE FROM versions WHERE owner = ?1
AND number IN (SELECT number FROM versions WHERE owner = ?1 LIMIT ?2);

-- name: delete_some_feed
DELETE FROM feed WHERE row IN (SELECT row FROM feed WHERE person = ? LIMIT ?);

-- name: delete_some_requests
DELETE FROM requests WHERE request IN (SELECT request FROM requests WHERE person = ? LIMIT ?);

-- name: delete_dialog_names
DELETE FROM dialog_names WHERE person = ?;

-- name: remains
SELECT value FROM meta WHERE name = 'remains';

-- name: set_remains
UPDATE meta SET value = ? WHERE name = 'remains';

-- name: delete_feed_of_dialog
DELETE FROM feed WHERE person = ? AND dialog = ?;

-- name: delete_requests_of_dialog
DELETE FROM requests WHERE person = ? AND dialog = ?;

-- name: delete_open_turns
DELETE FROM open_turns WHERE person = ?;

-- name: delete_entries
DELETE FROM agenda WHERE user = ?;

-- name: delete_records
DELETE FROM records WHERE user = ?;

-- name: delete_human
DELETE FROM versions WHERE owner = ?;

-- name: delete_person
DELETE FROM people WHERE person = ?;

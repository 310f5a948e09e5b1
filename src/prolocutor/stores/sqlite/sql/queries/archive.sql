-- Looking things up, in the reader's connection: short statements, long reads page by number.

-- name: feed_after
SELECT n, dialog_id, message, NULL FROM feed JOIN dialogs USING (dialog)
WHERE feed.person = (SELECT person FROM people WHERE user = ?1) AND n > ?2
UNION ALL
SELECT n, dialog_id, NULL, beginning FROM open_turns JOIN dialogs USING (dialog)
WHERE open_turns.person = (SELECT person FROM people WHERE user = ?1) AND n > ?2
ORDER BY n LIMIT ?3;

-- name: find_dialog
SELECT dialog FROM dialogs WHERE dialog_id = ?1 OR id = ?1;

-- name: dialog_with_person
SELECT dialog_id, id, channel_type, date_start, active, attributes, bot_id, human_id
FROM dialogs JOIN people USING (person) WHERE dialog = ?;

-- name: utterances_from
SELECT utterance, position, by_bot, user_version, body, list
FROM utterances LEFT JOIN hypotheses USING (utterance)
WHERE dialog = ? AND position >= ? ORDER BY position LIMIT ?;

-- name: active_dialog_id
SELECT dialog_id FROM dialogs
WHERE person = (SELECT person FROM people WHERE user = ?) AND name = ? AND active = 1;

-- name: owner_of
SELECT user FROM people WHERE person = (SELECT person FROM dialogs WHERE dialog = coalesce(
    (SELECT dialog FROM dialogs WHERE dialog_id = ?1 OR id = ?1),
    (SELECT dialog FROM utterances WHERE utt_id = ?1)
));

-- name: dialogs_after
SELECT dialog FROM dialogs WHERE dialog > ? ORDER BY dialog LIMIT ?;

-- name: dialogs_after_of
SELECT dialog FROM dialogs
WHERE dialog > ? AND person = (SELECT person FROM people WHERE user = ?) ORDER BY dialog LIMIT ?;

-- name: last_dates
SELECT dialog, coalesce(
    (SELECT date_time FROM utterances WHERE utterances.dialog = dialogs.dialog
        ORDER BY position DESC LIMIT 1),
    date_start
) FROM dialogs WHERE dialog > ? ORDER BY dialog LIMIT ?;

-- Looking things up, in the reader's connection: short statements, long reads page by number.

-- name: feed_after
SELECT n, dialog_id, message, name, feed.id, closing, NULL FROM feed JOIN dialogs USING (dialog)
WHERE feed.person = (SELECT person FROM people WHERE user = ?1) AND n > ?2
UNION ALL
SELECT n, dialog_id, NULL, name, open_turns.id, NULL, beginning
FROM open_turns JOIN dialogs USING (dialog)
WHERE open_turns.person = (SELECT person FROM people WHERE user = ?1) AND n > ?2
ORDER BY n LIMIT ?3;

-- name: dialog_name
SELECT dialog_name, person FROM dialog_names JOIN people USING (person) WHERE user = ? AND name = ?;

-- name: feed_tail
SELECT n, dialog_id, message, name, feed.id, closing, NULL FROM feed JOIN dialogs USING (dialog)
WHERE dialog_name = ?1
UNION ALL
SELECT n, dialog_id, NULL, name, open_turns.id, NULL, beginning
FROM open_turns JOIN dialogs USING (dialog)
WHERE open_turns.person = ?2 AND dialog_name = ?1
ORDER BY 5 DESC, 1 DESC LIMIT ?3;

-- name: feed_tail_after
SELECT n, dialog_id, message, name, feed.id, closing, NULL FROM feed JOIN dialogs USING (dialog)
WHERE dialog_name = ?1 AND feed.id >= ?4 AND NOT (feed.id = ?4 AND message IS NOT NULL)
UNION ALL
SELECT n, dialog_id, NULL, name, open_turns.id, NULL, beginning
FROM open_turns JOIN dialogs USING (dialog)
WHERE open_turns.person = ?2 AND dialog_name = ?1 AND open_turns.id > ?4
ORDER BY 5, 1 LIMIT ?3;

-- name: feed_before
SELECT n, dialog_id, message, name, feed.id, closing, NULL FROM feed JOIN dialogs USING (dialog)
WHERE feed.person = (SELECT person FROM people WHERE user = ?1) AND n < ?2
ORDER BY n DESC LIMIT ?3;

-- name: conversations_before
SELECT name, n, coalesce(
    (SELECT date_time FROM utterances WHERE utterances.dialog = page.dialog
        ORDER BY position DESC LIMIT 1),
    (SELECT date_start FROM dialogs WHERE dialogs.dialog = page.dialog)
), (
    SELECT message FROM (
        SELECT message FROM feed WHERE feed.dialog_name = page.dialog_name AND message IS NOT NULL
        ORDER BY id, n LIMIT 20
    ) WHERE substr(message, 1, 17) = CAST('{"type":"command"' AS BLOB) LIMIT 1
), opening FROM (
    SELECT name, names.dialog_name, coalesce(running.n, feed.n) AS n,
        coalesce(running.dialog, feed.dialog) AS dialog, running.beginning AS opening
    FROM dialog_names AS names
    LEFT JOIN feed ON feed.row = (
        SELECT row FROM feed AS last WHERE last.dialog_name = names.dialog_name
        ORDER BY id DESC, n DESC LIMIT 1
    )
    LEFT JOIN open_turns AS running ON running.person = names.person AND running.turn_id = (
        SELECT turn_id FROM open_turns AS last
        WHERE last.person = names.person AND last.dialog_name = names.dialog_name
        ORDER BY n DESC LIMIT 1
    )
    WHERE names.person = (SELECT person FROM people WHERE user = ?1)
        AND coalesce(running.n, feed.n) < ?2
    ORDER BY 3 DESC LIMIT ?3
) AS page;

-- name: count_names
SELECT count(*) FROM (
    SELECT 1 FROM dialog_names WHERE person = (SELECT person FROM people WHERE user = ?) LIMIT ?
);

-- name: conversations_of_many
SELECT name, n, coalesce(
    (SELECT date_time FROM utterances WHERE utterances.dialog = page.dialog
        ORDER BY position DESC LIMIT 1),
    (SELECT date_start FROM dialogs WHERE dialogs.dialog = page.dialog)
), (
    SELECT message FROM (
        SELECT message FROM feed WHERE feed.dialog_name = page.dialog_name AND message IS NOT NULL
        ORDER BY id, n LIMIT 20
    ) WHERE substr(message, 1, 17) = CAST('{"type":"command"' AS BLOB) LIMIT 1
), opening FROM (
    SELECT name, latest.dialog_name, n, dialog, opening FROM (
        SELECT n, dialog, dialog_name, beginning AS opening FROM open_turns
        WHERE person = (SELECT person FROM people WHERE user = ?1) AND n < ?2
        UNION ALL
        SELECT * FROM (
            SELECT n, dialog, dialog_name, NULL FROM feed
            WHERE person = (SELECT person FROM people WHERE user = ?1) AND n < ?2 AND n = (
                SELECT n FROM feed AS last WHERE last.dialog_name = feed.dialog_name
                ORDER BY id DESC, n DESC LIMIT 1
            ) AND dialog_name NOT IN (
                SELECT dialog_name FROM open_turns
                WHERE person = (SELECT person FROM people WHERE user = ?1)
            )
            ORDER BY n DESC LIMIT ?3
        )
    ) AS latest JOIN dialog_names USING (dialog_name)
    ORDER BY n DESC LIMIT ?3
) AS page;

-- name: dialogs_named
SELECT dialog FROM dialogs
WHERE person = (SELECT person FROM people WHERE user = ?) AND name = ? ORDER BY dialog;

-- name: round_of
SELECT round FROM dialogs
WHERE person = (SELECT person FROM people WHERE user = ?) AND name = ? AND active = 1;

-- name: find_dialog
SELECT dialog FROM dialogs WHERE dialog_id = ?1 OR id = ?1;

-- name: dialog_with_person
SELECT dialog_id, id, channel_type, date_start, active, attributes, bot_id, human_id
FROM dialogs JOIN people USING (person) WHERE dialog = ?;

-- name: find_utterance
SELECT dialog, position FROM utterances WHERE utt_id = ? AND by_bot;

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

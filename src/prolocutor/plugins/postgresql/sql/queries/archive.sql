-- Looking things up, on the reader's connection. Long reads page by number.

-- name: feed_after
SELECT f.n, d.dialog_id, f.message, d.name, f.id, f.closing, NULL::bytea AS opening
FROM people p JOIN feed f USING (person) JOIN dialogs d ON d.person = p.person AND d.dialog = f.dialog
WHERE p."user" = $1 AND f.n > $2
UNION ALL
SELECT o.n, d.dialog_id, NULL, d.name, o.id, NULL, o.opening
FROM people p JOIN open_turns o USING (person) JOIN dialogs d ON d.person = p.person AND d.dialog = o.dialog
WHERE p."user" = $1 AND o.n > $2
ORDER BY 1 LIMIT $3;

-- name: feed_ends
SELECT p."user", greatest(p.feed, (SELECT max(o.n) FROM open_turns o WHERE o.person = p.person)) AS n
FROM people p WHERE p."user" = ANY ($1::text[]);

-- name: name_of_dialog
SELECT x.person, x.number FROM people p JOIN dialog_names x USING (person)
WHERE p."user" = $1 AND x.name = $2;

-- name: feed_tail
(SELECT f.n, d.dialog_id, f.message, d.name, f.id, f.closing, NULL::bytea AS opening
FROM feed f JOIN dialogs d ON d.person = f.person AND d.dialog = f.dialog
WHERE f.person = $1 AND f.named = $2
ORDER BY f.person DESC, f.named DESC, f.id DESC, f.n DESC LIMIT $3)
UNION ALL
SELECT o.n, d.dialog_id, NULL, d.name, o.id, NULL, o.opening
FROM open_turns o JOIN dialogs d ON d.person = o.person AND d.dialog = o.dialog
WHERE o.person = $1 AND o.named = $2
ORDER BY 5 DESC, 1 DESC LIMIT $3;

-- name: feed_tail_after
(SELECT f.n, d.dialog_id, f.message, d.name, f.id, f.closing, NULL::bytea AS opening
FROM feed f JOIN dialogs d ON d.person = f.person AND d.dialog = f.dialog
WHERE f.person = $1 AND f.named = $2 AND f.id >= $4::bigint AND NOT (f.id = $4 AND f.message IS NOT NULL)
ORDER BY f.person, f.named, f.id, f.n LIMIT $3)
UNION ALL
SELECT o.n, d.dialog_id, NULL, d.name, o.id, NULL, o.opening
FROM open_turns o JOIN dialogs d ON d.person = o.person AND d.dialog = o.dialog
WHERE o.person = $1 AND o.named = $2 AND o.id > $4::bigint
ORDER BY 5, 1 LIMIT $3;

-- name: feed_before
SELECT f.n, d.dialog_id, f.message, d.name, f.id, f.closing, NULL::bytea AS opening
FROM people p JOIN feed f USING (person) JOIN dialogs d ON d.person = p.person AND d.dialog = f.dialog
WHERE p."user" = $1 AND f.n < $2 ORDER BY f.n DESC LIMIT $3;

-- name: conversations_before
SELECT y.name, y.n, coalesce((
    SELECT u.date_time FROM utterances u WHERE u.person = y.person AND u.dialog = y.dialog
    ORDER BY u.position DESC LIMIT 1
), (SELECT d.date_start FROM dialogs d WHERE d.person = y.person AND d.dialog = y.dialog)) AS at, (
    SELECT z.message FROM (
        SELECT f.message FROM feed f
        WHERE f.person = y.person AND f.named = y.number AND f.message IS NOT NULL
        ORDER BY f.person, f.named, f.id, f.n LIMIT 20
    ) z WHERE substr(z.message, 1, 17) = convert_to('{"type":"command"', 'UTF8') LIMIT 1
) AS first, y.opening FROM (
    SELECT x.person, x.number, x.name, coalesce(o.n, f.n) AS n, coalesce(o.dialog, f.dialog) AS dialog,
        o.opening
    FROM people p JOIN dialog_names x USING (person)
    LEFT JOIN LATERAL (
        SELECT l.n, l.dialog FROM feed l WHERE l.person = x.person AND l.named = x.number
        ORDER BY l.person DESC, l.named DESC, l.id DESC, l.n DESC LIMIT 1
    ) f ON true
    LEFT JOIN LATERAL (
        SELECT r.n, r.dialog, r.opening FROM open_turns r
        WHERE r.person = x.person AND r.named = x.number ORDER BY r.n DESC LIMIT 1
    ) o ON true
    WHERE p."user" = $1 AND coalesce(o.n, f.n) < $2
    ORDER BY 4 DESC LIMIT $3
) y ORDER BY y.n DESC;

-- name: count_names
SELECT count(*) FROM (
    SELECT FROM people p JOIN dialog_names x USING (person) WHERE p."user" = $1 LIMIT $2
) y;

-- name: conversations_of_many
SELECT y.name, y.n, coalesce((
    SELECT u.date_time FROM utterances u WHERE u.person = y.person AND u.dialog = y.dialog
    ORDER BY u.position DESC LIMIT 1
), (SELECT d.date_start FROM dialogs d WHERE d.person = y.person AND d.dialog = y.dialog)) AS at, (
    SELECT z.message FROM (
        SELECT f.message FROM feed f
        WHERE f.person = y.person AND f.named = y.number AND f.message IS NOT NULL
        ORDER BY f.person, f.named, f.id, f.n LIMIT 20
    ) z WHERE substr(z.message, 1, 17) = convert_to('{"type":"command"', 'UTF8') LIMIT 1
) AS first, y.opening FROM (
    SELECT x.person, x.number, x.name, l.n, l.dialog, l.opening FROM (
        SELECT o.person, o.named, o.n, o.dialog, o.opening FROM people p JOIN open_turns o USING (person)
        WHERE p."user" = $1 AND o.n < $2
        UNION ALL
        (SELECT f.person, f.named, f.n, f.dialog, NULL FROM people p JOIN feed f USING (person)
        WHERE p."user" = $1 AND f.n < $2 AND f.n = (
            SELECT e.n FROM feed e WHERE e.person = f.person AND e.named = f.named
            ORDER BY e.person DESC, e.named DESC, e.id DESC, e.n DESC LIMIT 1
        ) AND NOT EXISTS (SELECT FROM open_turns o WHERE o.person = f.person AND o.named = f.named)
        ORDER BY f.n DESC LIMIT $3)
    ) l JOIN dialog_names x ON x.person = l.person AND x.number = l.named
    ORDER BY 4 DESC LIMIT $3
) y ORDER BY y.n DESC;

-- name: dialogs_named
SELECT d.dialog FROM people p JOIN dialogs d USING (person)
WHERE p."user" = $1 AND d.name = $2 ORDER BY d.dialog;

-- name: round_of
SELECT d.round FROM people p JOIN dialogs d USING (person)
WHERE p."user" = $1 AND d.name = $2 AND d.active;

-- name: active_dialog_id
SELECT d.dialog_id FROM people p JOIN dialogs d USING (person)
WHERE p."user" = $1 AND d.name = $2 AND d.active;

-- name: find_dialog
SELECT d.person, d.dialog FROM dialogs d WHERE d.dialog_id = $1 OR d.id = $1;

-- name: dialog_with_person
SELECT d.person, d.dialog, d.dialog_id, d.id, d.name, d.channel_type, d.date_start, d.active,
    d.attributes, p.human_id, p."user"
FROM dialogs d JOIN people p USING (person) WHERE d.person = $1 AND d.dialog = $2;

-- name: find_utterance
SELECT u.person, u.dialog, u.position FROM utterances u WHERE u.utt_id = $1 AND u.by_bot;

-- name: utterances_from
SELECT u.position, u.by_bot, u.user_version, u.body, u.hypotheses FROM utterances u
WHERE u.person = $1 AND u.dialog = $2 AND u.position >= $3 ORDER BY u.position LIMIT $4;

-- name: latest_versions
SELECT v.number, v.changes, v.state FROM versions v
WHERE v.person = $1 AND v.owner = $2 AND v.number >= (
    SELECT max(y.number) FROM versions y WHERE y.person = $1 AND y.owner = $2
) / 16 * 16 ORDER BY v.number;

-- name: versions_between
SELECT v.number, v.changes, v.state FROM versions v
WHERE v.person = $1 AND v.owner = $2 AND v.number BETWEEN $3 AND $4 ORDER BY v.number;

-- name: ratings_of
SELECT coalesce(x.position, -1), x.shown FROM ratings x
WHERE x.person = $1 AND x.dialog = $2 ORDER BY x.rating;

-- name: owner_of
SELECT p."user" FROM people p WHERE p.person = coalesce(
    (SELECT d.person FROM dialogs d WHERE d.dialog_id = $1 OR d.id = $1),
    (SELECT u.person FROM utterances u WHERE u.utt_id = $1)
);

-- name: dialogs_after
SELECT d.person, d.dialog FROM dialogs d WHERE d.dialog > $1 ORDER BY d.dialog LIMIT $2;

-- name: dialogs_after_of
SELECT d.person, d.dialog FROM people p JOIN dialogs d USING (person)
WHERE p."user" = $3 AND d.dialog > $1 ORDER BY d.dialog LIMIT $2;

-- name: last_dates
SELECT d.dialog, coalesce((
    SELECT u.date_time FROM utterances u WHERE u.person = d.person AND u.dialog = d.dialog
    ORDER BY u.position DESC LIMIT 1
), d.date_start) FROM dialogs d WHERE d.dialog > $1 ORDER BY d.dialog LIMIT $2;

-- name: delete_old_dialog
SELECT delete_old_dialog($1, $2);

-- A transaction for all of them; persons are locked in the order in which turns lock them.
-- name: delete_old_dialogs
SELECT count(*) FILTER (WHERE delete_old_dialog(x.dialog, $2)) FROM (
    SELECT d.dialog FROM dialogs d JOIN people p USING (person) WHERE d.dialog = ANY ($1::bigint[])
    ORDER BY p."user", d.dialog
) x;

-- name: rate
SELECT rate($1, $2, $3, $4);

-- name: delete_person
SELECT delete_person($1, $2);

-- name: unfinished_turns
SELECT o.turn_id, (SELECT p."user" FROM people p WHERE p.person = o.person), o.started, o.attempt
FROM (
    SELECT $1::bigint AS replica UNION SELECT x.replica FROM replicas x WHERE x.dead
) x CROSS JOIN LATERAL (
    SELECT * FROM open_turns y WHERE y.replica = x.replica OFFSET 0
) o ORDER BY o.started, o.turn_id;

-- name: close_dialog
SELECT status, dialog_id_ FROM close_dialog($1, $2, $3);

-- name: ratings_since
SELECT * FROM (
    SELECT x.rating, replied.utt_id, p."user", asked.body AS question, replied.body AS reply, x.value
    FROM ratings x JOIN people p USING (person)
    JOIN utterances replied ON replied.person = x.person AND replied.dialog = x.dialog
        AND replied.position = x.position AND replied.by_bot
    JOIN utterances asked ON asked.person = x.person AND asked.dialog = x.dialog
        AND asked.position = x.position - 1 AND NOT asked.by_bot
    WHERE x.rating > $1 ORDER BY x.rating DESC LIMIT $2
) y ORDER BY rating;

-- name: rating_count
SELECT count(*) FROM ratings WHERE position IS NOT NULL;

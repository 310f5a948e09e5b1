-- All that is stored of a person, to be put into another store; and what comes from one.

-- name: living_replicas
SELECT count(*) FROM replicas WHERE replica > 0 AND NOT dead AND alive_until > clock_timestamp();

-- name: users
SELECT "user" FROM people UNION SELECT "user" FROM agenda UNION SELECT "user" FROM records ORDER BY 1;

-- name: feed_floor
SELECT value FROM counters WHERE name = 'feed_floor';

-- name: raise_feed_floor
UPDATE counters SET value = greatest(value, $1) WHERE name = 'feed_floor';

-- name: copied_person
SELECT person, human_id, feed FROM people WHERE "user" = $1;

-- name: copied_dialogs
SELECT dialog, dialog_id, id, bot_id, name, channel_type, date_start, active, attributes, round
FROM dialogs WHERE person = $1 ORDER BY dialog;

-- name: copied_versions
SELECT number, changes, state FROM versions WHERE person = $1 AND owner = $2 ORDER BY number;

-- name: copied_skills
SELECT skill FROM spoke WHERE person = $1 AND dialog = $2 ORDER BY skill;

-- name: copied_utterances
SELECT position, utt_id, by_bot, user_version, date_time, body, hypotheses
FROM utterances WHERE person = $1 AND dialog = $2 ORDER BY position;

-- name: copied_ratings
SELECT position, value, shown FROM ratings WHERE person = $1 AND dialog = $2 ORDER BY rating;

-- name: copied_names
SELECT name, said FROM dialog_names WHERE person = $1 ORDER BY number;

-- name: copied_feed
SELECT f.n, d.dialog_id, x.name, f.id, f.message, f.closing
FROM feed f JOIN dialogs d ON d.person = f.person AND d.dialog = f.dialog
JOIN dialog_names x ON x.person = f.person AND x.number = f.named
WHERE f.person = $1 ORDER BY f.n;

-- name: copied_requests
SELECT r.key, r.hash, r.turn_id, d.dialog_id, r.at, r.outcome
FROM requests r JOIN dialogs d ON d.person = r.person AND d.dialog = r.dialog
WHERE r.person = $1 ORDER BY r.key;

-- name: copied_open_turns
SELECT o.turn_id, o.attempt, d.dialog_id, x.name, o.n, o.id, o.started, o.request_key,
    o.request_hash, o.opening
FROM open_turns o JOIN dialogs d ON d.person = o.person AND d.dialog = o.dialog
JOIN dialog_names x ON x.person = o.person AND x.number = o.named
WHERE o.person = $1 ORDER BY o.n;

-- name: copied_agenda
SELECT name, skill, key, due, body, dropped FROM agenda WHERE "user" = $1 ORDER BY entry;

-- name: copied_records
SELECT r.kind, r.key, r.body, coalesce(d.dialog_id, '') FROM records r
LEFT JOIN dialogs d ON d.person = r.person AND d.dialog = r.dialog WHERE r."user" = $1 ORDER BY r.record;

-- name: make_mover
INSERT INTO replicas (replica, url, alive_until) OVERRIDING SYSTEM VALUE
VALUES (0, '', '9999-01-01') ON CONFLICT DO NOTHING;

-- name: hold_moving
SELECT hold_person(0, $1, 'moving');

-- name: writes_before
SELECT pg_current_xact_id()::text::bigint;

-- name: all_written
SELECT pg_snapshot_xmin(pg_current_snapshot())::text::bigint > $1;

-- name: stop_moving
DELETE FROM holds WHERE "user" = $1 AND replica = 0 AND holder = $2;

-- name: moves_itself
SELECT set_config('prolocutor.moves', $1, true);

-- name: give_up_person
SELECT delete_person(0, $1);

-- name: mark_moved
UPDATE holds SET holder = 'moved' WHERE "user" = $1 AND replica = 0;

-- name: is_moved
SELECT EXISTS (SELECT FROM holds WHERE "user" = $1 AND replica = 0 AND holder = 'moved');

-- name: forget_user
SELECT delete_person(NULL, $1);

-- name: copy_person
INSERT INTO people ("user", human_id, feed) VALUES ($1, $2, $3) RETURNING person;

-- name: copy_names
INSERT INTO dialog_names (person, number, name, said)
SELECT $1, place, name, said FROM unnest($2::text[], $3::int[]) WITH ORDINALITY x(name, said, place);

-- name: number_is_free
SELECT NOT EXISTS (SELECT FROM dialogs WHERE dialog = $1);

-- name: copy_dialog
INSERT INTO dialogs (dialog, person, name, dialog_id, id, bot_id, channel_type, date_start, active,
    rated, attributes, round) OVERRIDING SYSTEM VALUE
VALUES (coalesce($1, nextval(pg_get_serial_sequence('dialogs', 'dialog'))), $2, $3, $4, $5, $6, $7,
    $8, $9, $10, $11, $12) RETURNING dialog;

-- name: numbers_go_on
SELECT setval(pg_get_serial_sequence('dialogs', 'dialog'), greatest(
    (SELECT max(dialog) FROM dialogs), nextval(pg_get_serial_sequence('dialogs', 'dialog'))));

-- name: copy_versions
INSERT INTO versions (person, owner, number, changes, state)
SELECT $1, $2, * FROM unnest($3::int[], $4::bytea[], $5::bytea[]);

-- name: copy_utterances
INSERT INTO utterances (person, dialog, attempt, position, utt_id, by_bot, user_version, date_time,
    body, hypotheses)
SELECT $1, $2, 1, * FROM unnest($3::int[], $4::text[], $5::boolean[], $6::int[], $7::text[],
    $8::bytea[], $9::bytea[]);

-- name: copy_skills
INSERT INTO spoke (person, dialog, skill) SELECT $1, $2, * FROM unnest($3::text[]);

-- name: copy_ratings
INSERT INTO ratings (person, dialog, position, value, shown)
SELECT $1, $2, position, value, shown
FROM unnest($3::int[], $4::text[], $5::bytea[]) WITH ORDINALITY x(position, value, shown, place)
ORDER BY place;

-- name: copy_feed
INSERT INTO feed (person, n, dialog, named, id, message, closing)
SELECT $1, x.n, d.dialog, y.number, x.id, x.message, x.closing
FROM unnest($2::bigint[], $3::text[], $4::text[], $5::int[], $6::bytea[], $7::bytea[])
    x(n, dialog_id, name, id, message, closing)
JOIN dialogs d ON d.dialog_id = x.dialog_id
JOIN dialog_names y ON y.person = $1 AND y.name = x.name;

-- name: copy_requests
INSERT INTO requests (person, key, hash, turn_id, dialog, at, outcome)
SELECT $1, x.key, x.hash, x.turn_id, d.dialog, x.at, x.outcome
FROM unnest($2::text[], $3::bytea[], $4::text[], $5::text[], $6::float8[], $7::bytea[])
    x(key, hash, turn_id, dialog_id, at, outcome)
JOIN dialogs d ON d.dialog_id = x.dialog_id;

-- name: copy_open_turn
INSERT INTO open_turns (person, slot, turn_id, attempt, replica, dialog, named, n, id, started,
    request_key, request_hash, opening)
SELECT $1, (SELECT count(*) FROM open_turns o WHERE o.person = $1), $2, $3, $4, d.dialog, y.number,
    $7, $8, $9, $10, $11, $12
FROM dialogs d JOIN dialog_names y ON y.person = d.person AND y.name = $6 WHERE d.dialog_id = $5;

-- name: copy_facts
INSERT INTO facts
SELECT d.person, d.dialog, extract(epoch FROM (u.date_time || '+00')::timestamptz),
    extract(epoch FROM (d.date_start || '+00')::timestamptz), (u.position + 2) / 2, 0, 0, 0, 0,
    (SELECT max(b.position) FROM utterances b WHERE b.person = d.person AND b.dialog = d.dialog AND b.by_bot),
    d.channel_type
FROM dialogs d CROSS JOIN LATERAL (
    SELECT y.position, y.date_time FROM utterances y WHERE y.person = d.person AND y.dialog = d.dialog
    ORDER BY y.position DESC LIMIT 1
) u
WHERE d.person = $1 AND d.dialog = $2
    AND u.date_time ~ '^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d+)?$'
    AND d.date_start ~ '^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d+)?$';

-- name: copy_words
INSERT INTO words SELECT $1, $2, n.position, n.at, to_tsvector('simple', n.said)
FROM unnest($3::int[], $4::float8[], $5::text[]) AS n (position, at, said);

-- name: copied_turns
SELECT position, at, seconds, cost, flags, record FROM turns
WHERE person = $1 AND dialog = $2 ORDER BY position;

-- name: copied_facts
SELECT at, began, turns, slowest, cost, failed, flags, last, channel FROM facts
WHERE person = $1 AND dialog = $2;

-- name: put_facts
INSERT INTO facts VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11);

-- name: copy_turns
INSERT INTO turns (person, dialog, position, at, seconds, cost, flags, record)
SELECT $1, $2, * FROM unnest($3::int[], $4::float8[], $5::float8[], $6::float8[], $7::int[], $8::bytea[]);

-- name: count_copied
SELECT count_hours(0, $1::float8[], $2::int[], 1);

-- name: copy_agent_turns
INSERT INTO agent_turns (person, dialog, position, at, agent, outcome, code, won, declined, seconds, bucket, cost)
SELECT $1, $2, * FROM unnest($3::int[], $4::float8[], $5::text[], $6::text[], $7::text[], $8::boolean[],
    $9::boolean[], $10::float8[], $11::int[], $12::float8[]) ON CONFLICT DO NOTHING;

-- name: unrecorded_hours
SELECT hour, sum(turns)::bigint, sum(bad)::bigint, sum(down)::bigint, sum(none)::bigint, sum(failed)::bigint,
    sum(slow)::bigint
FROM (
    SELECT hour, turns, bad, down, none, failed, slow FROM hours
    UNION ALL
    SELECT floor(at / 3600)::bigint * 3600, -1, -(flags & 6 <> 0)::int, -(flags & 1 <> 0)::int,
        -(flags & 2 <> 0)::int, -(flags & 4 <> 0)::int, -(flags & 8 <> 0)::int FROM turns
) x GROUP BY hour HAVING sum(turns) > 0 ORDER BY hour;

-- name: add_hours
INSERT INTO hours AS h
SELECT n.hour, 0, n.turns, n.bad, n.down, n.none, n.failed, n.slow
FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[])
    AS n (hour, turns, bad, down, none, failed, slow)
ON CONFLICT (hour, replica) DO UPDATE SET turns = h.turns + excluded.turns, bad = h.bad + excluded.bad,
    down = h.down + excluded.down, none = h.none + excluded.none, failed = h.failed + excluded.failed,
    slow = h.slow + excluded.slow;

-- name: clear_agent_sums
DELETE FROM agent_sums;

-- name: put_agent_sums
INSERT INTO agent_sums (agent, at, figures)
SELECT * FROM unnest($1::text[], $2::bigint[], $3::bytea[]);

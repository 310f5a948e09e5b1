-- Who lives, who holds whom, hints.

-- A number that a crash takes back would be given twice: so this commit waits for the disk, on a line that else does not.
-- name: join_replicas
SELECT join_replicas($1, $2), extract(epoch FROM clock_timestamp())::float8, set_config('synchronous_commit', 'on', true);

-- name: beat
SELECT beat($1, $2);

-- name: leave
SELECT forget_replica($1);

-- name: inherit_turns
SELECT turn_id, who, started, attempts FROM inherit_turns($1, $2, $3, $4);

-- name: resume_turn
SELECT * FROM resume_turn($1, $2, $3, $4);

-- name: abandon_turn
WITH gone AS (
    DELETE FROM open_turns WHERE replica = $1 AND turn_id = $2 RETURNING person
)
UPDATE people SET version = version + 1 WHERE person IN (SELECT person FROM gone);

-- name: hold_person
SELECT hold_person($1, $2, $3);

-- name: release_person
DELETE FROM holds WHERE "user" = $1 AND holder = $2;

-- name: take_ticket
SELECT take_ticket($1, $2, $3);

-- name: withdraw_ticket
DELETE FROM waiting WHERE "user" = $1 AND holder = $2;

-- name: replicas
SELECT x.replica, x.url, extract(epoch FROM x.joined)::float8 AS joined,
    extract(epoch FROM x.alive_until - clock_timestamp())::float8 AS left_, x.dead,
    (SELECT count(*) FROM open_turns o WHERE o.replica = x.replica) AS open_turns,
    (SELECT count(*) FROM waiting w WHERE w.replica = x.replica) AS waiting, x.takeovers
FROM replicas x WHERE x.replica > 0 AND (NOT x.dead OR x.alive_until > clock_timestamp() - interval '1 day')
ORDER BY x.replica;

-- name: standbys
SELECT current_setting('synchronous_standby_names') <> '' AS named, count(*) AS connected,
    max(CASE WHEN state IS NOT NULL THEN coalesce(extract(epoch FROM replay_lag), 0) END)::float8 AS lag
FROM pg_stat_replication;

-- name: notify
SELECT pg_notify($1, payload) FROM unnest($2::text[]) AS payload;

-- name: forget_requests
DELETE FROM requests WHERE ctid = ANY (ARRAY(
    SELECT r.ctid FROM requests r
    WHERE r.at < extract(epoch FROM clock_timestamp())::float8 - 90000 ORDER BY r.at LIMIT 500
));

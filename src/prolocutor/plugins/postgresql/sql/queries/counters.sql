-- Counters of quotas (`contracts/shared_store.py`).

-- name: add_to_counters
INSERT INTO quota_counters AS c (name, empty_at, period)
SELECT u.name, extract(epoch FROM statement_timestamp())::float8 + u.spent, u.period
FROM unnest($1::text[], $2::float8[], $3::float8[]) AS u(name, spent, period) ORDER BY u.name
ON CONFLICT (name) DO UPDATE SET period = excluded.period,
    empty_at = greatest(c.empty_at, extract(epoch FROM statement_timestamp())::float8)
        + excluded.empty_at - extract(epoch FROM statement_timestamp())::float8
RETURNING c.name, c.empty_at - extract(epoch FROM statement_timestamp())::float8 AS ahead;

-- name: set_open
INSERT INTO quota_open AS o (name, replica, number)
SELECT u.name, $1, u.number FROM unnest($2::text[], $3::bigint[]) AS u(name, number) ORDER BY u.name
ON CONFLICT (name, replica) DO UPDATE SET number = excluded.number;

-- name: counter_totals
SELECT 'ahead' AS kind, c.name, c.empty_at - extract(epoch FROM statement_timestamp())::float8
FROM (
    SELECT * FROM quota_counters q
    WHERE q.empty_at > extract(epoch FROM statement_timestamp())::float8 + q.period / 2
    ORDER BY q.empty_at DESC LIMIT 1000
) c
UNION ALL
SELECT 'open', o.name, sum(o.number)::float8 FROM quota_open o JOIN replicas r USING (replica)
WHERE o.replica <> $1 AND NOT r.dead AND o.number > 0 GROUP BY o.name
UNION ALL
SELECT 'replicas', '', count(*)::float8 FROM replicas r
WHERE r.replica > 0 AND NOT r.dead AND r.alive_until > clock_timestamp();

-- name: forget_counters
WITH gone AS (
    DELETE FROM quota_open o WHERE o.number = 0
        OR NOT EXISTS (SELECT FROM replicas r WHERE r.replica = o.replica AND NOT r.dead)
)
DELETE FROM quota_counters c WHERE c.empty_at < extract(epoch FROM statement_timestamp())::float8;

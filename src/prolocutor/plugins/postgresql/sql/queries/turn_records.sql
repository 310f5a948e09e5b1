-- Records of turns.

-- name: keep_turns
SELECT keep_turns($1, $2::text[], $3::text[], $4::float8[], $5::float8[], $6::float8[], $7::int[], $8::int[],
    $9::bytea[], $10::text[], $11::text[], $12::text[], $13::text[], $14::text[], $15::text[], $16::boolean[],
    $17::boolean[], $18::float8[], $19::int[], $20::float8[]);

-- name: note_thumb
SELECT note_thumb($1, $2);

-- name: trim_turns
WITH old AS (
    SELECT t.person, t.dialog, t.position FROM turns t
    WHERE t.at < $1 OR t.at <= (SELECT y.at FROM turns y ORDER BY y.at DESC OFFSET $2 LIMIT 1)
    ORDER BY t.at LIMIT $3
), gone AS (
    DELETE FROM turns t USING old
    WHERE t.person = old.person AND t.dialog = old.dialog AND t.position = old.position RETURNING 1
)
SELECT count(*) FROM gone;

-- name: trim_hours
DELETE FROM hours WHERE hour < $1;

-- name: trim_agent_turns
WITH old AS (
    SELECT a.person, a.dialog, a.position, a.agent FROM agent_turns a WHERE a.at < $1 ORDER BY a.at LIMIT $2
), gone AS (
    DELETE FROM agent_turns a USING old WHERE a.person = old.person AND a.dialog = old.dialog
        AND a.position = old.position AND a.agent = old.agent RETURNING 1
)
SELECT count(*) FROM gone;

-- name: trim_agent_sums
DELETE FROM agent_sums WHERE at < $1;

-- name: hours_between
SELECT hour, sum(turns)::bigint, sum(bad)::bigint, sum(down)::bigint, sum(none)::bigint, sum(failed)::bigint,
    sum(slow)::bigint
FROM hours WHERE hour >= $1 AND hour < $2 GROUP BY hour HAVING sum(turns) > 0 ORDER BY hour;

-- name: agent_figures
SELECT (floor(a.at / $4::float8) * $4::float8)::bigint AS span, a.agent, a.outcome, coalesce(a.code, a.outcome) AS code,
    coalesce(a.bucket, -1) AS bucket, count(*) AS asked, count(*) FILTER (WHERE a.won) AS won,
    count(*) FILTER (WHERE a.declined) AS declined, coalesce(sum(a.seconds), 0)::float8 AS seconds,
    sum(a.cost)::float8 AS cost,
    count(*) FILTER (WHERE a.won AND t.flags & 16 <> 0) AS up,
    count(*) FILTER (WHERE a.won AND t.flags & 1 <> 0) AS down,
    max(a.at) AS latest,
    (array_agg(u.utt_id ORDER BY a.at DESC))[1] AS utt_id
FROM agent_turns a
LEFT JOIN turns t USING (person, dialog, position)
JOIN utterances u USING (person, dialog, position)
WHERE a.at >= $1 AND a.at < $2 AND ($3::text IS NULL OR a.agent = $3) AND ($5 OR t.person IS NULL)
GROUP BY 1, 2, 3, 4, 5 ORDER BY 1, 2;

-- name: agent_sums
SELECT (floor(at / $4::float8) * $4::float8)::bigint AS span, agent, figures FROM agent_sums
WHERE at >= $1 AND at < $2 AND ($3::text IS NULL OR agent = $3) ORDER BY at, agent;

-- name: conversation_head
SELECT d.person, d.dialog, d.dialog_id, p."user", d.name, d.channel_type, d.date_start, d.active
FROM dialogs d JOIN people p USING (person) WHERE d.dialog_id = $1 OR d.id = $1;

-- name: turns_after
SELECT u.position AS utterance, u.position, u.utt_id, u.by_bot, u.date_time, u.body, t.at, t.seconds, t.cost, t.flags, t.record
FROM utterances u LEFT JOIN turns t USING (person, dialog, position)
WHERE u.person = $1 AND u.dialog = $2 AND u.position > $3 ORDER BY u.position LIMIT $4;

-- name: turns_before
SELECT u.position AS utterance, u.position, u.utt_id, u.by_bot, u.date_time, u.body, t.at, t.seconds, t.cost, t.flags, t.record
FROM utterances u LEFT JOIN turns t USING (person, dialog, position)
WHERE u.person = $1 AND u.dialog = $2 AND u.position < $3 ORDER BY u.position DESC LIMIT $4;

-- name: latest_turns
SELECT t.at, u.utt_id, d.dialog_id, p."user", h.body AS said, u.body, t.flags, t.record
FROM turns t JOIN utterances u USING (person, dialog, position)
JOIN dialogs d USING (person, dialog) JOIN people p USING (person)
LEFT JOIN utterances h ON h.person = t.person AND h.dialog = t.dialog AND h.position = t.position - 1 AND NOT h.by_bot
WHERE t.at <= $1 AND (t.at < $1 OR u.utt_id < $2) AND ($3::int = 0 OR t.flags & $3 <> 0)
ORDER BY t.at DESC, u.utt_id DESC LIMIT $4;

-- name: kept_turn
SELECT u.person, u.dialog, u.position, d.dialog_id, p."user", t.flags, t.record
FROM utterances u JOIN dialogs d USING (person, dialog) JOIN people p USING (person)
LEFT JOIN turns t USING (person, dialog, position)
WHERE u.utt_id = $1 AND u.by_bot;

-- name: values_of_ratings
SELECT position, value FROM ratings WHERE person = $1 AND dialog = $2 AND position IS NOT NULL ORDER BY rating;

-- name: summaries
SELECT f.dialog, f.at, f.turns, f.slowest, f.cost, f.failed, f.flags, d.dialog_id, d.active, f.channel, p."user",
    h.body AS said, b.body AS reply, b.utt_id,
    (SELECT array_agg(s.skill ORDER BY s.skill) FROM spoke s WHERE s.person = f.person AND s.dialog = f.dialog) AS spoke
FROM unnest($1::bigint[], $2::int[]) AS n (dialog, hit)
JOIN dialogs d ON d.dialog = n.dialog
JOIN facts f ON f.person = d.person AND f.dialog = d.dialog
JOIN people p ON p.person = d.person
LEFT JOIN utterances b ON b.person = f.person AND b.dialog = f.dialog AND b.position = coalesce(n.hit, f.last)
LEFT JOIN utterances h ON h.person = f.person AND h.dialog = f.dialog AND h.position = b.position - 1 AND NOT h.by_bot;

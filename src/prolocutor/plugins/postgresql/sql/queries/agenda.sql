-- The agenda and the records.

-- name: put_entry
SELECT put_entry($1, $2, $3, $4, $5, $6, $7, $8, $9);

-- name: take_entry
DELETE FROM agenda WHERE "user" = $1 AND place = $2 RETURNING 1;

-- name: due_entries
SELECT "user", name, skill, key, due, body, dropped FROM agenda
WHERE due <= $1 ORDER BY due, entry LIMIT $2;

-- name: next_due
SELECT due FROM agenda WHERE due > $1 ORDER BY due, entry LIMIT 1;

-- name: entries_of
SELECT "user", name, skill, key, due, body, dropped FROM agenda
WHERE "user" = $1 AND ($2::text IS NULL OR skill = $2) ORDER BY due, entry;

-- name: claim_due
SELECT "user", name, skill, key, due, body, dropped FROM claim_due($1, $2);

-- name: put_record
INSERT INTO records ("user", place, kind, key, body) VALUES ($1, $2, $3, $4, $5)
ON CONFLICT ("user", place) DO UPDATE SET body = excluded.body;

-- name: records_of
SELECT key, body FROM records WHERE "user" = $1 AND kind = $2 ORDER BY record;

-- name: delete_record
DELETE FROM records WHERE "user" = $1 AND place = $2 RETURNING 1;

-- name: deliver
SELECT deliver($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19,
    $20, $21, $22, $23, $24, $25, $26, $27, $28, $29, $30, $31);

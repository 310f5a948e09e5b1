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
INSERT INTO records ("user", place, kind, key, body, person, dialog)
SELECT $1, $2, $3, $4, $5, x.person, x.dialog FROM (VALUES (1)) one LEFT JOIN (
    SELECT d.person, d.dialog FROM dialogs d WHERE $6 <> '' AND d.dialog_id = $6
    UNION ALL SELECT u.person, u.dialog FROM utterances u WHERE $6 <> '' AND u.utt_id = $6
    LIMIT 1
) x ON true
ON CONFLICT ("user", place) DO UPDATE SET body = excluded.body;

-- name: records_since
SELECT * FROM (
    SELECT record, "user", key, body FROM records WHERE kind = $1 AND record > $2
    ORDER BY record DESC LIMIT $3
) x ORDER BY record;

-- name: record_count
SELECT count(*) FROM records WHERE kind = $1;

-- name: records_of
SELECT key, body FROM records WHERE "user" = $1 AND kind = $2 ORDER BY record;

-- name: record_of
SELECT body FROM records WHERE "user" = $1 AND place = $2;

-- name: change_records
SELECT change_records($1, $2, $3, $4, $5, $6, $7);

-- name: delete_record
DELETE FROM records WHERE "user" = $1 AND place = $2 RETURNING 1;

-- name: deliver
SELECT deliver($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19,
    $20, $21, $22, $23, $24, $25, $26, $27, $28, $29, $30, $31);

-- name: add_amounts
SELECT refused, sums FROM add_amounts($1, $2, $3, $4, $5, $6, $7);

-- name: amounts_between
SELECT kind, "user", name, period, amount, number FROM amounts
WHERE kind = $1 AND period BETWEEN $2 AND $3 ORDER BY period, "user", name;

-- name: all_amounts
SELECT kind, "user", name, period, amount, number FROM amounts ORDER BY kind, period, "user", name;

-- name: delete_all_amounts
DELETE FROM amounts;

-- name: delete_amounts
DELETE FROM amounts WHERE kind = $1 AND period < $2;

-- name: delete_amounts_of
WITH gone AS (DELETE FROM amounts WHERE "user" = $1 RETURNING *)
INSERT INTO amounts AS a (kind, "user", name, period, amount, number)
SELECT kind, '', name, period, amount, number FROM gone WHERE kind = 'spent'
ON CONFLICT (kind, period, "user", name)
DO UPDATE SET amount = a.amount + excluded.amount, number = a.number + excluded.number;

-- The agenda and the records.

-- name: put_entry
INSERT OR REPLACE INTO agenda (user, skill, key, name, due, body, dropped)
VALUES (?, ?, ?, ?, ?, ?, ?);

-- name: take_entry
DELETE FROM agenda WHERE user = ? AND skill = ? AND key = ?;

-- name: take_entry_as_given
DELETE FROM agenda WHERE user = ? AND skill = ? AND key = ? AND name = ? AND due = ? AND body = ?
AND dropped = ?;

-- name: count_entries
SELECT count(*) FROM agenda WHERE user = ?;

-- name: earliest_entry
SELECT entry, dropped FROM agenda WHERE user = ? ORDER BY due, entry LIMIT 1;

-- name: entry_to_drop
SELECT entry, dropped FROM agenda WHERE user = ?1 AND skill = (
  SELECT skill FROM agenda WHERE user = ?1 GROUP BY skill
  ORDER BY count(*) DESC, min(due), min(entry) LIMIT 1
) ORDER BY due, entry LIMIT 1;

-- name: drop_entry
DELETE FROM agenda WHERE entry = ?;

-- name: count_dropped
UPDATE agenda SET dropped = dropped + ? WHERE entry = ?;

-- name: due_entries
SELECT user, name, skill, key, due, body, dropped FROM agenda
WHERE due <= ? ORDER BY due, entry LIMIT ?;

-- name: next_due
SELECT min(due) FROM agenda WHERE due > ?;

-- name: entries_of
SELECT user, name, skill, key, due, body, dropped FROM agenda
WHERE user = ?1 AND (?2 IS NULL OR skill = ?2) ORDER BY due, entry;

-- name: put_record
INSERT INTO records (user, kind, key, body, dialog) VALUES (?, ?, ?, ?, ?)
ON CONFLICT (user, kind, key) DO UPDATE SET body = excluded.body;

-- name: dialog_about
SELECT dialog FROM dialogs WHERE dialog_id = ?1
UNION ALL SELECT dialog FROM utterances WHERE utt_id = ?1 LIMIT 1;

-- name: records_since
SELECT * FROM (
    SELECT record, user, key, body FROM records WHERE kind = ? AND record > ?
    ORDER BY record DESC LIMIT ?
) ORDER BY record;

-- name: number_of_kind
SELECT count(*) FROM records WHERE kind = ?;

-- name: records_of
SELECT key, body FROM records WHERE user = ? AND kind = ? ORDER BY record;

-- name: record_of
SELECT body FROM records WHERE user = ? AND kind = ? AND key = ?;

-- name: delete_record
DELETE FROM records WHERE user = ? AND kind = ? AND key = ?;

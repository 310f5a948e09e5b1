-- Rounds, numbers of messages within a dialog name, closings, the agenda, records.

-- What the dialog waits for, as JSON.
ALTER TABLE dialogs ADD COLUMN round BLOB NOT NULL DEFAULT x'7b7d';

-- The names of a person's dialogs. `floor` is the highest id ever given to a message under this
-- name when rows were last deleted, -1 if there was none.
CREATE TABLE dialog_names (
    dialog_name INTEGER PRIMARY KEY,
    person INTEGER NOT NULL,
    name TEXT NOT NULL,
    floor INTEGER NOT NULL DEFAULT -1
);
INSERT INTO dialog_names (person, name)
SELECT person, name FROM dialogs GROUP BY person, name ORDER BY min(dialog);
CREATE UNIQUE INDEX dialog_names_of ON dialog_names (person, name);

-- `message` is null in the row of a turn that said nothing; its `id` is that of the message before.
CREATE TABLE feed_2 (
    row INTEGER PRIMARY KEY,
    person INTEGER NOT NULL,
    n INTEGER NOT NULL,
    dialog INTEGER NOT NULL,
    message BLOB,
    dialog_name INTEGER NOT NULL,
    id INTEGER NOT NULL,
    closing BLOB
);

-- Earlier turns all ended without a question: the last row before the words of a person, or before
-- the end, closes one.
CREATE TABLE numbered AS
SELECT row, dialog_name,
    row_number() OVER (PARTITION BY dialog_name ORDER BY n) - 1 AS id,
    command = 0 AND coalesce(lead(command) OVER (PARTITION BY feed.person ORDER BY n), 1) AS closes
FROM (
    SELECT row, person, n, dialog, substr(message, 1, 17) = CAST('{"type":"command"' AS BLOB)
        AS command FROM feed
) AS feed
JOIN dialogs USING (dialog)
JOIN dialog_names ON dialog_names.person = feed.person AND dialog_names.name = dialogs.name
ORDER BY row;
INSERT INTO feed_2
SELECT feed.row, person, n, dialog, message, dialog_name, id,
    CASE WHEN closes THEN CAST('{"ask":null}' AS BLOB) END
FROM numbered JOIN feed ON feed.row = numbered.row;
DROP TABLE numbered;
DROP TABLE feed;
ALTER TABLE feed_2 RENAME TO feed;
CREATE UNIQUE INDEX feed_of ON feed (person, n);
CREATE UNIQUE INDEX feed_of_name ON feed (dialog_name, id, n);

ALTER TABLE open_turns ADD COLUMN dialog_name INTEGER NOT NULL DEFAULT 0;
ALTER TABLE open_turns ADD COLUMN id INTEGER NOT NULL DEFAULT 0;
UPDATE open_turns SET dialog_name = (
    SELECT dialog_name FROM dialogs JOIN dialog_names USING (person, name)
    WHERE dialogs.dialog = open_turns.dialog
);
UPDATE open_turns SET id = (
    SELECT count(*) FROM feed WHERE feed.dialog_name = open_turns.dialog_name
) + (
    SELECT count(*) FROM open_turns AS other
    WHERE other.person = open_turns.person AND other.dialog_name = open_turns.dialog_name
        AND other.n < open_turns.n
);

-- What is to be said or done at a time. A person need not be known to have entries.
CREATE TABLE agenda (
    entry INTEGER PRIMARY KEY,
    user TEXT NOT NULL,
    skill TEXT NOT NULL,
    key TEXT NOT NULL,
    name TEXT NOT NULL,
    due REAL NOT NULL,
    body BLOB NOT NULL,
    dropped INTEGER NOT NULL
);
CREATE UNIQUE INDEX agenda_of ON agenda (user, skill, key);
CREATE INDEX agenda_by_due ON agenda (due);

-- Small documents beside the dialogs; those of nobody are the assistant's own.
CREATE TABLE records (
    record INTEGER PRIMARY KEY,
    user TEXT NOT NULL,
    kind TEXT NOT NULL,
    key TEXT NOT NULL,
    body BLOB NOT NULL
);
CREATE UNIQUE INDEX records_of ON records (user, kind, key);

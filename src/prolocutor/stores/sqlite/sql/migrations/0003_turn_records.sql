-- Records of turns, and what operators find dialogs by.

-- `turn` is the number of the reply's utterance. `flags` are bits: 1 thumb down, 2 no answer,
-- 4 a service failed, 8 slow, 16 thumb up. `record` is MessagePack, compressed where it is long.
CREATE TABLE turns (
    turn INTEGER PRIMARY KEY,
    at REAL NOT NULL,
    seconds REAL NOT NULL,
    cost REAL NOT NULL,
    flags INTEGER NOT NULL,
    record BLOB NOT NULL
);
INSERT INTO meta VALUES ('turn_records', 0), ('words', 0);

-- What lists show of a dialog, and by what they find it. `at` is when its last turn began, `began`
-- its first one, `last` its last reply, `failed` how many services failed.
CREATE TABLE facts (
    dialog INTEGER PRIMARY KEY,
    at REAL NOT NULL,
    began REAL NOT NULL,
    turns INTEGER NOT NULL,
    slowest REAL NOT NULL,
    cost REAL NOT NULL,
    failed INTEGER NOT NULL,
    flags INTEGER NOT NULL,
    last INTEGER,
    channel TEXT NOT NULL
);
INSERT INTO facts
SELECT dialog,
    (julianday((SELECT date_time FROM utterances WHERE utterances.dialog = dialogs.dialog
        ORDER BY position DESC LIMIT 1)) - 2440587.5) * 86400.0,
    (julianday(date_start) - 2440587.5) * 86400.0,
    (SELECT (max(position) + 2) / 2 FROM utterances WHERE utterances.dialog = dialogs.dialog),
    0, 0, 0, 0,
    (SELECT utterance FROM utterances WHERE utterances.dialog = dialogs.dialog AND by_bot
        ORDER BY position DESC LIMIT 1),
    channel_type
FROM dialogs
WHERE EXISTS (SELECT 1 FROM utterances WHERE utterances.dialog = dialogs.dialog
    AND julianday(date_time) IS NOT NULL) AND julianday(date_start) IS NOT NULL;
CREATE INDEX facts_by_time ON facts (at, dialog, began, channel);
CREATE INDEX facts_down ON facts (at, dialog) WHERE flags & 1;
CREATE INDEX facts_none ON facts (at, dialog) WHERE flags & 2;
CREATE INDEX facts_failed ON facts (at, dialog) WHERE flags & 4;
CREATE INDEX facts_slow ON facts (at, dialog) WHERE flags & 8;

CREATE TABLE hours (
    hour INTEGER PRIMARY KEY,
    turns INTEGER NOT NULL,
    bad INTEGER NOT NULL,
    down INTEGER NOT NULL,
    none INTEGER NOT NULL,
    failed INTEGER NOT NULL,
    slow INTEGER NOT NULL
);

-- What agents did in spans of 900 seconds; `figures` is JSON.
CREATE TABLE agent_figures (
    at INTEGER NOT NULL,
    agent TEXT NOT NULL,
    figures BLOB NOT NULL,
    PRIMARY KEY (at, agent)
) WITHOUT ROWID;

-- The words of turns, by the number of the reply's utterance. It has no copy of the texts: what is
-- deleted has to be given again. `words` in `meta` is the last utterance that stands here.
CREATE VIRTUAL TABLE words USING fts5(
    said, reply, content = '', detail = none, columnsize = 0,
    tokenize = 'unicode61 remove_diacritics 2'
);

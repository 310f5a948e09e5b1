-- Everything that a turn adds is an insert at the end of a table; what ties rows to a person or a
-- dialog is a small index. Numbers are given by the writer and never given twice.

CREATE TABLE meta (
    name TEXT PRIMARY KEY,
    value INTEGER NOT NULL
) WITHOUT ROWID;

-- `generation` counts the owners; `feed_floor` is where the feed of a new person starts, so that
-- the numbers of a person who was deleted never come again.
INSERT INTO meta VALUES ('generation', 0), ('feed_floor', 0);

-- `feed_floor` is the highest number ever in this person's feed when rows were last deleted.
CREATE TABLE people (
    person INTEGER PRIMARY KEY,
    user TEXT NOT NULL UNIQUE,
    human_id TEXT NOT NULL,
    feed_floor INTEGER NOT NULL
);

CREATE TABLE dialogs (
    dialog INTEGER PRIMARY KEY,
    person INTEGER NOT NULL,
    name TEXT NOT NULL,
    dialog_id TEXT NOT NULL UNIQUE,
    id TEXT NOT NULL UNIQUE,
    bot_id TEXT NOT NULL,
    channel_type TEXT NOT NULL,
    date_start TEXT NOT NULL,
    active INTEGER NOT NULL,
    rated INTEGER NOT NULL,
    attributes BLOB NOT NULL
);
CREATE UNIQUE INDEX dialogs_active ON dialogs (person, name) WHERE active = 1;
CREATE INDEX dialogs_of ON dialogs (person, dialog);
CREATE INDEX dialogs_by_date ON dialogs (date_start);

-- Which skills spoke in which dialogs.
CREATE TABLE spoke (
    skill TEXT NOT NULL,
    dialog INTEGER NOT NULL,
    PRIMARY KEY (skill, dialog)
) WITHOUT ROWID;
CREATE INDEX spoke_in ON spoke (dialog);

CREATE TABLE utterances (
    utterance INTEGER PRIMARY KEY,
    dialog INTEGER NOT NULL,
    position INTEGER NOT NULL,
    utt_id TEXT NOT NULL,
    by_bot INTEGER NOT NULL,
    user_version INTEGER NOT NULL,
    date_time TEXT NOT NULL,
    body BLOB NOT NULL
);
CREATE UNIQUE INDEX utterances_of ON utterances (dialog, position);
CREATE UNIQUE INDEX utterances_by_id ON utterances (utt_id);

CREATE TABLE hypotheses (
    utterance INTEGER PRIMARY KEY,
    list BLOB NOT NULL
);

-- A profile is a chain of versions; every sixteenth has the whole state. `owner` is a human id or
-- a bot id.
CREATE TABLE versions (
    owner TEXT NOT NULL,
    number INTEGER NOT NULL,
    changes BLOB NOT NULL,
    state BLOB,
    PRIMARY KEY (owner, number)
) WITHOUT ROWID;

-- What a person said stands here (in `open_turns`) until its turn is finished.
CREATE TABLE feed (
    row INTEGER PRIMARY KEY,
    person INTEGER NOT NULL,
    n INTEGER NOT NULL,
    dialog INTEGER NOT NULL,
    message BLOB NOT NULL
);
CREATE UNIQUE INDEX feed_of ON feed (person, n);

-- The journal: `begin` inserts a row, `finish` deletes it. `beginning` is MessagePack.
CREATE TABLE open_turns (
    person INTEGER NOT NULL,
    turn_id TEXT NOT NULL,
    dialog INTEGER NOT NULL,
    n INTEGER NOT NULL,
    started REAL NOT NULL,
    attempts INTEGER NOT NULL,
    request_key TEXT,
    request_hash BLOB,
    beginning BLOB NOT NULL,
    PRIMARY KEY (person, turn_id)
) WITHOUT ROWID;

-- What was answered, for clients that ask again; kept a day.
CREATE TABLE requests (
    request INTEGER PRIMARY KEY,
    person INTEGER NOT NULL,
    key TEXT NOT NULL,
    hash BLOB,
    turn_id TEXT NOT NULL,
    dialog INTEGER NOT NULL,
    at REAL NOT NULL,
    outcome BLOB NOT NULL
);
CREATE UNIQUE INDEX requests_by_key ON requests (person, key);

-- `utterance` is null where the dialog as a whole was rated; `value` is JSON, `shown` the whole
-- object as it stands in `attributes.ratings`.
CREATE TABLE ratings (
    rating INTEGER PRIMARY KEY,
    dialog INTEGER NOT NULL,
    utterance INTEGER,
    value TEXT NOT NULL,
    shown BLOB NOT NULL
);
CREATE INDEX ratings_of ON ratings (dialog);
CREATE INDEX ratings_by_value ON ratings (value, dialog);

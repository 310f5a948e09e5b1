-- Sums such as what calls cost, by kind, person, thing and period; "" stands for no person or thing.
CREATE TABLE amounts (
    kind TEXT NOT NULL,
    user TEXT NOT NULL,
    name TEXT NOT NULL,
    period TEXT NOT NULL,
    amount REAL NOT NULL,
    number INTEGER NOT NULL,
    PRIMARY KEY (kind, period, user, name)
) WITHOUT ROWID;
CREATE INDEX amounts_of_user ON amounts (user) WHERE user <> '';

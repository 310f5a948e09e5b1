-- What is being deleted, piece by piece: a kind of rows, and the number or name that they are
-- found by. `remains` in `meta` is 1 where the file may still hold what was deleted.
CREATE TABLE doomed (
    doom INTEGER PRIMARY KEY,
    what TEXT NOT NULL,
    key NOT NULL
);
INSERT INTO meta SELECT 'remains', EXISTS (SELECT 1 FROM people);

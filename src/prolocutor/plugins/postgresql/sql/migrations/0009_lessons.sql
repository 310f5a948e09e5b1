-- Records that are deleted with a dialog, all records of a kind and all ratings in their order.
ALTER TABLE records ADD COLUMN person bigint, ADD COLUMN dialog bigint,
    ADD FOREIGN KEY (person, dialog) REFERENCES dialogs (person, dialog) ON DELETE CASCADE;
CREATE INDEX records_of_dialog ON records (person, dialog) WHERE dialog IS NOT NULL;
CREATE INDEX records_of_kind ON records (kind, record);
CREATE INDEX ratings_by_number ON ratings (rating);

-- Records that are deleted with a dialog, and all records of a kind in the order of their writing.
ALTER TABLE records ADD COLUMN dialog INTEGER;
CREATE INDEX records_of_dialog ON records (dialog) WHERE dialog IS NOT NULL;
CREATE INDEX records_of_kind ON records (kind, record);

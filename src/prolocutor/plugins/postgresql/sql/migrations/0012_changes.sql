-- Changes documents, all or none of them, each if it is still as it was. A document that is already what it is to be
-- counts as changed, so that the same call may come twice.
CREATE FUNCTION change_records(users text[], places bytea[], kinds text[], keys text[], befores bytea[],
    afters bytea[], abouts text[])
RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE found_ bytea; person_ bigint; dialog_ bigint;
BEGIN
    FOR i IN 1 .. coalesce(cardinality(users), 0) LOOP
        found_ := NULL;
        SELECT r.body INTO found_ FROM records r WHERE r."user" = users[i] AND r.place = places[i] FOR UPDATE;
        IF found_ IS NOT DISTINCT FROM afters[i] THEN CONTINUE; END IF;
        IF found_ IS DISTINCT FROM befores[i] THEN RAISE EXCEPTION USING ERRCODE = 'PR409'; END IF;
        IF afters[i] IS NULL THEN
            DELETE FROM records r WHERE r."user" = users[i] AND r.place = places[i];
        ELSIF found_ IS NOT NULL THEN
            UPDATE records r SET body = afters[i] WHERE r."user" = users[i] AND r.place = places[i];
        ELSE
            person_ := NULL;
            dialog_ := NULL;
            IF abouts[i] <> '' THEN
                SELECT x.person, x.dialog INTO person_, dialog_ FROM (
                    SELECT d.person, d.dialog FROM dialogs d WHERE d.dialog_id = abouts[i]
                    UNION ALL SELECT u.person, u.dialog FROM utterances u WHERE u.utt_id = abouts[i]
                    LIMIT 1
                ) x;
            END IF;
            INSERT INTO records ("user", place, kind, key, body, person, dialog)
                VALUES (users[i], places[i], kinds[i], keys[i], afters[i], person_, dialog_)
                ON CONFLICT ("user", place) DO NOTHING;
            IF NOT FOUND THEN RAISE EXCEPTION USING ERRCODE = 'PR409'; END IF;
        END IF;
    END LOOP;
    RETURN true;
EXCEPTION WHEN SQLSTATE 'PR409' THEN
    RETURN false;
END $$;

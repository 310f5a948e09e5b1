-- Persons who go to another database are held by replica 0, which never dies: as `moving` until all that is
-- stored of them is there, as `moved` for ever after.

-- Takes a ticket; refuses those who are gone.
CREATE OR REPLACE FUNCTION queue_up(me bigint, who text, holder_ text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT FROM holds h WHERE h."user" = who AND h.replica = 0 AND h.holder = 'moved') THEN
        RAISE EXCEPTION 'this person is in another database' USING ERRCODE = 'PR002';
    END IF;
    INSERT INTO waiting ("user", ticket, holder, replica)
    SELECT who, coalesce(max(w.ticket), 0) + 1, holder_, me FROM waiting w WHERE w."user" = who
    ON CONFLICT (holder, "user") DO UPDATE SET replica = me;
END $$;

-- Documents and entries of the agenda are written at any time, by who does not hold the person.
CREATE FUNCTION refuse_moving() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE who text;
BEGIN
    IF TG_OP = 'DELETE' THEN who := OLD."user"; ELSE who := NEW."user"; END IF;
    IF EXISTS (SELECT FROM holds h WHERE h."user" = who AND h.replica = 0)
        AND current_setting('prolocutor.moves', true) IS DISTINCT FROM who THEN
        RAISE EXCEPTION 'this person is going to another database' USING ERRCODE = 'PR002';
    END IF;
    IF TG_OP = 'DELETE' THEN RETURN OLD; END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER moving BEFORE INSERT OR DELETE OR UPDATE OF body, due ON agenda
    FOR EACH ROW EXECUTE FUNCTION refuse_moving();
CREATE TRIGGER moving BEFORE INSERT OR DELETE OR UPDATE OF body ON records
    FOR EACH ROW EXECUTE FUNCTION refuse_moving();

-- Rates a dialog or an utterance, unless its person is going.
CREATE OR REPLACE FUNCTION rate(dialog_id_ text, utt_id_ text, value_ text, shown_ bytea) RETURNS boolean
LANGUAGE plpgsql AS $$
DECLARE p people; p_ bigint; d bigint; at int;
BEGIN
    IF dialog_id_ IS NOT NULL THEN
        SELECT y.person, y.dialog INTO p_, d FROM dialogs y WHERE y.dialog_id = dialog_id_ OR y.id = dialog_id_;
    ELSE
        SELECT u.person, u.dialog, u.position INTO p_, d, at FROM utterances u WHERE u.utt_id = utt_id_;
    END IF;
    SELECT * INTO p FROM people y WHERE y.person = p_ FOR NO KEY UPDATE;
    IF EXISTS (SELECT FROM holds h WHERE h."user" = p."user" AND h.replica = 0) THEN
        RAISE EXCEPTION 'this person is going to another database' USING ERRCODE = 'PR002';
    END IF;
    UPDATE dialogs y SET rated = true WHERE y.person = p.person AND y.dialog = d;
    IF NOT FOUND THEN RETURN false; END IF;
    INSERT INTO ratings (person, dialog, position, value, shown) VALUES (p.person, d, at, value_, shown_);
    UPDATE people y SET version = y.version + 1 WHERE y.person = p.person;
    RETURN true;
END $$;

-- Replicas: who lives, who holds a person, who takes over; what is done outside of turns.

CREATE FUNCTION join_replicas(url_ text, lease float8) RETURNS bigint LANGUAGE sql AS $$
    INSERT INTO replicas (url, alive_until)
    VALUES (url_, clock_timestamp() + lease * interval '1 second') RETURNING replica
$$;

-- Null where it was declared dead; else the database's time, in seconds.
CREATE FUNCTION beat(me bigint, lease float8) RETURNS float8 LANGUAGE sql AS $$
    UPDATE replicas SET alive_until = clock_timestamp() + lease * interval '1 second'
    WHERE replica = me AND NOT dead RETURNING extract(epoch FROM clock_timestamp())::float8
$$;

CREATE FUNCTION forget_replica(replica_ bigint) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    UPDATE replicas x SET dead = true WHERE x.replica = replica_;
    DELETE FROM waiting w WHERE w.replica = replica_;
    DELETE FROM holds h WHERE h.replica = replica_;
    UPDATE agenda a SET claimed = NULL WHERE a.claimed = replica_;
END $$;

-- Declares dead whose lease has run out; one lease later where the server was started, or `me` was
-- connected (not `settled`), less than a lease ago: then perhaps nobody could prolong it. Takes over up to `most` turns of the dead; returns all that `me` has then.
-- What is locked by others is left for the next time.
CREATE FUNCTION inherit_turns(me bigint, lease float8, settled boolean, most int)
RETURNS TABLE (turn_id text, who text, started float8, attempts int) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE dead_ bigint; orphan record; taken int := 0; until timestamptz := clock_timestamp();
BEGIN
    PERFORM check_living(me);
    IF NOT settled OR pg_postmaster_start_time() > until - lease * interval '1 second' THEN
        until := until - lease * interval '1 second';
    END IF;
    FOR dead_ IN SELECT x.replica FROM replicas x
        WHERE NOT x.dead AND x.replica <> me AND x.alive_until < until
        ORDER BY x.replica FOR UPDATE SKIP LOCKED LOOP
        PERFORM forget_replica(dead_);
        -- a statement that it sent before it was stopped, and does not read the answer of, holds locks
        PERFORM pg_terminate_backend(a.pid) FROM pg_stat_activity a
        WHERE a.application_name = 'prolocutor ' || dead_ AND a.usename = current_user
            AND a.datname = current_database() AND a.xact_start < until - interval '1 second';
    END LOOP;
    FOR orphan IN SELECT o.person, o.slot FROM replicas x CROSS JOIN LATERAL (
            SELECT y.person, y.slot FROM open_turns y WHERE y.replica = x.replica
            ORDER BY y.started LIMIT most FOR UPDATE SKIP LOCKED
        ) o WHERE x.dead LIMIT most LOOP
        UPDATE open_turns o SET replica = me WHERE o.person = orphan.person AND o.slot = orphan.slot;
        taken := taken + 1;
    END LOOP;
    IF taken > 0 THEN
        UPDATE replicas x SET takeovers = x.takeovers + taken WHERE x.replica = me;
    END IF;
    DELETE FROM replicas x WHERE x.dead AND x.alive_until < clock_timestamp() - interval '7 days'
        AND NOT EXISTS (SELECT FROM open_turns o WHERE o.replica = x.replica);
    RETURN QUERY SELECT o.turn_id, (SELECT p."user" FROM people p WHERE p.person = o.person),
            o.started, o.attempt FROM open_turns o WHERE o.replica = me
        ORDER BY o.started, o.turn_id;
END $$;

-- Takes a person for work that is no turn. Returns false, and queues up, where others come first.
CREATE FUNCTION hold_person(me bigint, who text, holder_ text) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE p people;
BEGIN
    PERFORM check_living(me);
    p := lock_person(who);
    IF EXISTS (SELECT FROM holds h WHERE h."user" = who AND h.holder = holder_ AND h.replica = me) THEN
        RETURN true;
    END IF;
    IF EXISTS (SELECT FROM open_turns o WHERE o.person = p.person) OR others_first(who, holder_) THEN
        PERFORM queue_up(me, who, holder_);
        RETURN false;
    END IF;
    DELETE FROM waiting w WHERE w."user" = who AND w.holder = holder_;
    INSERT INTO holds ("user", holder, replica) VALUES (who, holder_, me)
    ON CONFLICT ("user") DO UPDATE SET holder = holder_, replica = me;
    RETURN true;
END $$;

CREATE FUNCTION take_ticket(me bigint, who text, holder_ text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE p people;
BEGIN
    PERFORM check_living(me);
    p := lock_person(who);
    IF p.person IS NOT NULL AND NOT EXISTS (
        SELECT FROM waiting w WHERE w."user" = who AND w.holder = holder_
    ) THEN
        PERFORM queue_up(me, who, holder_);
    END IF;
END $$;

-- Whether a person may be changed outside of turns: no other replica has a turn of theirs or holds
-- them.
CREATE FUNCTION is_free(me bigint, p people, who text) RETURNS boolean
LANGUAGE plpgsql AS $$
BEGIN
    RETURN NOT EXISTS (
        SELECT FROM open_turns o WHERE o.person = p.person AND o.replica IS DISTINCT FROM me
    ) AND NOT EXISTS (
        SELECT FROM holds h JOIN replicas x USING (replica)
        WHERE h."user" = who AND NOT x.dead AND h.replica IS DISTINCT FROM me
    );
END $$;

-- What is said unasked. status: delivered | gone (the entry is not as it was given) | busy
CREATE FUNCTION deliver(me bigint, who text, name_ text, messages bytea[],
    closing_ bytea, round_ bytea,
    entry_place bytea, entry_name text, entry_due float8, entry_body bytea, entry_dropped int,
    again boolean, struck_places bytea[],
    put_users text[], put_places bytea[], put_skills text[], put_keys text[], put_names text[],
    put_dues float8[], put_bodies bytea[], put_dropped int[], most int,
    human_id text, human_state bytea, dialog_id text, agent_state_id text, bot_id text,
    bot_state bytea, channel text, date_ text, attributes_ bytea)
RETURNS text LANGUAGE plpgsql AS $$
#variable_conflict use_variable
DECLARE p people; d dialogs; x dialog_names; last_n bigint; last_id int; total int;
BEGIN
    PERFORM check_living(me);
    total := coalesce(cardinality(messages), 0);
    p := lock_person(who);
    IF NOT is_free(me, p, who) THEN RETURN 'busy'; END IF;
    IF entry_place IS NOT NULL THEN
        DELETE FROM agenda a WHERE a."user" = who AND a.place = entry_place AND a.name = entry_name
            AND a.due = entry_due AND a.body = entry_body AND a.dropped = entry_dropped;
        IF NOT FOUND THEN RETURN 'gone'; END IF;
    END IF;
    -- the entry that replaces the one delivered comes first, then what is struck, then the others
    IF NOT again THEN
        DELETE FROM agenda a WHERE a."user" = who AND a.place = ANY (struck_places);
    END IF;
    FOR e IN 1 .. coalesce(cardinality(put_users), 0) LOOP
        IF again AND e = 2 THEN
            DELETE FROM agenda a WHERE a."user" = who AND a.place = ANY (struck_places);
        END IF;
        PERFORM put_entry(put_users[e], put_places[e], put_skills[e], put_keys[e], put_names[e],
            put_dues[e], put_bodies[e], put_dropped[e], most);
    END LOOP;
    IF again AND cardinality(put_users) = 1 THEN
        DELETE FROM agenda a WHERE a."user" = who AND a.place = ANY (struck_places);
    END IF;
    IF total = 0 AND round_ IS NULL THEN RETURN 'delivered'; END IF;
    IF p.person IS NULL THEN p := make_person(who, human_id, human_state); END IF;
    SELECT * INTO d FROM dialogs y WHERE y.person = p.person AND y.name = name_ AND y.active;
    IF NOT FOUND THEN
        d := make_dialog(p, name_, dialog_id, agent_state_id, bot_id, bot_state, channel, date_, attributes_);
    END IF;
    x := number_of_name(p.person, name_);
    SELECT greatest(p.feed, max(o.n)), greatest(x.said, max(o.id) FILTER (WHERE o.named = x.number))
    INTO last_n, last_id FROM open_turns o WHERE o.person = p.person;
    FOR j IN 1 .. total LOOP
        last_n := last_n + 1;
        IF messages[j] IS NOT NULL THEN last_id := last_id + 1; END IF;
        INSERT INTO feed (person, n, dialog, named, id, message, closing)
        VALUES (p.person, last_n, d.dialog, x.number, last_id, messages[j],
            CASE WHEN j = total THEN closing_ END);
    END LOOP;
    IF total > 0 THEN
        UPDATE dialog_names y SET said = last_id WHERE y.person = p.person AND y.number = x.number;
    ELSE
        last_n := p.feed;
    END IF;
    IF round_ IS NOT NULL THEN
        UPDATE dialogs y SET round = round_ WHERE y.person = p.person AND y.dialog = d.dialog;
    END IF;
    UPDATE people y SET feed = last_n, version = y.version + 1 WHERE y.person = p.person;
    RETURN 'delivered';
END $$;

-- The entries that are due now, by the database's clock, claimed by this replica.
CREATE FUNCTION claim_due(me bigint, most int) RETURNS SETOF agenda LANGUAGE plpgsql AS $$
DECLARE now_ float8 := extract(epoch FROM clock_timestamp());
BEGIN
    PERFORM check_living(me);
    RETURN QUERY
    WITH found AS (
        SELECT a."user", a.place FROM agenda a
        WHERE a.due <= now_ AND (a.claimed IS NULL OR a.claimed = me
            OR NOT EXISTS (SELECT FROM replicas x WHERE x.replica = a.claimed AND NOT x.dead))
        ORDER BY a.due, a.entry LIMIT most FOR UPDATE SKIP LOCKED
    ), claimed AS (
        UPDATE agenda a SET claimed = me FROM found
        WHERE a."user" = found."user" AND a.place = found.place RETURNING a.*
    )
    SELECT * FROM claimed c ORDER BY c.due, c.entry;
END $$;

-- Ends the active dialog of that name. status: closed | none | busy
CREATE FUNCTION close_dialog(me bigint, who text, name_ text, OUT status text,
    OUT dialog_id_ text) LANGUAGE plpgsql AS $$
DECLARE p people;
BEGIN
    IF me IS NOT NULL THEN PERFORM check_living(me); END IF;
    SELECT * INTO p FROM people y WHERE y."user" = who FOR NO KEY UPDATE;
    IF NOT is_free(me, p, who) THEN status := 'busy'; RETURN; END IF;
    UPDATE dialogs y SET active = false WHERE y.person = p.person AND y.name = name_ AND y.active
    RETURNING y.dialog_id INTO dialog_id_;
    IF NOT FOUND THEN status := 'none'; RETURN; END IF;
    UPDATE people y SET version = y.version + 1 WHERE y.person = p.person;
    status := 'closed';
END $$;

-- Rates a dialog (by either of its ids) or an utterance. Returns false where there is none.
CREATE FUNCTION rate(dialog_id_ text, utt_id_ text, value_ text, shown_ bytea) RETURNS boolean
LANGUAGE plpgsql AS $$
DECLARE p bigint; d bigint; at int;
BEGIN
    IF dialog_id_ IS NOT NULL THEN
        SELECT y.person, y.dialog INTO p, d FROM dialogs y WHERE y.dialog_id = dialog_id_ OR y.id = dialog_id_;
    ELSE
        SELECT u.person, u.dialog, u.position INTO p, d, at FROM utterances u WHERE u.utt_id = utt_id_;
    END IF;
    PERFORM FROM people y WHERE y.person = p FOR NO KEY UPDATE;
    UPDATE dialogs y SET rated = true WHERE y.person = p AND y.dialog = d;
    IF NOT FOUND THEN RETURN false; END IF;
    INSERT INTO ratings (person, dialog, position, value, shown) VALUES (p, d, at, value_, shown_);
    UPDATE people y SET version = y.version + 1 WHERE y.person = p;
    RETURN true;
END $$;

-- Deletes a person with all that is theirs. status: deleted | none | busy
CREATE FUNCTION delete_person(me bigint, who text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE p people; beside int; gone int;
BEGIN
    IF me IS NOT NULL THEN PERFORM check_living(me); END IF;
    p := lock_person(who);
    IF NOT is_free(me, p, who) THEN RETURN 'busy'; END IF;
    DELETE FROM agenda a WHERE a."user" = who;
    GET DIAGNOSTICS beside = ROW_COUNT;
    DELETE FROM records a WHERE a."user" = who;
    GET DIAGNOSTICS gone = ROW_COUNT;
    beside := beside + gone;
    IF p.person IS NULL THEN RETURN CASE WHEN beside > 0 THEN 'deleted' ELSE 'none' END; END IF;
    UPDATE counters c SET value = greatest(c.value, p.feed,
        (SELECT max(o.n) FROM open_turns o WHERE o.person = p.person)) WHERE c.name = 'feed_floor';
    DELETE FROM utterances y WHERE y.person = p.person;
    DELETE FROM versions y WHERE y.person = p.person;
    DELETE FROM feed y WHERE y.person = p.person;
    DELETE FROM requests y WHERE y.person = p.person;
    DELETE FROM ratings y WHERE y.person = p.person;
    DELETE FROM spoke y WHERE y.person = p.person;
    DELETE FROM open_turns y WHERE y.person = p.person;
    DELETE FROM dialog_names y WHERE y.person = p.person;
    DELETE FROM dialogs y WHERE y.person = p.person;
    DELETE FROM people y WHERE y.person = p.person;
    RETURN 'deleted';
END $$;

-- Deletes a dialog whose last utterance is older than `before_`, unless a turn is open in it.
CREATE FUNCTION delete_old_dialog(dialog_ bigint, before_ text) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE p bigint; last_date text;
BEGIN
    SELECT y.person INTO p FROM dialogs y WHERE y.dialog = dialog_;
    PERFORM FROM people y WHERE y.person = p FOR NO KEY UPDATE;
    IF NOT FOUND OR EXISTS (SELECT FROM open_turns o WHERE o.person = p AND o.dialog = dialog_) THEN
        RETURN false;
    END IF;
    SELECT u.date_time INTO last_date FROM utterances u WHERE u.person = p AND u.dialog = dialog_
    ORDER BY u.position DESC LIMIT 1;
    IF last_date IS NULL THEN SELECT y.date_start INTO last_date FROM dialogs y WHERE y.dialog = dialog_; END IF;
    IF NOT last_date COLLATE "C" < before_ THEN RETURN false; END IF;
    DELETE FROM utterances y WHERE y.person = p AND y.dialog = dialog_;
    DELETE FROM versions y WHERE y.person = p AND y.owner = dialog_;
    DELETE FROM feed y WHERE y.person = p AND y.dialog = dialog_;
    DELETE FROM requests y WHERE y.person = p AND y.dialog = dialog_;
    DELETE FROM ratings y WHERE y.person = p AND y.dialog = dialog_;
    DELETE FROM spoke y WHERE y.person = p AND y.dialog = dialog_;
    DELETE FROM dialogs y WHERE y.person = p AND y.dialog = dialog_;
    UPDATE people y SET version = y.version + 1 WHERE y.person = p;
    RETURN true;
END $$;

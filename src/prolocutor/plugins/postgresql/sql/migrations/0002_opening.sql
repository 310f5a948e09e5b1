-- How a turn is opened. PL/pgSQL takes a new snapshot for each statement of a VOLATILE function: what
-- is read after a row lock was granted is what the last turn left. One big statement would read it
-- from before the wait. All functions lock persons in the order of their users, so that no two groups
-- wait for each other.

CREATE TYPE begun AS (
    status text,
    turn_id text,
    outcome bytea,
    person bigint, dialog bigint, named int, said int,
    attempt int, n bigint, id int, version bigint,
    human_id text, dialog_id text, agent_state_id text, date_start text,
    attributes bytea, round bytea, length int, opening bytea,
    human_numbers int[], human_changes bytea[], human_states bytea[],
    bot_numbers int[], bot_changes bytea[], bot_states bytea[],
    by_bot boolean[], user_versions int[], bodies bytea[], hypotheses bytea[],
    rated int[], ratings bytea[]
);

CREATE FUNCTION check_living(me bigint) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM FROM replicas x WHERE x.replica = me AND NOT x.dead;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'replica % was declared dead', me USING ERRCODE = 'PR001';
    END IF;
END $$;

-- Whether others come before: the person is held, or an older ticket of a living replica waits.
CREATE FUNCTION others_first(who text, holder_ text) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    RETURN EXISTS (
        SELECT FROM holds h JOIN replicas x USING (replica) WHERE h."user" = who AND NOT x.dead
    ) OR EXISTS (
        SELECT FROM waiting w JOIN replicas x USING (replica)
        WHERE w."user" = who AND NOT x.dead AND x.alive_until > clock_timestamp()
            AND w.ticket < coalesce((
                SELECT m.ticket FROM waiting m WHERE m."user" = who AND m.holder = holder_
            ), 9223372036854775807)
    );
END $$;

CREATE FUNCTION queue_up(me bigint, who text, holder_ text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO waiting ("user", ticket, holder, replica)
    SELECT who, coalesce(max(w.ticket), 0) + 1, holder_, me FROM waiting w WHERE w."user" = who
    ON CONFLICT (holder, "user") DO UPDATE SET replica = me;
END $$;

-- Locks a person; locks the name of one who is unknown, until the transaction ends.
CREATE FUNCTION lock_person(who text) RETURNS people LANGUAGE plpgsql AS $$
DECLARE p people;
BEGIN
    SELECT * INTO p FROM people x WHERE x."user" = who FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        PERFORM pg_advisory_xact_lock(hashtextextended(who, 7032));
        SELECT * INTO p FROM people x WHERE x."user" = who FOR NO KEY UPDATE;
    END IF;
    RETURN p;
END $$;

CREATE FUNCTION make_person(who text, human_id_ text, human_state bytea) RETURNS people
LANGUAGE plpgsql AS $$
DECLARE p people;
BEGIN
    INSERT INTO people ("user", human_id, feed)
    SELECT who, human_id_, c.value FROM counters c WHERE c.name = 'feed_floor'
    RETURNING * INTO p;
    INSERT INTO versions (person, owner, number, changes, state)
    VALUES (p.person, 0, 0, '[]', human_state);
    RETURN p;
END $$;

CREATE FUNCTION make_dialog(p people, name_ text, dialog_id_ text, id_ text, bot_id_ text,
    bot_state bytea, channel text, date_ text, attributes_ bytea) RETURNS dialogs
LANGUAGE plpgsql AS $$
DECLARE d dialogs;
BEGIN
    INSERT INTO dialogs (person, name, dialog_id, id, bot_id, channel_type, date_start, attributes)
    VALUES (p.person, name_, dialog_id_, id_, bot_id_, channel, date_, attributes_)
    RETURNING * INTO d;
    INSERT INTO versions (person, owner, number, changes, state)
    VALUES (p.person, d.dialog, 0, '[]', bot_state);
    RETURN d;
END $$;

-- The number of a dialog name, and the highest id under it; a new number for a new name.
CREATE FUNCTION number_of_name(person_ bigint, name_ text) RETURNS dialog_names
LANGUAGE plpgsql AS $$
DECLARE x dialog_names;
BEGIN
    SELECT * INTO x FROM dialog_names y WHERE y.person = person_ AND y.name = name_;
    IF NOT FOUND THEN
        INSERT INTO dialog_names (person, number, name)
        SELECT person_, coalesce(max(y.number), 0) + 1, name_ FROM dialog_names y
        WHERE y.person = person_
        RETURNING * INTO x;
    END IF;
    RETURN x;
END $$;

-- All that a replica remembers of a person and a dialog: the chains of both profiles, the last
-- `reach` utterances (null: all), the hypotheses of their human ones if `with_hypotheses`.
CREATE FUNCTION read_head(r begun, p people, d dialogs, reach int, with_hypotheses boolean)
RETURNS begun LANGUAGE plpgsql AS $$
DECLARE h int; b int; frame int;
BEGIN
    r.person := p.person; r.version := p.version; r.human_id := p.human_id;
    r.dialog := d.dialog; r.dialog_id := d.dialog_id; r.agent_state_id := d.id;
    r.date_start := d.date_start; r.attributes := d.attributes; r.round := d.round;
    SELECT y.number, y.said INTO r.named, r.said FROM dialog_names y
    WHERE y.person = p.person AND y.name = d.name;
    SELECT max(v.number) INTO h FROM versions v WHERE v.person = p.person AND v.owner = 0;
    SELECT max(v.number) INTO b FROM versions v WHERE v.person = p.person AND v.owner = d.dialog;
    SELECT array_agg(v.number), array_agg(v.changes), array_agg(v.state)
    INTO r.human_numbers, r.human_changes, r.human_states
    FROM (SELECT * FROM versions y WHERE y.person = p.person AND y.owner = 0
        AND y.number >= h / 16 * 16 ORDER BY y.number) v;
    SELECT array_agg(v.number), array_agg(v.changes), array_agg(v.state)
    INTO r.bot_numbers, r.bot_changes, r.bot_states
    FROM (SELECT * FROM versions y WHERE y.person = p.person AND y.owner = d.dialog
        AND y.number >= b / 16 * 16 ORDER BY y.number) v;
    SELECT u.position + 1 INTO r.length FROM utterances u
    WHERE u.person = p.person AND u.dialog = d.dialog ORDER BY u.position DESC LIMIT 1;
    r.length := coalesce(r.length, 0);
    SELECT array_agg(u.by_bot), array_agg(u.user_version), array_agg(u.body), array_agg(u.hypotheses)
    INTO r.by_bot, r.user_versions, r.bodies, r.hypotheses
    FROM (SELECT y.by_bot, y.user_version, y.body,
            CASE WHEN with_hypotheses THEN y.hypotheses END AS hypotheses
        FROM utterances y WHERE y.person = p.person AND y.dialog = d.dialog
            AND y.position >= r.length - coalesce(reach, r.length) ORDER BY y.position) u;
    -- versions that utterances show and that are older than the chains read so far
    FOR frame IN SELECT DISTINCT x.number / 16 FROM unnest(r.by_bot, r.user_versions) x(by_bot, number)
        WHERE NOT x.by_bot AND x.number < h / 16 * 16 LOOP
        SELECT array_agg(v.number) || r.human_numbers, array_agg(v.changes) || r.human_changes,
            array_agg(v.state) || r.human_states
        INTO r.human_numbers, r.human_changes, r.human_states
        FROM (SELECT * FROM versions y WHERE y.person = p.person AND y.owner = 0
            AND y.number BETWEEN frame * 16 AND frame * 16 + 15 ORDER BY y.number) v;
    END LOOP;
    FOR frame IN SELECT DISTINCT x.number / 16 FROM unnest(r.by_bot, r.user_versions) x(by_bot, number)
        WHERE x.by_bot AND x.number < b / 16 * 16 LOOP
        SELECT array_agg(v.number) || r.bot_numbers, array_agg(v.changes) || r.bot_changes,
            array_agg(v.state) || r.bot_states
        INTO r.bot_numbers, r.bot_changes, r.bot_states
        FROM (SELECT * FROM versions y WHERE y.person = p.person AND y.owner = d.dialog
            AND y.number BETWEEN frame * 16 AND frame * 16 + 15 ORDER BY y.number) v;
    END LOOP;
    IF d.rated THEN
        SELECT array_agg(coalesce(x.position, -1)), array_agg(x.shown) INTO r.rated, r.ratings
        FROM (SELECT * FROM ratings y WHERE y.person = p.person AND y.dialog = d.dialog
            AND (y.position IS NULL OR y.position >= r.length - coalesce(reach, r.length))
            ORDER BY y.rating) x;
    END IF;
    RETURN r;
END $$;

-- The first trip of many turns. `known` is the version of which the replica remembers the head (-1:
-- none); then `dialogs_`, `named_` and `ids` are what it knows, and nothing is read again. `fresh` is
-- the place of the ids of a new person and dialog in the last arrays, null where they were not sent.
-- `repeated`: the answer to the same call was lost.
--
-- status: begun | answered (turn_id, outcome: null while it is open) | conflict | busy | round
-- (outcome: what it is) | again (send it with the ids) | taken (another replica has this turn)
CREATE FUNCTION begin_turns(me bigint, alone boolean, repeated boolean,
    users text[], names text[], turn_ids text[], utt_ids text[], started_ float8[], keys text[],
    hashes bytea[], openings bytea[], rounds bytea[],
    known bigint[], dialogs_ bigint[], named_ int[], ids int[], reaches int[], shown boolean[],
    fresh int[], human_ids text[], human_states bytea[], dialog_ids text[], agent_state_ids text[],
    bot_ids text[], bot_states bytea[], channels text[], dates text[], attributes_ bytea[])
RETURNS SETOF begun LANGUAGE plpgsql AS $$
DECLARE p people; d dialogs; o open_turns; r begun; q record; f int; opened boolean;
    slot_ int;
BEGIN
    PERFORM check_living(me);
    FOR i IN 1 .. cardinality(users) LOOP
        r := NULL; f := fresh[i]; slot_ := 0;
        SELECT * INTO p FROM people y WHERE y."user" = users[i] FOR NO KEY UPDATE;
        IF NOT FOUND THEN
            IF f IS NULL THEN r.status := 'again'; RETURN NEXT r; CONTINUE; END IF;
            p := lock_person(users[i]);
        ELSIF known[i] = p.version AND keys[i] IS NULL AND NOT repeated
            AND NOT EXISTS (SELECT FROM waiting w WHERE w."user" = users[i])
            AND NOT EXISTS (SELECT FROM holds h WHERE h."user" = users[i]) THEN
            -- the usual case: remembered, and nobody waits
            INSERT INTO open_turns (person, slot, turn_id, attempt, replica, dialog, named, n, id,
                started, opening)
            VALUES (p.person, 0, turn_ids[i], 1, me, dialogs_[i], named_[i], p.feed + 1, ids[i],
                started_[i], openings[i])
            ON CONFLICT (person, slot) DO NOTHING;
            IF FOUND THEN
                r.status := 'begun'; r.attempt := 1; r.n := p.feed + 1; r.id := ids[i];
                RETURN NEXT r; CONTINUE;
            END IF;
        END IF;
        IF keys[i] IS NOT NULL THEN
            SELECT y.turn_id, y.request_hash AS hash, NULL::bytea AS outcome INTO q FROM open_turns y
            WHERE y.person = p.person AND y.request_key = keys[i];
            IF NOT FOUND THEN
                SELECT y.turn_id, y.hash, y.outcome INTO q FROM requests y
                WHERE y.person = p.person AND y.key = keys[i] AND y.at >= started_[i] - 86400;
            END IF;
            IF FOUND AND (q.turn_id <> turn_ids[i] OR q.outcome IS NOT NULL) THEN
                DELETE FROM waiting w WHERE w.holder = turn_ids[i] AND w."user" = users[i];
                r.status := CASE WHEN q.hash IS DISTINCT FROM hashes[i] THEN 'conflict' ELSE 'answered' END;
                r.turn_id := q.turn_id; r.outcome := q.outcome;
                RETURN NEXT r; CONTINUE;
            END IF;
        END IF;
        IF repeated AND EXISTS (SELECT FROM utterances u WHERE u.utt_id = utt_ids[i] AND u.person = p.person) THEN
            r.status := 'taken'; RETURN NEXT r; CONTINUE;
        END IF;
        SELECT * INTO o FROM open_turns y WHERE y.person = p.person ORDER BY y.slot DESC LIMIT 1;
        opened := FOUND;
        IF opened OR EXISTS (SELECT FROM waiting w WHERE w."user" = users[i])
            OR EXISTS (SELECT FROM holds h WHERE h."user" = users[i]) THEN
            IF opened AND EXISTS (SELECT FROM open_turns y WHERE y.person = p.person AND y.turn_id = turn_ids[i]) THEN
                SELECT * INTO o FROM open_turns y WHERE y.person = p.person AND y.turn_id = turn_ids[i];
                IF o.replica <> me THEN r.status := 'taken'; RETURN NEXT r; CONTINUE; END IF;
                SELECT * INTO d FROM dialogs y WHERE y.person = p.person AND y.dialog = o.dialog;
                r := read_head(r, p, d, reaches[i], shown[i]);
                r.status := 'begun'; r.attempt := o.attempt; r.n := o.n; r.id := o.id;
                RETURN NEXT r; CONTINUE;
            END IF;
            IF opened AND NOT (alone AND o.replica = me) OR others_first(users[i], turn_ids[i]) THEN
                PERFORM queue_up(me, users[i], turn_ids[i]);
                r.status := 'busy'; RETURN NEXT r; CONTINUE;
            END IF;
        END IF;
        IF known[i] = p.version AND NOT opened THEN
            r.dialog := dialogs_[i]; r.named := named_[i]; r.id := ids[i];
            r.person := p.person; r.version := p.version;
        ELSE
            IF f IS NULL THEN r.status := 'again'; RETURN NEXT r; CONTINUE; END IF;
            SELECT * INTO d FROM dialogs y WHERE y.person = p.person AND y.name = names[i] AND y.active;
            IF rounds[i] <> coalesce(d.round, '{}') THEN
                PERFORM queue_up(me, users[i], turn_ids[i]);
                r.status := 'round'; r.outcome := coalesce(d.round, '{}'); RETURN NEXT r; CONTINUE;
            END IF;
            IF p.person IS NULL THEN p := make_person(users[i], human_ids[f], human_states[f]); END IF;
            IF d.dialog IS NULL THEN
                d := make_dialog(p, names[i], dialog_ids[f], agent_state_ids[f], bot_ids[f],
                    bot_states[f], channels[f], dates[f], attributes_[f]);
            END IF;
            PERFORM number_of_name(p.person, names[i]);
            r := read_head(r, p, d, reaches[i], shown[i]);
            r.id := r.said + 1;
        END IF;
        r.n := p.feed + 1;
        IF opened THEN
            slot_ := o.slot + 1;
            SELECT greatest(r.n, max(y.n) + 1), greatest(r.id, max(y.id) FILTER (WHERE y.named = r.named) + 1)
            INTO r.n, r.id FROM open_turns y WHERE y.person = p.person;
        END IF;
        DELETE FROM waiting w WHERE w.holder = turn_ids[i] AND w."user" = users[i];
        INSERT INTO open_turns (person, slot, turn_id, attempt, replica, dialog, named, n, id, started,
            request_key, request_hash, opening)
        VALUES (p.person, slot_, turn_ids[i], 1, me, r.dialog, r.named, r.n, r.id, started_[i],
            keys[i], hashes[i], openings[i]);
        r.status := 'begun'; r.attempt := 1;
        RETURN NEXT r;
    END LOOP;
END $$;

-- Starts another run of an open turn. status: begun | busy (a living replica has it) | none
CREATE FUNCTION resume_turn(me bigint, turn text, reach int, with_hypotheses boolean)
RETURNS begun LANGUAGE plpgsql AS $$
DECLARE p people; d dialogs; o open_turns; r begun; living boolean;
BEGIN
    PERFORM check_living(me);
    SELECT y.person INTO r.person FROM open_turns y WHERE y.turn_id = turn;
    SELECT * INTO p FROM people y WHERE y.person = r.person FOR NO KEY UPDATE;
    SELECT * INTO o FROM open_turns y WHERE y.turn_id = turn AND y.person = p.person FOR UPDATE;
    IF NOT FOUND THEN r.status := 'none'; RETURN r; END IF;
    IF o.replica <> me THEN
        SELECT NOT y.dead INTO living FROM replicas y WHERE y.replica = o.replica;
        IF living THEN r.status := 'busy'; RETURN r; END IF;
        UPDATE replicas SET takeovers = takeovers + 1 WHERE replica = me;
    END IF;
    UPDATE open_turns y SET replica = me, attempt = y.attempt + 1
    WHERE y.person = o.person AND y.slot = o.slot RETURNING * INTO o;
    SELECT * INTO d FROM dialogs y WHERE y.person = o.person AND y.dialog = o.dialog;
    r := read_head(r, p, d, reach, with_hypotheses);
    r.status := 'begun'; r.attempt := o.attempt; r.n := o.n; r.id := o.id;
    r.opening := o.opening;
    RETURN r;
END $$;

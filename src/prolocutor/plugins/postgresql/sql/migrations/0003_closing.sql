-- How a turn is closed, and what is said unasked.

-- Writes an entry in place of one with the same skill and key; beyond `most` another one is removed,
-- and counted.
CREATE FUNCTION put_entry(who text, place_ bytea, skill_ text, key_ text, name_ text, due_ float8,
    body_ bytea, dropped_ int, most int) RETURNS void LANGUAGE plpgsql AS $$
DECLARE count_ int; gone int := 0; dropped_before int;
BEGIN
    DELETE FROM agenda a WHERE a."user" = who AND a.place = place_;
    SELECT count(*) INTO count_ FROM agenda a WHERE a."user" = who;
    WHILE count_ >= greatest(1, most) LOOP
        DELETE FROM agenda a WHERE a."user" = who AND a.entry = (
            SELECT b.entry FROM agenda b WHERE b."user" = who AND b.skill = (
                SELECT c.skill FROM agenda c WHERE c."user" = who GROUP BY c.skill
                ORDER BY count(*) DESC, min(c.due), min(c.entry) LIMIT 1
            ) ORDER BY b.due, b.entry LIMIT 1
        ) RETURNING a.dropped INTO dropped_before;
        gone := gone + dropped_before + 1; count_ := count_ - 1;
    END LOOP;
    INSERT INTO agenda ("user", place, skill, key, name, due, body, dropped)
    VALUES (who, place_, skill_, key_, name_, due_, body_, dropped_);
    IF gone > 0 THEN
        UPDATE agenda a SET dropped = a.dropped + gone WHERE a."user" = who AND a.entry = (
            SELECT b.entry FROM agenda b WHERE b."user" = who ORDER BY b.due, b.entry LIMIT 1
        );
    END IF;
END $$;

-- The second trip of many turns. Of the arrays of utterances, messages, struck entries and entries,
-- each turn has as many as its `spoken`, `said`, `struck` and `put` say, one after the other.
--
-- status: stored | before (this run had stored it already) | taken (another run has it, or had it, or
-- it is gone). Where it was stored, `feed` is the person's last number, `id` the last under the name.
CREATE FUNCTION finish_turns(me bigint, users text[], persons bigint[], turn_ids text[],
    attempts int[], holders bigint[], lengths int[],
    human_numbers int[], human_changes bytea[], human_states bytea[],
    bot_numbers int[], bot_changes bytea[], bot_states bytea[],
    words bytea[], closings bytea[], rounds bytea[], replies bytea[], outcomes bytea[],
    spoken int[], utt_ids text[], by_bots boolean[], user_versions int[], dates text[], bodies bytea[],
    lists bytea[], skills text[],
    said int[], messages bytea[],
    struck int[], struck_places bytea[],
    put int[], put_users text[], put_places bytea[], put_skills text[], put_keys text[],
    put_names text[], put_dues float8[], put_bodies bytea[], put_dropped int[], most int)
RETURNS TABLE (status text, feed bigint, id int, version bigint)
LANGUAGE plpgsql AS $$
#variable_conflict use_variable
DECLARE o open_turns; k int := 0; m int := 0; s int := 0; e int := 0; last_n bigint; last_id int;
    shown int;
    living boolean; at int;
BEGIN
    SELECT NOT y.dead INTO living FROM replicas y WHERE y.replica = me;
    FOR i IN 1 .. cardinality(persons) LOOP
        SELECT y.feed INTO last_n FROM people y WHERE y.person = persons[i] FOR NO KEY UPDATE;
        o := NULL;
        IF living AND holders[i] = me THEN
            DELETE FROM open_turns y WHERE y.person = persons[i] AND y.turn_id = turn_ids[i]
                AND y.attempt = attempts[i] AND y.replica = me RETURNING * INTO o;
        END IF;
        IF o.person IS NULL THEN
            k := k + spoken[i]; m := m + said[i]; s := s + struck[i]; e := e + put[i];
            status := 'taken'; feed := NULL; id := NULL; version := NULL;
            IF spoken[i] > 0 AND EXISTS (SELECT FROM utterances u
                WHERE u.utt_id = utt_ids[k] AND u.person = persons[i]
                AND u.attempt = attempts[i] AND u.body = bodies[k]) THEN
                status := 'before';
            END IF;
            RETURN NEXT; CONTINUE;
        END IF;
        at := lengths[i];
        IF replies[i] IS NOT NULL AND at > 0 THEN
            UPDATE utterances u SET body = replies[i]
            WHERE u.person = o.person AND u.dialog = o.dialog AND u.position = at - 1;
        END IF;
        -- the usual two rows go in one statement: what a partitioned table costs it is paid once
        IF spoken[i] = 2 THEN
            INSERT INTO utterances (person, dialog, position, utt_id, by_bot, user_version, attempt,
                date_time, body, hypotheses)
            VALUES (o.person, o.dialog, at, utt_ids[k + 1], by_bots[k + 1], user_versions[k + 1],
                    o.attempt, dates[k + 1], bodies[k + 1], lists[k + 1]),
                (o.person, o.dialog, at + 1, utt_ids[k + 2], by_bots[k + 2], user_versions[k + 2],
                    o.attempt, dates[k + 2], bodies[k + 2], lists[k + 2]);
        END IF;
        FOR j IN 1 .. spoken[i] LOOP
            k := k + 1;
            IF spoken[i] <> 2 THEN
                INSERT INTO utterances (person, dialog, position, utt_id, by_bot, user_version,
                    attempt, date_time, body, hypotheses)
                VALUES (o.person, o.dialog, at, utt_ids[k], by_bots[k], user_versions[k], o.attempt,
                    dates[k], bodies[k], lists[k]);
            END IF;
            at := at + 1;
            IF skills[k] IS NOT NULL THEN
                INSERT INTO spoke (person, dialog, skill) VALUES (o.person, o.dialog, skills[k])
                ON CONFLICT DO NOTHING;
            END IF;
        END LOOP;
        IF human_numbers[i] IS NOT NULL THEN
            INSERT INTO versions (person, owner, number, changes, state)
            VALUES (o.person, 0, human_numbers[i], human_changes[i], human_states[i]);
        END IF;
        IF bot_numbers[i] IS NOT NULL THEN
            INSERT INTO versions (person, owner, number, changes, state)
            VALUES (o.person, o.dialog, bot_numbers[i], bot_changes[i], bot_states[i]);
        END IF;
        last_n := greatest(last_n, o.n);
        shown := 0;
        FOR j IN 1 .. said[i] LOOP
            IF messages[m + j] IS NOT NULL THEN shown := shown + 1; END IF;
        END LOOP;
        UPDATE dialog_names y SET said = greatest(y.said, o.id) + shown
        WHERE y.person = o.person AND y.number = o.named RETURNING y.said - shown INTO last_id;
        IF said[i] = 1 THEN
            m := m + 1; last_n := last_n + 1; last_id := last_id + shown;
            INSERT INTO feed (person, n, dialog, named, id, message, closing)
            VALUES (o.person, o.n, o.dialog, o.named, o.id, words[i], NULL),
                (o.person, last_n, o.dialog, o.named, last_id, messages[m], closings[i]);
        ELSE
            INSERT INTO feed (person, n, dialog, named, id, message)
            VALUES (o.person, o.n, o.dialog, o.named, o.id, words[i]);
            FOR j IN 1 .. said[i] LOOP
                m := m + 1; last_n := last_n + 1;
                IF messages[m] IS NOT NULL THEN last_id := last_id + 1; END IF;
                INSERT INTO feed (person, n, dialog, named, id, message, closing)
                VALUES (o.person, last_n, o.dialog, o.named, last_id, messages[m],
                    CASE WHEN j = said[i] THEN closings[i] END);
            END LOOP;
        END IF;
        IF rounds[i] IS NOT NULL THEN
            UPDATE dialogs y SET round = rounds[i] WHERE y.person = o.person AND y.dialog = o.dialog;
        END IF;
        IF o.request_key IS NOT NULL THEN
            INSERT INTO requests (person, key, hash, turn_id, dialog, at, outcome)
            VALUES (o.person, o.request_key, o.request_hash, o.turn_id, o.dialog, o.started, outcomes[i])
            ON CONFLICT (person, key) DO UPDATE SET hash = excluded.hash, turn_id = excluded.turn_id,
                dialog = excluded.dialog, at = excluded.at, outcome = excluded.outcome;
        END IF;
        FOR j IN 1 .. struck[i] LOOP
            s := s + 1;
            DELETE FROM agenda a WHERE a."user" = users[i] AND a.place = struck_places[s];
        END LOOP;
        FOR j IN 1 .. put[i] LOOP
            e := e + 1;
            PERFORM put_entry(put_users[e], put_places[e], put_skills[e], put_keys[e], put_names[e],
                put_dues[e], put_bodies[e], put_dropped[e], most);
        END LOOP;
        UPDATE people y SET feed = last_n, version = y.version + 1 WHERE y.person = o.person
        RETURNING y.version INTO version;
        status := 'stored'; feed := last_n; id := last_id;
        RETURN NEXT;
    END LOOP;
END $$;

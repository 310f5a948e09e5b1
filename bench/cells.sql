-- What `bench/cells.py` measures PL/Proxy with: the usual path of a turn, one row of each array a turn.
CREATE FUNCTION begin_split(me bigint, users text[], turn_ids text[], started_ float8[], openings bytea[])
RETURNS TABLE (who text, person bigint, n bigint, id int, version bigint) LANGUAGE plpgsql AS $$
#variable_conflict use_variable
DECLARE p people; d record;
BEGIN
    PERFORM check_living(me);
    FOR i IN 1 .. cardinality(users) LOOP
        SELECT * INTO p FROM people y WHERE y."user" = users[i] FOR NO KEY UPDATE;
        CONTINUE WHEN NOT FOUND OR EXISTS (SELECT FROM waiting w WHERE w."user" = users[i])
            OR EXISTS (SELECT FROM holds h WHERE h."user" = users[i]);
        SELECT x.dialog, n.number, n.said INTO d FROM dialogs x
        JOIN dialog_names n ON n.person = x.person AND n.name = x.name WHERE x.person = p.person AND x.active;
        INSERT INTO open_turns (person, slot, turn_id, attempt, replica, dialog, named, n, id, started, opening)
        VALUES (p.person, 0, turn_ids[i], 1, me, d.dialog, d.number, p.feed + 1, d.said + 1, started_[i], openings[i]);
        who := users[i]; person := p.person; n := p.feed + 1; id := d.said + 1; version := p.version;
        RETURN NEXT;
    END LOOP;
END $$;
CREATE FUNCTION finish_split(me bigint, users text[], turn_ids text[], utt_ids text[], reply_ids text[],
    dates text[], bodies bytea[], replies bytea[], lists bytea[], words bytea[], messages bytea[])
RETURNS TABLE (who text, version bigint) LANGUAGE plpgsql AS $$
#variable_conflict use_variable
DECLARE o open_turns; at int; p bigint; living boolean;
BEGIN
    SELECT NOT y.dead INTO living FROM replicas y WHERE y.replica = me;
    FOR i IN 1 .. cardinality(users) LOOP
        SELECT y.person INTO p FROM people y WHERE y."user" = users[i] FOR NO KEY UPDATE;
        DELETE FROM open_turns y WHERE y.person = p AND y.turn_id = turn_ids[i] AND y.replica = me RETURNING * INTO o;
        SELECT coalesce(max(u.position) + 1, 0) INTO at FROM utterances u WHERE u.person = p AND u.dialog = o.dialog;
        INSERT INTO utterances (person, dialog, position, utt_id, by_bot, user_version, attempt, date_time, body, hypotheses)
        VALUES (p, o.dialog, at, utt_ids[i], false, 0, 1, dates[i], bodies[i], lists[i]),
            (p, o.dialog, at + 1, reply_ids[i], true, 0, 1, dates[i], replies[i], NULL);
        INSERT INTO versions (person, owner, number, changes)
        SELECT p, 0, coalesce(max(v.number), 0) + 1, words[i] FROM versions v WHERE v.person = p AND v.owner = 0;
        UPDATE dialog_names y SET said = o.id + 1 WHERE y.person = p AND y.number = o.named;
        INSERT INTO feed (person, n, dialog, named, id, message)
        VALUES (p, o.n, o.dialog, o.named, o.id, words[i]), (p, o.n + 1, o.dialog, o.named, o.id + 1, messages[i]);
        UPDATE people y SET feed = o.n + 1, version = y.version + 1 WHERE y.person = p RETURNING y.version INTO version;
        who := users[i];
        RETURN NEXT;
    END LOOP;
END $$;
CREATE FUNCTION make_split(who text, a text, b text, c text, d text) RETURNS int LANGUAGE plpgsql AS $$
DECLARE p people;
BEGIN
    p := make_person(who, a, '{}');
    PERFORM make_dialog(p, 'main', b, c, d, '{}', 'bench', '', '{}');
    PERFORM number_of_name(p.person, 'main');
    INSERT INTO replicas (replica, url, alive_until) OVERRIDING SYSTEM VALUE VALUES (77, '', '9000-01-01')
    ON CONFLICT DO NOTHING;
    RETURN 1;
END $$;

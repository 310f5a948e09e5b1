-- Assistants that share a database have a schema each, and the connections of the dead are theirs alone:
-- their name is that of this connection with another number.

-- Declares dead whose lease has run out; one lease later where the server was started, or `me` was
-- connected (not `settled`), less than a lease ago: then perhaps nobody could prolong it. Takes over up to `most` turns of the dead; returns all that `me` has then.
-- What is locked by others is left for the next time.
CREATE OR REPLACE FUNCTION inherit_turns(me bigint, lease float8, settled boolean, most int)
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
        WHERE a.application_name
                = regexp_replace(current_setting('application_name'), '[0-9]+', dead_::text)
            AND a.usename = current_user AND a.datname = current_database()
            AND a.xact_start < until - interval '1 second';
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

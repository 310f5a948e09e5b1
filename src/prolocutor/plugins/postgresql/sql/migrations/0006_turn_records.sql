-- Records of turns, and what operators find dialogs by. Every key begins with the person.

-- One row for each recorded turn, at the position of its reply. `flags` are bits: 1 thumb down, 2 no
-- answer, 4 a service failed, 8 slow, 16 thumb up. `record` is MessagePack, compressed where it is long.
CREATE TABLE turns (
    person bigint NOT NULL,
    dialog bigint NOT NULL,
    position int NOT NULL,
    at float8 NOT NULL,
    seconds float8 NOT NULL,
    cost float8 NOT NULL,
    flags int NOT NULL,
    record bytea NOT NULL,
    PRIMARY KEY (person, dialog, position)
) PARTITION BY HASH (person);
CREATE INDEX turns_by_age ON turns (at);

-- What each agent did in a recorded turn. `outcome` is done, failed, late or skipped.
CREATE TABLE agent_turns (
    person bigint NOT NULL,
    dialog bigint NOT NULL,
    position int NOT NULL,
    agent text COLLATE "C" NOT NULL,
    at float8 NOT NULL,
    outcome text NOT NULL,
    code text,
    won boolean NOT NULL,
    declined boolean NOT NULL,
    seconds float8,
    bucket int,
    cost float8 NOT NULL,
    PRIMARY KEY (person, dialog, position, agent)
) PARTITION BY HASH (person);
CREATE INDEX agent_turns_by_time ON agent_turns (at, agent);

-- The words of recorded turns; they stay as long as the dialog.
CREATE TABLE words (
    person bigint NOT NULL,
    dialog bigint NOT NULL,
    position int NOT NULL,
    at float8 NOT NULL,
    words tsvector NOT NULL,
    PRIMARY KEY (person, dialog, position)
) PARTITION BY HASH (person);
CREATE INDEX words_found ON words USING gin (words);

DO $$
BEGIN
    FOR i IN 0 .. 15 LOOP
        EXECUTE format('CREATE TABLE turns_%s PARTITION OF turns FOR VALUES WITH (MODULUS 16, REMAINDER %s)', i, i);
        EXECUTE format('CREATE TABLE agent_turns_%s PARTITION OF agent_turns FOR VALUES WITH (MODULUS 16, REMAINDER %s)', i, i);
        EXECUTE format('CREATE TABLE words_%s PARTITION OF words FOR VALUES WITH (MODULUS 16, REMAINDER %s)', i, i);
    END LOOP;
END $$;

-- What lists show of a dialog, and by what they find it. `at` is when its last turn began, `began` its
-- first one, `last` the position of its last reply, `failed` how many services failed.
CREATE TABLE facts (
    person bigint NOT NULL,
    dialog bigint NOT NULL,
    at float8 NOT NULL,
    began float8 NOT NULL,
    turns int NOT NULL,
    slowest float8 NOT NULL,
    cost float8 NOT NULL,
    failed int NOT NULL,
    flags int NOT NULL,
    last int,
    channel text COLLATE "C" NOT NULL,
    PRIMARY KEY (person, dialog)
) WITH (fillfactor = 70);
INSERT INTO facts
SELECT d.person, d.dialog, extract(epoch FROM (u.date_time || '+00')::timestamptz),
    extract(epoch FROM (d.date_start || '+00')::timestamptz), (u.position + 2) / 2, 0, 0, 0, 0,
    (SELECT max(b.position) FROM utterances b WHERE b.person = d.person AND b.dialog = d.dialog AND b.by_bot),
    d.channel_type
FROM dialogs d CROSS JOIN LATERAL (
    SELECT y.position, y.date_time FROM utterances y WHERE y.person = d.person AND y.dialog = d.dialog
    ORDER BY y.position DESC LIMIT 1
) u
WHERE u.date_time ~ '^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d+)?$' AND d.date_start ~ '^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d+)?$';
CREATE INDEX facts_by_time ON facts (at, dialog);
CREATE INDEX facts_down ON facts (at, dialog) WHERE flags & 1 <> 0;
CREATE INDEX facts_none ON facts (at, dialog) WHERE flags & 2 <> 0;
CREATE INDEX facts_failed ON facts (at, dialog) WHERE flags & 4 <> 0;
CREATE INDEX facts_slow ON facts (at, dialog) WHERE flags & 8 <> 0;

-- Turns by hour. Each replica adds to rows of its own; what is deleted or rated counts as replica 0.
CREATE TABLE hours (
    hour bigint NOT NULL,
    replica bigint NOT NULL,
    turns bigint NOT NULL,
    bad bigint NOT NULL,
    down bigint NOT NULL,
    none bigint NOT NULL,
    failed bigint NOT NULL,
    slow bigint NOT NULL,
    PRIMARY KEY (hour, replica)
) WITH (fillfactor = 50);

-- Adds the counts of turns to their hours; `sign` is -1 for turns that are deleted.
CREATE FUNCTION count_hours(me bigint, ats float8[], bits int[], sign int) RETURNS void LANGUAGE sql AS $$
    INSERT INTO hours AS h
    SELECT floor(n.at / 3600)::bigint * 3600, me, sign * count(*), sign * count(*) FILTER (WHERE n.flags & 6 <> 0),
        sign * count(*) FILTER (WHERE n.flags & 1 <> 0), sign * count(*) FILTER (WHERE n.flags & 2 <> 0),
        sign * count(*) FILTER (WHERE n.flags & 4 <> 0), sign * count(*) FILTER (WHERE n.flags & 8 <> 0)
    FROM unnest(ats, bits) AS n (at, flags) GROUP BY 1 ORDER BY 1
    ON CONFLICT (hour, replica) DO UPDATE SET turns = h.turns + excluded.turns, bad = h.bad + excluded.bad,
        down = h.down + excluded.down, none = h.none + excluded.none, failed = h.failed + excluded.failed,
        slow = h.slow + excluded.slow
$$;

-- Keeps records. Their dialogs are locked, so that none is deleted meanwhile; those of dialogs that are
-- gone are left out. Of the agents' arrays each row names the reply that it belongs to.
CREATE FUNCTION keep_turns(me bigint, utt_ids text[], dialog_ids text[], ats float8[], seconds_ float8[],
    costs float8[], bits int[], failures int[], records_ bytea[], channels text[], said text[],
    agent_utts text[], agents text[], outcomes text[], codes text[], wins boolean[], declines boolean[],
    durations float8[], buckets int[], agent_costs float8[])
RETURNS void LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE kept_ats float8[]; kept_bits int[];
BEGIN
    PERFORM FROM dialogs d WHERE d.dialog_id = ANY (dialog_ids) ORDER BY d.dialog FOR KEY SHARE;
    UPDATE facts f SET at = greatest(f.at, n.at) FROM unnest(utt_ids, dialog_ids, ats) AS n (utt_id, dialog_id, at)
    JOIN dialogs d ON d.dialog_id = n.dialog_id
    WHERE f.person = d.person AND f.dialog = d.dialog
        AND NOT EXISTS (SELECT FROM utterances u WHERE u.utt_id = n.utt_id);
    WITH kept AS MATERIALIZED (
        SELECT n.utt_id, u.person, u.dialog, u.position, n.at, n.seconds, n.cost, n.flags, n.failed, n.record,
            n.channel, n.said
        FROM unnest(utt_ids, ats, seconds_, costs, bits, failures, records_, channels, said)
            AS n (utt_id, at, seconds, cost, flags, failed, record, channel, said)
        JOIN utterances u ON u.utt_id = n.utt_id AND u.by_bot
        WHERE NOT EXISTS (SELECT FROM turns t
            WHERE t.person = u.person AND t.dialog = u.dialog AND t.position = u.position)
    ), new_turns AS (
        INSERT INTO turns SELECT k.person, k.dialog, k.position, k.at, k.seconds, k.cost, k.flags, k.record
        FROM kept k ON CONFLICT DO NOTHING
    ), new_words AS (
        INSERT INTO words SELECT k.person, k.dialog, k.position, k.at, to_tsvector('simple', k.said)
        FROM kept k ON CONFLICT DO NOTHING
    ), new_agents AS (
        INSERT INTO agent_turns
        SELECT k.person, k.dialog, k.position, a.agent, k.at, a.outcome, a.code, a.won, a.declined, a.seconds,
            a.bucket, a.cost
        FROM unnest(agent_utts, agents, outcomes, codes, wins, declines, durations, buckets, agent_costs)
            AS a (utt_id, agent, outcome, code, won, declined, seconds, bucket, cost)
        JOIN kept k ON k.utt_id = a.utt_id ON CONFLICT DO NOTHING
    ), new_facts AS (
        INSERT INTO facts AS f
        SELECT k.person, k.dialog, max(k.at), min(k.at), count(*), max(k.seconds), sum(k.cost), sum(k.failed),
            bit_or(k.flags) & 15, max(k.position), min(k.channel)
        FROM kept k GROUP BY k.person, k.dialog ORDER BY k.dialog
        ON CONFLICT (person, dialog) DO UPDATE SET at = greatest(f.at, excluded.at),
            turns = f.turns + excluded.turns, slowest = greatest(f.slowest, excluded.slowest),
            cost = f.cost + excluded.cost, failed = f.failed + excluded.failed, flags = f.flags | excluded.flags,
            last = greatest(f.last, excluded.last)
    )
    SELECT array_agg(k.at), array_agg(k.flags) INTO kept_ats, kept_bits FROM kept k;
    PERFORM count_hours(me, kept_ats, kept_bits, 1);
END $$;

-- With a dialog goes what is kept of its turns, and what they counted.
CREATE FUNCTION forget_turns() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM count_hours(0, array_agg(t.at), array_agg(t.flags), -1) FROM turns t
    WHERE t.person = OLD.person AND t.dialog = OLD.dialog HAVING count(*) > 0;
    DELETE FROM turns t WHERE t.person = OLD.person AND t.dialog = OLD.dialog;
    DELETE FROM agent_turns t WHERE t.person = OLD.person AND t.dialog = OLD.dialog;
    DELETE FROM words t WHERE t.person = OLD.person AND t.dialog = OLD.dialog;
    DELETE FROM facts t WHERE t.person = OLD.person AND t.dialog = OLD.dialog;
    RETURN NULL;
END $$;
CREATE TRIGGER turns_of_dialog AFTER DELETE ON dialogs FOR EACH ROW EXECUTE FUNCTION forget_turns();

-- Notes the thumb of a reply: 1 down, 16 up, 0 another rating.
CREATE FUNCTION note_thumb(utt_id_ text, thumb int) RETURNS void LANGUAGE plpgsql AS $$
DECLARE t record; after_ int;
BEGIN
    SELECT y.* INTO t FROM utterances u JOIN turns y USING (person, dialog, position)
    WHERE u.utt_id = utt_id_ AND u.by_bot FOR UPDATE OF y;
    IF NOT FOUND THEN RETURN; END IF;
    after_ := t.flags & ~17 | thumb;
    IF after_ = t.flags THEN RETURN; END IF;
    UPDATE turns y SET flags = after_ WHERE y.person = t.person AND y.dialog = t.dialog AND y.position = t.position;
    UPDATE facts f SET flags = f.flags & ~1 | coalesce((SELECT max(y.flags & 1) FROM turns y
        WHERE y.person = t.person AND y.dialog = t.dialog), 0) WHERE f.person = t.person AND f.dialog = t.dialog;
    IF (after_ & 1) <> (t.flags & 1) THEN
        INSERT INTO hours AS h VALUES (floor(t.at / 3600)::bigint * 3600, 0, 0, 0, (after_ & 1) - (t.flags & 1), 0, 0, 0)
        ON CONFLICT (hour, replica) DO UPDATE SET down = h.down + excluded.down;
    END IF;
END $$;

-- Dialogs of a day, each of a person of its own, with ten turns: `number` of them from `first` on.
CREATE FUNCTION fill_day(day int, first int, number int) RETURNS void LANGUAGE plpgsql AS $$
DECLARE date_ text := '2024-01-' || lpad((day + 1)::text, 2, '0') || ' 12:00:00.000000'; said bytea; reply bytea;
BEGIN
    said := convert_to('{"text":"what is the weather like today?","annotations":{"ner":"' || repeat('x', 420) || '"}}', 'UTF8');
    reply := convert_to('{"text":"it is a fine day","annotations":{"ner":"' || repeat('y', 420) || '"}}', 'UTF8');
    CREATE TEMP TABLE IF NOT EXISTS made (person bigint, dialog bigint);
    TRUNCATE made;
    WITH p AS (
        INSERT INTO people ("user", human_id, feed)
        SELECT format('user %s %s', day, n), format('human %s %s', day, n), 20 FROM generate_series(first, first + number - 1) n
        RETURNING person, human_id
    ), d AS (
        INSERT INTO dialogs (person, name, dialog_id, id, bot_id, channel_type, date_start, attributes)
        SELECT person, 'main', 'd' || human_id, 'i' || human_id, 'bot', 'bench', date_, '{}' FROM p
        RETURNING person, dialog
    ) INSERT INTO made SELECT * FROM d;
    INSERT INTO dialog_names (person, number, name, said) SELECT person, 1, 'main', 20 FROM made;
    INSERT INTO spoke SELECT person, dialog, 'weather' FROM made;
    INSERT INTO utterances (person, dialog, position, utt_id, by_bot, user_version, attempt, date_time, body, hypotheses)
    SELECT person, dialog, n, md5(dialog || ' ' || n), n % 2 = 1, 0, 1, date_,
        CASE WHEN n % 2 = 1 THEN reply ELSE said END, CASE WHEN n % 2 = 0 THEN reply END
    FROM made CROSS JOIN generate_series(0, 19) n;
    INSERT INTO feed (person, n, dialog, named, id, message)
    SELECT person, n, dialog, 1, n, said FROM made CROSS JOIN generate_series(1, 20) n;
    INSERT INTO versions (person, owner, number, changes, state)
    SELECT person, dialog, n, '[["attributes","turns",1]]', CASE WHEN n = 0 THEN said END
    FROM made CROSS JOIN generate_series(0, 9) n;
END $$;

-- The bytes of tables and of their indexes, and their dead rows, partitions taken together.
CREATE FUNCTION sizes(tables text[]) RETURNS TABLE (rows bigint, indexes bigint, dead bigint) LANGUAGE sql AS $$
    SELECT sum(pg_table_size(c))::bigint, sum(pg_indexes_size(c))::bigint, sum(s.n_dead_tup)::bigint
    FROM unnest(tables) t CROSS JOIN LATERAL (
        SELECT inhrelid AS c FROM pg_inherits WHERE inhparent = t::regclass
        UNION SELECT t::regclass WHERE NOT EXISTS (SELECT FROM pg_inherits WHERE inhparent = t::regclass)
    ) x JOIN pg_stat_user_tables s ON s.relid = c GROUP BY t
$$;

-- What a connection is prepared with, and the versions of the database.

-- name: session_facts
SELECT current_setting('server_encoding') AS encoding,
    current_setting('synchronous_commit') AS synchronous_commit,
    current_setting('synchronous_standby_names') AS standbys,
    pg_is_in_recovery() OR current_setting('transaction_read_only') = 'on' AS read_only;

-- name: prepare_session
SELECT set_config(name, value, false) FROM unnest($1::text[], $2::text[]) AS x(name, value);

-- name: compress_fast
SELECT set_config('default_toast_compression', 'lz4', false) FROM pg_settings
WHERE name = 'default_toast_compression' AND 'lz4' = ANY (enumvals);

-- name: has_schema
SELECT current_schema() IS NOT NULL;

-- name: has_migrations
SELECT to_regclass('prolocutor_migrations') IS NOT NULL;

-- name: last_migration
SELECT coalesce(max(number), 0), coalesce(max(number) FILTER (WHERE breaking), 0)
FROM prolocutor_migrations;

-- name: lock_migrations
SELECT pg_advisory_xact_lock($1);

-- name: add_migration
INSERT INTO prolocutor_migrations (number, breaking) VALUES ($1, $2);

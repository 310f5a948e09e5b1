-- Tables that grow without end are vacuumed when a fiftieth of a partition is dead, not a fifth: at 100 million
-- rows a fifth is more than is deleted in a week. Small tables that change all the time are vacuumed by number.
DO $$
DECLARE one record;
BEGIN
    FOR one IN SELECT c.oid::regclass AS name FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
        WHERE i.inhparent IN ('utterances'::regclass, 'versions'::regclass, 'feed'::regclass,
            'turns'::regclass, 'agent_turns'::regclass, 'words'::regclass) LOOP
        EXECUTE format('ALTER TABLE %s SET (autovacuum_vacuum_scale_factor = 0.02,'
            ' autovacuum_vacuum_threshold = 2000, autovacuum_analyze_scale_factor = 0.05,'
            ' autovacuum_vacuum_cost_delay = 1)', one.name);
    END LOOP;
END $$;
ALTER TABLE people SET (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 1);
ALTER TABLE dialogs SET (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 1);
ALTER TABLE facts SET (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 1);
ALTER TABLE requests SET (autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_cost_delay = 1);
ALTER TABLE open_turns SET (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000,
    autovacuum_vacuum_cost_delay = 0);
ALTER TABLE waiting SET (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000,
    autovacuum_vacuum_cost_delay = 0);
ALTER TABLE holds SET (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000,
    autovacuum_vacuum_cost_delay = 0);
ALTER TABLE replicas SET (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500,
    autovacuum_vacuum_cost_delay = 0);

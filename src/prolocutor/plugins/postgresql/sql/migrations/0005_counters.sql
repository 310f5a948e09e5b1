-- Counters of quotas, for all replicas. Losing them in a crash costs nothing but a fresh start.

-- A counter holds `period` seconds; `empty_at` is when it is empty again.
CREATE UNLOGGED TABLE quota_counters (
    name text COLLATE "C" PRIMARY KEY,
    empty_at float8 NOT NULL,
    period float8 NOT NULL
) WITH (fillfactor = 50);

-- How many of a name are open at a replica.
CREATE UNLOGGED TABLE quota_open (
    name text COLLATE "C" NOT NULL,
    replica bigint NOT NULL,
    number bigint NOT NULL,
    PRIMARY KEY (name, replica)
) WITH (fillfactor = 50);

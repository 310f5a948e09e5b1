-- What agents did, summed up by the day: `day` counts those since 1970 (UTC), `figures` is JSON.
-- `figures_summed` in `meta` is the time up to which spans were added to their day.
CREATE TABLE agent_days (
    day INTEGER NOT NULL,
    agent TEXT NOT NULL,
    figures BLOB NOT NULL,
    PRIMARY KEY (day, agent)
) WITHOUT ROWID;
INSERT INTO meta VALUES ('figures_summed', 0);

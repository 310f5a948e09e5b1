-- What agents did in turns whose records are of another store and were not kept there any more, in spans
-- of 900 seconds; `figures` is JSON.
CREATE TABLE agent_sums (
    agent text COLLATE "C" NOT NULL,
    at bigint NOT NULL,
    figures bytea NOT NULL,
    PRIMARY KEY (agent, at)
);
CREATE INDEX agent_sums_by_time ON agent_sums (at);

-- Sums such as what calls cost, by kind, person, thing and period; '' stands for no person or thing.
CREATE TABLE amounts (
    kind text COLLATE "C" NOT NULL,
    "user" text COLLATE "C" NOT NULL,
    name text COLLATE "C" NOT NULL,
    period text COLLATE "C" NOT NULL,
    amount float8 NOT NULL,
    number bigint NOT NULL,
    PRIMARY KEY (kind, period, "user", name)
) WITH (fillfactor = 50);
CREATE INDEX amounts_of_user ON amounts ("user") WHERE "user" <> '';

-- Adds all of the amounts and returns the sums, or none: then the place of one (from 0) whose limit is why.
CREATE FUNCTION add_amounts(kinds text[], users text[], names text[], periods text[], added float8[],
    numbers bigint[], limits float8[], OUT refused int, OUT sums float8[])
LANGUAGE plpgsql AS $$
DECLARE total float8;
BEGIN
    sums := '{}';
    FOR i IN 1 .. coalesce(cardinality(kinds), 0) LOOP
        INSERT INTO amounts AS a VALUES (kinds[i], users[i], names[i], periods[i], added[i], numbers[i])
            ON CONFLICT (kind, period, "user", name)
            DO UPDATE SET amount = a.amount + excluded.amount, number = a.number + excluded.number
            RETURNING a.amount INTO total;
        IF total > limits[i] THEN
            refused := i - 1;
            RAISE EXCEPTION USING ERRCODE = 'PR402';
        END IF;
        sums := sums || total;
    END LOOP;
EXCEPTION WHEN SQLSTATE 'PR402' THEN
    sums := NULL;
END $$;

-- The same functions at the server in front: PL/Proxy sends each row to the database of its person.
CREATE EXTENSION plproxy;
CREATE SERVER cells FOREIGN DATA WRAPPER plproxy OPTIONS (%s);
CREATE USER MAPPING FOR postgres SERVER cells OPTIONS (user 'postgres');
CREATE FUNCTION begin_split(me bigint, users text[], turn_ids text[], started_ float8[], openings bytea[])
RETURNS TABLE (who text, person bigint, n bigint, id int, version bigint) LANGUAGE plproxy AS $$
    CLUSTER 'cells'; SPLIT users, turn_ids, started_, openings; RUN ON hashtext(users);
$$;
CREATE FUNCTION finish_split(me bigint, users text[], turn_ids text[], utt_ids text[], reply_ids text[],
    dates text[], bodies bytea[], replies bytea[], lists bytea[], words bytea[], messages bytea[])
RETURNS TABLE (who text, version bigint) LANGUAGE plproxy AS $$
    CLUSTER 'cells';
    SPLIT users, turn_ids, utt_ids, reply_ids, dates, bodies, replies, lists, words, messages;
    RUN ON hashtext(users);
$$;
CREATE FUNCTION make_split(who text, a text, b text, c text, d text) RETURNS int LANGUAGE plproxy AS $$
    CLUSTER 'cells'; RUN ON hashtext(who);
$$;

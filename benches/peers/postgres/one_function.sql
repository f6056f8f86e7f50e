-- A payment in one call and one commit.
\set n :n + 1
\set session :n * :clients - :client_id
\set merchant :session * 2654435761 % 4294967296 / 65536 % :merchants + 1
SELECT pay(:merchant, :session);

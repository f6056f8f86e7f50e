-- A payment in two calls, each a transaction: as many commits as Till makes.
\set n :n + 1
\set session :n * :clients - :client_id
\set merchant :session * 2654435761 % 4294967296 / 65536 % :merchants + 1
SELECT initiate(:merchant, :session) AS payment \gset
SELECT capture(:merchant, :payment);

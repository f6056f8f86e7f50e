-- What one payment writes, as a service on PostgreSQL would keep it. Ids are bigint (Till's are of 16 bytes), and each
-- table has its primary key and the one index that a rule needs (Till keeps indexes for every list besides).

CREATE TABLE merchant (
    id bigint PRIMARY KEY,
    currency text NOT NULL,
    pending bigint NOT NULL DEFAULT 0,
    available bigint NOT NULL DEFAULT 0
) WITH (fillfactor = 20);

CREATE TABLE session (
    id bigint PRIMARY KEY,
    merchant_id bigint NOT NULL,
    amount bigint NOT NULL,
    currency text NOT NULL,
    token text NOT NULL,
    expires_at timestamptz NOT NULL,
    used_by bigint
) WITH (fillfactor = 80);

CREATE TABLE payment (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    merchant_id bigint NOT NULL,
    external_id text NOT NULL,
    session_id bigint NOT NULL,
    amount bigint NOT NULL,
    currency text NOT NULL,
    capture boolean NOT NULL,
    return_url text NOT NULL,
    status text NOT NULL,
    created_at timestamptz NOT NULL,
    captured_at timestamptz,
    UNIQUE (merchant_id, external_id)
) WITH (fillfactor = 80);

CREATE TABLE authorization_result (
    payment_id bigint PRIMARY KEY,
    reference text NOT NULL,
    approved boolean NOT NULL,
    at timestamptz NOT NULL
);

CREATE TABLE ledger_transaction (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    merchant_id bigint NOT NULL,
    payment_id bigint NOT NULL,
    effective_at timestamptz NOT NULL
);

CREATE TABLE ledger_entry (
    transaction_id bigint NOT NULL,
    account text NOT NULL,
    amount bigint NOT NULL,
    balance bigint NOT NULL,
    PRIMARY KEY (transaction_id, account)
);

CREATE TABLE activity (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    merchant_id bigint NOT NULL,
    type text NOT NULL,
    payment_id bigint NOT NULL,
    at timestamptz NOT NULL
);

CREATE TABLE outbox (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    merchant_id bigint NOT NULL,
    payment_id bigint NOT NULL,
    call text NOT NULL
);

-- Empties everything, and makes sessions. Which merchant a session is of is computed from its number, by the scripts
-- too, so that neighbouring sessions are of different merchants.
CREATE FUNCTION refill(merchants bigint, sessions bigint) RETURNS void LANGUAGE sql AS $$
    TRUNCATE merchant, session, payment, authorization_result, ledger_transaction, ledger_entry, activity, outbox;
    INSERT INTO merchant (id, currency) SELECT number, 'THB' FROM generate_series(1, merchants) AS number;
    INSERT INTO session (id, merchant_id, amount, currency, token, expires_at)
        SELECT number, number * 2654435761 % 4294967296 / 65536 % merchants + 1, 10000, 'THB',
            'tok_0000000000000000000000', now() + interval '1 day'
        FROM generate_series(1, sessions) AS number;
$$;

-- Fails unless every payment is captured once, with its entries, and the merchants have its money.
CREATE FUNCTION check_books() RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    payments bigint := (SELECT count(*) FROM payment WHERE status = 'CAPTURED');
BEGIN
    IF payments = 0 OR payments <> (SELECT count(*) FROM session WHERE used_by IS NOT NULL)
        OR payments <> (SELECT count(*) FROM activity)
        OR payments * 2 <> (SELECT count(*) FROM ledger_entry)
        OR payments * 10000 <> (SELECT sum(pending) FROM merchant)
        OR 0 <> (SELECT sum(amount) FROM ledger_entry)
    THEN
        RAISE EXCEPTION 'the books of % payments do not add up', payments;
    END IF;
END $$;

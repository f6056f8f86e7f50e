-- A payment as a service with its rules outside of the database makes it: statement by statement, two transactions.
\set n :n + 1
\set session :n * :clients - :client_id
\set merchant :session * 2654435761 % 4294967296 / 65536 % :merchants + 1
BEGIN;
SELECT currency FROM merchant WHERE id = :merchant FOR UPDATE;
SELECT amount, currency, expires_at, used_by FROM session WHERE id = :session AND merchant_id = :merchant;
INSERT INTO payment (merchant_id, external_id, session_id, amount, currency, capture, return_url, status, created_at)
    VALUES (:merchant, 'order-' || :session::bigint, :session, 10000, 'THB', true, 'https://shop.example/done',
        'INITIATED', now())
    RETURNING id AS payment \gset
UPDATE session SET used_by = :payment WHERE id = :session AND used_by IS NULL;
INSERT INTO outbox (merchant_id, payment_id, call) VALUES (:merchant, :payment, 'authorize');
COMMIT;
BEGIN;
UPDATE merchant SET pending = pending + 10000 WHERE id = :merchant RETURNING pending AS balance \gset
INSERT INTO authorization_result (payment_id, reference, approved, at) VALUES (:payment, 'sandbox', true, now());
UPDATE payment SET status = 'CAPTURED', captured_at = now() WHERE id = :payment AND status = 'INITIATED';
INSERT INTO ledger_transaction (merchant_id, payment_id, effective_at)
    VALUES (:merchant, :payment, now() + interval '1 day')
    RETURNING id AS transaction \gset
INSERT INTO ledger_entry (transaction_id, account, amount, balance)
    VALUES (:transaction, 'merchant', 10000, :balance), (:transaction, 'acquirer', -10000, -(:balance::bigint));
INSERT INTO activity (merchant_id, type, payment_id, at) VALUES (:merchant, 'payment_captured', :payment, now());
INSERT INTO outbox (merchant_id, payment_id, call) VALUES (:merchant, :payment, 'settle');
COMMIT;

-- The rules of a payment next to its rows: no round trip within a transaction.

-- Till's first commit: the payment is there, its session used, the call to the acquirer noted.
CREATE FUNCTION initiate(of_merchant bigint, of_session bigint) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    found session%ROWTYPE;
    its_currency text;
    made bigint;
BEGIN
    SELECT currency INTO STRICT its_currency FROM merchant WHERE id = of_merchant FOR UPDATE;
    SELECT * INTO STRICT found FROM session WHERE id = of_session AND merchant_id = of_merchant;
    IF found.used_by IS NOT NULL OR found.expires_at < now() OR found.amount <> 10000 OR found.currency <> its_currency
    THEN
        RAISE EXCEPTION 'the session does not fit';
    END IF;
    INSERT INTO payment (merchant_id, external_id, session_id, amount, currency, capture, return_url, status,
            created_at)
        VALUES (of_merchant, 'order-' || of_session, of_session, 10000, 'THB', true, 'https://shop.example/done',
            'INITIATED', now())
        RETURNING id INTO made;
    UPDATE session SET used_by = made WHERE id = of_session;
    INSERT INTO outbox (merchant_id, payment_id, call) VALUES (of_merchant, made, 'authorize');
    RETURN made;
END $$;

-- Till's second commit: the acquirer has authorized, the payment is captured, the ledger and the balance say so, the
-- activity is listed, the call is done and the settlement noted.
CREATE FUNCTION capture(of_merchant bigint, of_payment bigint) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    now_pending bigint;
    made bigint;
BEGIN
    UPDATE merchant SET pending = pending + 10000 WHERE id = of_merchant RETURNING pending INTO now_pending;
    INSERT INTO authorization_result (payment_id, reference, approved, at) VALUES (of_payment, 'sandbox', true, now());
    UPDATE payment SET status = 'CAPTURED', captured_at = now() WHERE id = of_payment AND status = 'INITIATED';
    INSERT INTO ledger_transaction (merchant_id, payment_id, effective_at)
        VALUES (of_merchant, of_payment, now() + interval '1 day') RETURNING id INTO made;
    INSERT INTO ledger_entry (transaction_id, account, amount, balance)
        VALUES (made, 'merchant', 10000, now_pending), (made, 'acquirer', -10000, -now_pending);
    INSERT INTO activity (merchant_id, type, payment_id, at)
        VALUES (of_merchant, 'payment_captured', of_payment, now());
    INSERT INTO outbox (merchant_id, payment_id, call) VALUES (of_merchant, of_payment, 'settle');
END $$;

-- Both in one transaction, and so one commit: what no service that asks an acquirer in between can do.
CREATE FUNCTION pay(of_merchant bigint, of_session bigint) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM capture(of_merchant, initiate(of_merchant, of_session));
END $$;

"""The main flow and three refusals by the client that openapi-python-client generated. What mypy accepts here is what the
OpenAPI document says; what runs is what the server answers."""

import os
import time
from typing import Any, TypeVar

from till_public import AuthenticatedClient, Client
from till_public.api.merchants_activity import merchants_list_activity_logs as list_activity_logs
from till_public.api.merchants_balance import merchants_get_balance as get_balance
from till_public.api.merchants_metadata import merchants_add_to_metadata_set as add_to_metadata_set
from till_public.api.merchants_metadata import merchants_retrieve_metadata as retrieve_metadata
from till_public.api.merchants_metadata import merchants_sync_metadata as sync_metadata
from till_public.api.merchants_payments import merchants_find_payment as find_payment
from till_public.api.merchants_payments import merchants_initiate_payment_flow as initiate_payment_flow
from till_public.api.sdk_cards import sdk_tokenize_card as tokenize_card
from till_public.api.sdk_sessions import sdk_select_payment_method as select_payment_method
from till_public.models import (
    Balance,
    MerchantsAddToMetadataSetBody,
    MerchantsFindPaymentBody,
    MerchantsGetBalanceBody,
    MerchantsInitiatePaymentFlowBody,
    MerchantsListActivityLogsBody,
    MerchantsListActivityLogsResponse200,
    MerchantsRetrieveMetadataBody,
    MerchantsSyncMetadataBody,
    MetadataRecord,
    Payment,
    SdkSelectPaymentMethodBody,
    SdkSelectPaymentMethodBodyPaymentMethod,
    SdkTokenizeCardBody,
)
from till_public.types import UNSET, Response, Unset

ADDRESS = os.environ["TILL_PUBLIC"]
MERCHANT, INSTALLATION = os.environ["TILL_MERCHANT"], os.environ["TILL_INSTALLATION"]
AMOUNT_MINOR = 10_000
FINAL_WITHIN_SECONDS = 20

Answer = TypeVar("Answer")


def main() -> None:
    merchant = AuthenticatedClient(ADDRESS, os.environ["TILL_API_KEY"])
    payments = [paid(merchant, number) for number in ("order-1", "order-2")]
    for payment in payments:
        check_captured(merchant, payment)
    check_activity(merchant, payments)
    check_balance(merchant, len(payments))
    check_metadata(merchant)
    check_refusals(merchant)
    print("the main flow and three refusals: as typed")


def answered(response: Response[Any], kind: type[Answer]) -> Answer:
    """What a call answered, which must be of this type."""
    assert response.status_code == 200, response.content
    assert isinstance(response.parsed, kind), response.parsed
    return response.parsed


def paid(merchant: AuthenticatedClient, external_id: str) -> str:
    card = SdkTokenizeCardBody(
        merchant_id=MERCHANT, installation_id=INSTALLATION, number="4242424242424242", name="Ada Example",
        expiration_date="12/49", security_code="123",
    )
    token = answered(tokenize_card.sync_detailed(client=Client(ADDRESS), body=card), str)
    body = initiation(selected_session(token), external_id)
    first = initiate_payment_flow.sync_detailed(client=merchant, body=body, idempotency_key=external_id)
    again = initiate_payment_flow.sync_detailed(client=merchant, body=body, idempotency_key=external_id)
    assert first.parsed == again.parsed and again.headers["Idempotent-Replayed"] == "true"
    return answered(first, str)


def selected_session(token: str | Unset = UNSET) -> str:
    body = SdkSelectPaymentMethodBody(
        merchant_id=MERCHANT, installation_id=INSTALLATION, amount=str(AMOUNT_MINOR), currency="THB",
        payment_method=SdkSelectPaymentMethodBodyPaymentMethod.CARD, token=token,
    )
    return answered(select_payment_method.sync_detailed(client=Client(ADDRESS), body=body), str)


def initiation(session: str, external_id: str | Unset = UNSET) -> MerchantsInitiatePaymentFlowBody:
    return MerchantsInitiatePaymentFlowBody(
        amount=AMOUNT_MINOR, currency="THB", payment_session_id=session, capture=True,
        return_url="https://shop.example/done", external_id=external_id,
    )


def check_captured(merchant: AuthenticatedClient, payment_id: str) -> None:
    body = MerchantsFindPaymentBody(payment_id=payment_id)
    end = time.monotonic() + FINAL_WITHIN_SECONDS
    while (payment := answered(find_payment.sync_detailed(client=merchant, body=body), Payment)).status != "SUCCESSFUL":
        assert time.monotonic() < end, payment
        time.sleep(0.1)
    assert payment.amount_captured == AMOUNT_MINOR
    assert payment.card is not None and payment.card.last_digits == "4242"


def check_activity(merchant: AuthenticatedClient, payments: list[str]) -> None:
    captured = {"activity_type": "payment_captured", "per_page": 1}
    first = activity(merchant, MerchantsListActivityLogsBody.from_dict(captured))
    assert first.next_ is not None
    second = activity(merchant, MerchantsListActivityLogsBody.from_dict(first.next_.to_dict()))
    assert second.next_ is None
    assert [entry.object_id for entry in [*first.page, *second.page]] == payments[::-1]


def activity(merchant: AuthenticatedClient, body: MerchantsListActivityLogsBody) -> MerchantsListActivityLogsResponse200:
    response = list_activity_logs.sync_detailed(client=merchant, body=body)
    return answered(response, MerchantsListActivityLogsResponse200)


def check_balance(merchant: AuthenticatedClient, payments: int) -> None:
    balance = answered(get_balance.sync_detailed(client=merchant, body=MerchantsGetBalanceBody()), Balance)
    assert balance.available + balance.pending == payments * AMOUNT_MINOR


def check_metadata(merchant: AuthenticatedClient) -> None:
    item = MerchantsAddToMetadataSetBody(key="order-1", path="tags", value="gift")
    assert answered(add_to_metadata_set.sync_detailed(client=merchant, body=item), bool) is True
    assert answered(add_to_metadata_set.sync_detailed(client=merchant, body=item), bool) is False
    value = {"tags": ["fragile"], "door": 7}
    sync = MerchantsSyncMetadataBody.from_dict({"key": "order-1", "metadata": value, "version": 1})
    assert answered(sync_metadata.sync_detailed(client=merchant, body=sync), MetadataRecord).version == 2
    query = MerchantsRetrieveMetadataBody(key="order-1")
    record = answered(retrieve_metadata.sync_detailed(client=merchant, body=query), MetadataRecord)
    assert record.version == 2 and record.to_dict()["metadata"] == value


def check_refusals(merchant: AuthenticatedClient) -> None:
    wrong = get_balance.sync(client=AuthenticatedClient(ADDRESS, "sk_wrong"), body=MerchantsGetBalanceBody())
    assert isinstance(wrong, list), wrong
    refused(wrong, "UNAUTHORIZED", "key")
    unknown = initiate_payment_flow.sync(client=merchant, body=initiation("pse_01jz0000000000000000000000"))
    assert isinstance(unknown, list), unknown
    refused(unknown, "NOT_FOUND", "session")
    # The types do not say that a session without a token needs `card_id`.
    missing = initiate_payment_flow.sync(client=merchant, body=initiation(selected_session()))
    assert isinstance(missing, list), missing
    refused(missing, "INVALID_ARGUMENTS", "card_id")


def refused(triple: list[Any], expected: str, named: str) -> None:
    code, message, _ = triple
    assert code == expected, triple
    assert isinstance(message, str) and named in message, triple


if __name__ == "__main__":
    main()

"""The protocol's own Python client, sync and async: one call at a time, and pipelined. The pipelined client calls one by
one when a package names no pipeline, so the server's counters must tell that pipelines ran there."""

import asyncio
import os
import re
import time
import urllib.request

from webfunction import AsyncClient, BadRequestError, Client

PUBLIC, ADMIN = os.environ["TILL_PUBLIC"], os.environ["TILL_ADMIN"]
MERCHANTS, SDK = f"{PUBLIC}/merchants", f"{PUBLIC}/sdk"
KEY = os.environ["TILL_API_KEY"]
SHOP = {"merchant_id": os.environ["TILL_MERCHANT"], "installation_id": os.environ["TILL_INSTALLATION"]}
CARD = {"number": "4242424242424242", "name": "Ada Example", "expiration_date": "12/49", "security_code": "123"}
CHOICE = {"amount": "10000", "currency": "THB", "payment_method": "CARD"}
FINAL_WITHIN_SECONDS = 20


def main():
    calls(Client.from_package_endpoint(MERCHANTS, bearer_auth=KEY), Client.from_url(SDK))
    asyncio.run(async_calls())
    before = pipelines_run()
    pipelined()
    asyncio.run(async_pipelined())
    assert pipelines_run() == before + 4, f"the server ran {pipelines_run() - before} pipelines, not 4"
    print("sync, async and pipelined calls: as described")


def calls(merchants, sdk):
    """Every kind of answer: a bare string, an object, pages forth and back, booleans, refusals."""
    check_package(merchants.package)
    payments = [merchants.initiate_payment_flow(**initiation(selected(sdk), f"sync-{number}")) for number in (1, 2)]
    for payment in payments:
        wait_until_captured(merchants, payment)
    first = merchants.list_activity_logs(activity_type="payment_captured", per_page=1)
    second = first.next_page()
    assert [page[0]["object_id"] for page in (first, second)] == payments[::-1]
    assert not second.has_next and second.previous_page().items == first.items
    assert merchants.get_balance()["currency"] == "THB"
    assert merchants.add_to_metadata_set(key="sync", path="tags", value="gift") is True
    assert merchants.add_to_metadata_set(key="sync", path="tags", value="gift") is False
    merchants.sync_metadata(key="sync", metadata={"door": 7})
    assert merchants.retrieve_metadata(key="sync", data_only=True) == {"door": 7}
    refusals(merchants, sdk)


def check_package(package):
    """What the client reads of the package document besides names."""
    find = package.endpoint("find-payment")
    assert find.bearer_auth and find.argument("payment_id").required
    assert find.returns.objects == ["payment"], find.returns
    assert package.object("payment", context="attributes").attribute("status").values
    assert package.endpoint("list-activity-logs").paginated
    assert not package.endpoint("available-api-versions").bearer_auth


def selected(sdk):
    token = sdk.tokenize_card(**SHOP, **CARD, usage="SINGLE")
    return sdk.select_payment_method(**SHOP, **CHOICE, token=token)


def initiation(session, external_id):
    named = {"payment_session_id": session, "external_id": external_id}
    return {"amount": "10000", "currency": "THB", "capture": True, "return_url": "https://shop.example/done", **named}


def wait_until_captured(merchants, payment):
    end = time.monotonic() + FINAL_WITHIN_SECONDS
    while (found := merchants.find_payment(payment_id=payment))["status"] != "SUCCESSFUL":
        assert time.monotonic() < end, found
        time.sleep(0.1)
    declared = merchants.package.object("payment", context="attributes").attributes
    assert {attribute.name for attribute in declared} == set(found)
    for attribute in declared:
        value = found[attribute.name]
        assert attribute.type.valid(value) or (attribute.nullable and value is None), (attribute, value)


def refusals(merchants, sdk):
    wrong = Client.from_package(merchants.package, bearer_auth="sk_wrong")
    assert refused(wrong.get_balance)[0] == "UNAUTHORIZED"
    unknown = initiation("pse_01jz0000000000000000000000", "sync-3")
    assert refused(merchants.initiate_payment_flow, **unknown)[0] == "NOT_FOUND"
    code, details = refused(merchants.find_payment)
    assert code == "INVALID_ARGUMENTS" and details[0]["argument"] == "payment_id", details
    assert refused(sdk.tokenize_card, **SHOP)[0] == "INVALID_ARGUMENTS"


def refused(function, **arguments):
    try:
        function(**arguments)
    except BadRequestError as error:
        return error.code, error.details
    raise AssertionError("the call was not refused")


async def async_calls():
    merchants = await AsyncClient.from_package_endpoint(MERCHANTS, bearer_auth=KEY)
    sdk = await AsyncClient.from_url(SDK)
    tokens = await asyncio.gather(*(sdk.tokenize_card(**SHOP, **CARD, usage="SINGLE") for _ in range(8)))
    sessions = await asyncio.gather(*(sdk.select_payment_method(**SHOP, **CHOICE, token=token) for token in tokens))
    initiations = (initiation(session, f"async-{number}") for number, session in enumerate(sessions))
    payments = await asyncio.gather(*(merchants.initiate_payment_flow(**arguments) for arguments in initiations))
    found = await asyncio.gather(*(merchants.find_payment(payment_id=payment) for payment in payments))
    assert [payment["external_id"] for payment in found] == [f"async-{number}" for number in range(8)]
    page = await merchants.list_payments(per_page=4)
    following = await page.next_page()
    seen = {payment["payment_id"] for payment in [*page, *following]}
    assert seen == set(payments)
    try:
        await merchants.find_payment(payment_id="unknown")
    except BadRequestError as error:
        assert error.code == "NOT_FOUND", error
    else:
        raise AssertionError("an unknown payment was found")


def pipelined():
    """Three pipelines: two whose second step refers to what the first one answered, one whose second step is refused."""
    sdk = Client.from_package_endpoint(SDK, pipelined=True)
    token = sdk.tokenize_card(**SHOP, **CARD)
    session = sdk.select_payment_method(**SHOP, **CHOICE, token=token)
    assert sdk.pipeline.execute() == [token.value, session.value]
    merchants = Client.from_package_endpoint(MERCHANTS, bearer_auth=KEY, pipelined=True)
    payment = merchants.initiate_payment_flow(**initiation(session.value, "pipelined"))
    found = merchants.find_payment(payment_id=payment)
    merchants.pipeline.execute("last")
    assert found.value["external_id"] == "pipelined" and found.value["payment_id"].startswith("pay_")
    merchants.add_to_metadata_set(key="pipelined", path="tags", value="gift")
    merchants.find_payment(payment_id="unknown")
    code, _ = refused(merchants.pipeline.execute)
    assert code == "NOT_FOUND", code
    single = Client.from_package(merchants.package, bearer_auth=KEY)
    assert single.retrieve_metadata(key="pipelined", data_only=True) == {"tags": ["gift"]}


async def async_pipelined():
    """One pipeline, on a session that was selected without."""
    session = selected(Client.from_package_endpoint(SDK))
    merchants = await AsyncClient.from_package_endpoint(MERCHANTS, bearer_auth=KEY, pipelined=True)
    payment = await merchants.initiate_payment_flow(**initiation(session, "async-pipelined"))
    found = await merchants.find_payment(payment_id=payment)
    again = await merchants.find_payment(payment_id=found["external_id"])
    await merchants.pipeline.execute()
    assert payment.value == found.value["payment_id"] == again.value["payment_id"]


def pipelines_run():
    """How many pipelines the server counts, refused ones included."""
    address = Client.from_package_endpoint(MERCHANTS).package.pipeline_url
    assert address is not None, "the package names no pipeline_url"
    name = address.rsplit("/", 1)[-1]
    text = urllib.request.urlopen(f"{ADMIN}/metrics").read().decode()
    counted = re.findall(rf'^till_http_requests_total\{{[^}}]*endpoint="{re.escape(name)}"[^}}]*\}} (\d+)$', text, re.MULTILINE)
    return sum(map(int, counted))


if __name__ == "__main__":
    main()

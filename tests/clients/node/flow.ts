// The main flow and three refusals by openapi-fetch and generated types. What the compiler accepts here is what the
// OpenAPI document says; what runs is what the server answers.

import assert from "node:assert/strict";
import { setTimeout as wait } from "node:timers/promises";
import createClient from "openapi-fetch";
import type { paths } from "./schema.js";

// A refusal of a caller that asks for no other form, as the document describes it.
type Triple = paths["/merchants/get-balance"]["post"]["responses"][400]["content"]["application/json"];

const AMOUNT_MINOR = 10_000;
const FINAL_WITHIN_SECONDS = 20;

function setting(name: string): string {
  const value = process.env[name];
  assert.ok(value, `${name} is not set`);
  return value;
}

function clientWith(key: string) {
  return createClient<paths>({ baseUrl: setting("TILL_PUBLIC"), headers: { Authorization: `Bearer ${key}` } });
}

const client = clientWith(setting("TILL_API_KEY"));
const shop = { merchant_id: setting("TILL_MERCHANT"), installation_id: setting("TILL_INSTALLATION") };

// What a call answered, or an end of the program with the refusal.
function answered<Data>(result: { data?: Data; error?: unknown }): Data {
  assert.equal(result.error, undefined);
  assert.notEqual(result.data, undefined);
  return result.data as Data;
}

async function selectedSession(token?: string): Promise<string> {
  const choice = { ...shop, amount: String(AMOUNT_MINOR), currency: "THB", payment_method: "CARD" as const };
  return answered(await client.POST("/sdk/select-payment-method", { body: token ? { ...choice, token } : choice }));
}

function initiation(session: string) {
  return {
    amount: AMOUNT_MINOR,
    currency: "THB",
    payment_session_id: session,
    capture: true,
    return_url: "https://shop.example/done",
  };
}

async function paid(externalId: string): Promise<string> {
  const card = {
    number: "4242424242424242",
    name: "Ada Example",
    expiration_date: "12/49",
    security_code: "123",
    usage: "SINGLE" as const,
  };
  const token = answered(await client.POST("/sdk/tokenize-card", { body: { ...shop, ...card } }));
  const body = { ...initiation(await selectedSession(token)), external_id: externalId };
  const options = { body, params: { header: { "Idempotency-Key": externalId } } };
  const payment = answered(await client.POST("/merchants/initiate-payment-flow", options));
  const again = answered(await client.POST("/merchants/initiate-payment-flow", options));
  assert.equal(again, payment);
  return payment;
}

async function captured(paymentId: string): Promise<void> {
  for (const end = Date.now() + FINAL_WITHIN_SECONDS * 1000; ; ) {
    const payment = answered(await client.POST("/merchants/find-payment", { body: { payment_id: paymentId } }));
    if (payment.status === "SUCCESSFUL") {
      assert.equal(payment.amount_captured, AMOUNT_MINOR);
      assert.equal(payment.card?.last_digits, "4242");
      return;
    }
    assert.ok(Date.now() < end, `payment ${paymentId} is ${payment.status}`);
    await wait(100);
  }
}

async function activity(payments: string[]): Promise<void> {
  const filter = { activity_type: "payment_captured" as const, per_page: 1 };
  const first = answered(await client.POST("/merchants/list-activity-logs", { body: filter }));
  assert.ok(first.next);
  const second = answered(await client.POST("/merchants/list-activity-logs", { body: first.next }));
  assert.equal(second.next, null);
  const seen = [...first.page, ...second.page].map((entry) => entry.object_id);
  assert.deepEqual(seen, payments.toReversed());
}

async function balance(payments: number): Promise<void> {
  const { available, pending, currency } = answered(await client.POST("/merchants/get-balance", { body: {} }));
  assert.equal(available + pending, payments * AMOUNT_MINOR);
  assert.equal(currency, "THB");
}

async function metadata(): Promise<void> {
  const item = { key: "order-1", path: "tags", value: { text: "gift", number: 1 } };
  assert.equal(answered(await client.POST("/merchants/add-to-metadata-set", { body: item })), true);
  assert.equal(answered(await client.POST("/merchants/add-to-metadata-set", { body: item })), false);
  const value = { tags: ["fragile"], door: 7 };
  const sync = { body: { key: "order-1", metadata: value, version: 1 } };
  assert.equal(answered(await client.POST("/merchants/sync-metadata", sync)).version, 2);
  const query = { body: { key: "order-1", data_only: true } };
  assert.deepEqual(answered(await client.POST("/merchants/retrieve-metadata", query)), value);
}

async function refusals(): Promise<void> {
  const unauthorized = await clientWith("sk_wrong").POST("/merchants/get-balance", { body: {} });
  refused(unauthorized.error, "UNAUTHORIZED", "key");

  const session = "pse_01jz0000000000000000000000";
  const unknown = await client.POST("/merchants/initiate-payment-flow", { body: initiation(session) });
  refused(unknown.error, "NOT_FOUND", "session");

  // The types do not say that a session without a token needs `card_id`.
  const missing = await client.POST("/merchants/initiate-payment-flow", { body: initiation(await selectedSession()) });
  refused(missing.error, "INVALID_ARGUMENTS", "card_id");
}

function refused(error: unknown, expected: Triple[0], named: string): void {
  assert.ok(isTriple(error), `not an error triple: ${JSON.stringify(error)}`);
  const [code, message] = error;
  assert.equal(code, expected);
  assert.ok(message.includes(named), message);
}

// Tells the two forms of refusals apart. openapi-fetch makes an array of any length of the document's triple.
function isTriple(error: unknown): error is Triple {
  return Array.isArray(error) && error.length === 3;
}

const payments = [await paid("order-1"), await paid("order-2")];
for (const payment of payments) await captured(payment);
await activity(payments);
await balance(payments.length);
await metadata();
await refusals();
console.log("the main flow and three refusals: as typed");

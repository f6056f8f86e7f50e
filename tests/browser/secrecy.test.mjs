// A card's number and security code are in one request only, and nowhere else: not in the browser, not in the shop, not in
// what the server writes.
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { Customer, act, isBackAt, payButton, reaches } from "./customer.mjs";
import { Till } from "./server.mjs";
import { launch } from "./stage.mjs";

/** A number that is valid, and in no other test. */
const NUMBER = "4539148803436467";
const CODE = "739";

/** The forms in which the number could have been written down. */
function writings(number) {
  const groups = number.match(/.{4}/g);
  const texts = [number, groups.join(" "), groups.join("-"), groups.join("+"), groups.join("%20")];
  const bytes = Buffer.from(number);
  return [
    ...texts.map((text) => Buffer.from(text)), Buffer.from(bytes.toString("base64").replace(/=+$/, "").slice(0, -2)),
    Buffer.from(bytes.toString("hex")), Buffer.from(number, "hex"), Buffer.from(number, "utf16le"), Buffer.from([...bytes].reverse()),
  ];
}

function holds(bytes) {
  return writings(NUMBER).some((writing) => Buffer.from(bytes).includes(writing));
}

function filesBelow(directory) {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name));
}

/** Everything that a page keeps beside what is in its fields. */
async function keptBy(page, context) {
  const inPage = await page.evaluate(async () => JSON.stringify({
    html: document.documentElement.outerHTML,
    local: { ...localStorage }, session: { ...sessionStorage }, cookies: document.cookie, state: history.state,
    address: location.href, name: window.name,
    databases: (await indexedDB.databases()).map(({ name }) => name),
    caches: window.isSecureContext ? await caches.keys() : [],
    workers: (await navigator.serviceWorker?.getRegistrations() ?? []).length,
  }));
  return inPage + JSON.stringify(await context.storageState({ indexedDB: true }));
}

/** What is in the fields of a page. */
const typedIn = (page) => page.evaluate(() => JSON.stringify([...document.querySelectorAll("input, textarea")].map(({ value }) => value)));

async function typeNumber(page) {
  await page.getByRole("radio", { name: "Card", exact: true }).check();
  await page.getByLabel("Card number").pressSequentially(NUMBER);
  await page.getByLabel("Expiry date").pressSequentially("12/49");
  await page.getByLabel("Security code").pressSequentially(CODE);
  await page.getByLabel("Name on card").pressSequentially("Ada Example");
}

async function everySent(customer) {
  return Promise.all(customer.requests.map(async (request) => {
    const headers = JSON.stringify(await request.allHeaders().catch(() => request.headers()));
    return { url: request.url(), text: `${request.url()}\n${headers}\n${request.postData() ?? ""}` };
  }));
}

test("[short] the card's number is in the body of tokenize-card and nowhere else", { timeout: 180_000 }, async () => {
  assert.ok(writings(NUMBER).every((writing) => holds(Buffer.concat([Buffer.from("a "), writing, Buffer.from(" b")]))));
  const till = await Till.start({ logFilter: "debug" });
  const browser = await launch();
  const shop = await till.shop();
  const customer = await Customer.of(browser);
  const { page, context } = customer;
  try {
    const { url, id } = await shop.checkout();
    await page.goto(url);
    await typeNumber(page);
    assert.equal(await page.getByLabel("Card number").getAttribute("name"), null);
    assert.ok(holds(await typedIn(page)) && !holds(await keptBy(page, context)), "it is in its field alone");
    await page.route("**/sdk/pay-checkout", async (route) => {
      assert.ok(!holds(await page.content()), "the fields' values are not written into the page");
      await route.continue();
    });
    await payButton(page).click();
    await page.waitForResponse("**/sdk/pay-checkout");
    await page.getByRole("heading", { level: 2, name: "Processing your payment" }).waitFor();
    assert.ok(!holds(await typedIn(page)) && !holds(await keptBy(page, context)), "the page has forgotten the number as soon as it is sent");
    await isBackAt(page, shop, id);
    assert.ok(!holds(await keptBy(page, context)), "nothing is kept");
    assert.deepEqual(await context.cookies(), []);
    await page.goto(url);
    assert.ok(!holds(await keptBy(page, context)));

    const sent = await everySent(customer);
    const withNumber = sent.filter(({ text }) => holds(text));
    assert.deepEqual(withNumber.map((request) => request.url), [`${till.base}/sdk/tokenize-card`]);
    const [body] = customer.calls("tokenize-card").map((request) => request.postDataJSON());
    assert.deepEqual([body.number, body.security_code, body.usage], [NUMBER, CODE, "SINGLE"]);
    const bodiesWithCode = customer.requests.filter((request) => (request.postData() ?? "").includes(`"${CODE}"`));
    assert.deepEqual(bodiesWithCode.map((request) => request.url()), [`${till.base}/sdk/tokenize-card`]);
    assert.ok(!holds(JSON.stringify(shop.requests)));
    const origins = new Set(sent.map((request) => new URL(request.url).origin));
    assert.deepEqual([...origins].sort(), [till.base, shop.origin].sort(), "nothing comes from elsewhere");

    const payment = await shop.isPaidOnce(id);
    assert.deepEqual([payment.card.first_digits, payment.card.last_digits], [NUMBER.slice(0, 6), NUMBER.slice(-4)]);
    await context.close();
    await till.stop();
    const files = filesBelow(till.directory);
    assert.ok(files.includes(till.log) && files.length > 5, String(files));
    assert.ok(readFileSync(till.log, "utf8").includes("tokenize-card"), "the log tells of the call");
    assert.deepEqual(files.filter((file) => holds(readFileSync(file))), [], "no file has the number");
    assert.deepEqual(customer.faults, []);
  } finally {
    await browser.close();
    shop.close();
    await till.remove();
  }
});

test("a typed number is gone when the customer comes back from the bank or reloads", { timeout: 180_000 }, async () => {
  const till = await Till.start();
  const browser = await launch();
  const shop = await till.shop();
  const customer = await Customer.of(browser);
  const { page } = customer;
  try {
    const { url } = await shop.checkout();
    await page.goto(url);
    await typeNumber(page);
    await page.reload();
    const typed = () => page.getByLabel("Card number", { includeHidden: true }).evaluate((field) => field.value);
    assert.equal(await typed(), "");
    await typeNumber(page);
    await page.goto(`${shop.origin}/cart`);
    await page.goBack();
    assert.equal(await typed(), "");
    await typeNumber(page);
    await page.getByRole("radio", { name: "Mobile banking" }).check();
    await payButton(page).click();
    await reaches(page, "bank");
    await act(page, "Decline payment");
    await page.waitForURL(url);
    assert.equal(await typed(), "");
    assert.deepEqual((await everySent(customer)).filter(({ text }) => holds(text)), []);
  } finally {
    await browser.close();
    shop.close();
    await till.remove();
  }
});

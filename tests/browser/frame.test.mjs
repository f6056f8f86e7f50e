// `Till.mount` without a checkout: the payment form in the shop's own page, whose server initiates the payment.
import assert from "node:assert/strict";

import { CARD, CHALLENGED, DECLINED, act, anotherWay, heading, reaches, typeCard } from "./customer.mjs";
import { isTold, openMounted, told } from "./mounted.mjs";
import { axeFindings } from "./states.mjs";
import { post, until } from "./server.mjs";
import { stage } from "./stage.mjs";

const { scene } = stage();

const buy = (page) => page.getByRole("button", { name: "Buy" }).click();
const payments = (shop) => async () => Promise.all(shop.initiated.map((payment) => shop.payment(payment)));

/** A card pays in the form, and exactly one payment keeps money; answers all of them. */
async function isPaidByCard(page, frame, shop) {
  await typeCard(frame);
  await buy(page);
  await isTold(page, "onPaymentSuccess");
  return (await shop.keepsMoneyOnce(payments(shop))).payments;
}

/** Writes down every message that the shop's page can hear or send, by window and by port. */
function eavesdrop() {
  window.heard = [];
  const hear = (data) => window.heard.push(JSON.stringify(data));
  addEventListener("message", ({ data }) => hear(data));
  const { set } = Object.getOwnPropertyDescriptor(MessagePort.prototype, "onmessage");
  Object.defineProperty(MessagePort.prototype, "onmessage", {
    set(listener) { set.call(this, (event) => { hear(event.data); listener(event); }); },
  });
  const send = MessagePort.prototype.postMessage;
  MessagePort.prototype.postMessage = function (data, ...more) { hear(data); return send.call(this, data, ...more); };
}

scene("[short] a card is paid in the frame, and its number never reaches the shop's page", async ({ shop, customer, page }) => {
  await page.addInitScript(eavesdrop);
  const frame = await openMounted(shop, page, { customer: { email: "ada@example.com" } });
  await buy(page);
  await frame.getByText("Enter the card number").waitFor();
  await typeCard(frame);
  await page.waitForFunction(() => window.told.some(([name, change]) => name === "onChange" && change.complete));
  await page.evaluate(() => { window.form.submit(); window.form.submit(); });
  await isTold(page, "onPaymentSuccess");
  await frame.getByRole("heading", { level: 2, name: "Payment successful" }).waitFor();
  const [[session]] = await told(page, "onPaymentSessionReady");
  assert.deepEqual(await told(page, "onPaymentSuccess"), [[session]]);
  const { kept } = await shop.keepsMoneyOnce(payments(shop));
  assert.deepEqual([kept.payment_session_id, kept.customer_email], [session, "ada@example.com"]);
  assert.deepEqual(await told(page, "onError"), []);

  const seen = await page.evaluate(() => window.heard.join("\n") + document.documentElement.outerHTML);
  assert.ok(seen.includes(session) && seen.includes("onReady") && seen.includes("height"));
  for (const secret of [CARD, "4242 4242", "tok_", "\"123\"", "12/49"]) assert.ok(!seen.includes(secret), secret);
  assert.ok(!JSON.stringify(shop.requests).includes("4242"));
  const sent = customer.requests.filter((request) => (request.postData() ?? "").includes(CARD));
  assert.deepEqual(sent.map((request) => new URL(request.url()).pathname), ["/sdk/tokenize-card"]);
  assert.ok(await page.evaluate(() => {
    try { return !document.querySelector("iframe").contentDocument; } catch { return true; }
  }), "the shop's page cannot look into the frame");
  await page.evaluate(() => window.form.submit());
  await page.waitForTimeout(300);
  assert.equal(customer.calls("select-payment-method").length, 1, "nothing is paid twice");
});

scene("a declined card can be followed by another, a challenge moves the shop's window", async ({ shop, page }) => {
  const frame = await openMounted(shop, page);
  await typeCard(frame, DECLINED);
  await buy(page);
  await isTold(page, "onPaymentFailed");
  const [[, failure]] = await told(page, "onPaymentFailed");
  assert.deepEqual(failure, { code: "card_declined", message: "Your bank declined this payment." });
  await frame.getByRole("alert").getByText("Your bank declined this payment.").waitFor();
  assert.equal(await frame.getByLabel("Card number").inputValue(), "");
  await typeCard(frame, CHALLENGED);
  await buy(page);
  await reaches(page, "challenge");
  assert.equal(page.frames().length, 1, "no challenge in a frame");
  await act(page, "Authenticate");
  await page.waitForURL(`${shop.origin}/done?payment_id=*`);
  const { payments: all } = await shop.keepsMoneyOnce(payments(shop));
  assert.equal(all.length, 2);
});

scene("the form says the true reason of each failure", async ({ shop, page }) => {
  const frame = await openMounted(shop, page);
  const reasons = [
    ["4000000000009995", "insufficient_funds", "There is not enough money on this card or account."],
    ["4000000000000069", "expired_card", "Your bank says that this card has expired."],
    ["4000000000000127", "incorrect_cvc", "The security code is wrong. Check it on your card."],
    ["4000008400001611", "authentication_rejected", "Your bank declined this payment."],
  ];
  for (const [place, [number, code, message]] of reasons.entries()) {
    await typeCard(frame, number);
    await buy(page);
    await isTold(page, "onPaymentFailed", place + 1);
    assert.deepEqual((await told(page, "onPaymentFailed"))[place][1], { code, message });
    await frame.getByRole("alert").getByText(message).waitFor();
  }
  await typeCard(frame);
  await buy(page);
  await isTold(page, "onPaymentSuccess");
  await shop.keepsMoneyOnce(payments(shop));
});

/** Whoever tells is asked: of a payment that nobody made there is nothing to tell. */
async function isToldOfNothing(page) {
  for (const name of ["onPaymentFailed", "onPaymentSuccess", "onError"]) assert.deepEqual(await told(page, name), [], name);
}

scene("[short] a rejected promise shows the choice again, with the words of the shop as text", async ({ shop, page }) => {
  const frame = await openMounted(shop, page);
  const words = `Another tab pays this order. <b>${"ก".repeat(300)}</b>`;
  await page.route("**/initiate", (route) => route.fulfill({ status: 409, contentType: "text/plain; charset=utf-8", body: words }));
  await typeCard(frame);
  await buy(page);
  await frame.getByRole("alert").getByText(Array.from(words).slice(0, 200).join(""), { exact: true }).waitFor();
  assert.equal(await frame.locator("[data-trouble] b").count(), 0);
  assert.equal(await frame.getByText("Payment failed").isVisible(), false);
  await isToldOfNothing(page);
  await page.unroute("**/initiate");
  await isPaidByCard(page, frame, shop);
});

scene("a rejection whose payment was made all the same is followed to its end", async ({ shop, page }) => {
  const frame = await openMounted(shop, page);
  await page.route("**/initiate", async (route) => {
    await route.fetch();
    const isAskedOrOver = ({ status, next_action: asked }) => asked !== null || status !== "PENDING";
    await until("it does not ask", payments(shop), (all) => isAskedOrOver(all.at(-1)));
    await route.fulfill({ status: 500, body: "Please try again." });
  });
  await frame.getByRole("radio", { name: "PromptPay QR" }).check();
  await buy(page);
  await frame.getByRole("alert").getByText("Please try again.").waitFor();
  await isToldOfNothing(page);
  const [given] = await payments(shop)();
  assert.deepEqual([given.status, given.failure_code], ["FAILED", "canceled_by_customer"]);
  const all = await isPaidByCard(page, frame, shop);
  assert.equal(all.length, 2);
});

scene("cancel() of a payment that was never initiated shows the choice, and nothing failed", async ({ shop, page }) => {
  const frame = await openMounted(shop, page);
  await page.route("**/initiate", () => {});
  await typeCard(frame);
  await buy(page);
  await heading(frame, "Processing your payment").waitFor();
  await isTold(page, "onPaymentSessionReady");
  await page.evaluate(() => window.form.cancel());
  await frame.getByLabel("Card number").waitFor();
  await page.waitForTimeout(500);
  assert.equal(await frame.getByText("Payment failed").isVisible(), false);
  await isToldOfNothing(page);
  await page.unroute("**/initiate");
  await isPaidByCard(page, frame, shop);
});

scene("a window that does not reach the issuer finds the link to it, or another way", async ({ shop, page }) => {
  const frame = await openMounted(shop, page);
  await page.route("**/sandbox/**", (route) => route.fulfill({ status: 204 }));
  for (const isGivenUp of [true, false]) {
    await typeCard(frame, CHALLENGED);
    await buy(page);
    await heading(frame, "Confirm with your bank").waitFor();
    if (!isGivenUp) break;
    await anotherWay(frame).click();
    await isTold(page, "onPaymentFailed");
    assert.equal((await told(page, "onPaymentFailed"))[0][1].code, "canceled_by_customer");
  }
  await page.unroute("**/sandbox/**");
  await frame.getByRole("link", { name: "Continue to your bank" }).click();
  await reaches(page, "challenge");
  assert.equal(page.frames().length, 1);
  await act(page, "Authenticate");
  await page.waitForURL(`${shop.origin}/done?payment_id=*`);
  await shop.keepsMoneyOnce(payments(shop));
});

scene("a QR code is shown in the frame, given up, shown again and paid on a phone", async ({ till, shop, customer, page }) => {
  const frame = await openMounted(shop, page, { paymentMethods: ["PROMPTPAY"] });
  await buy(page);
  const image = frame.getByRole("img", { name: "PromptPay QR code" });
  await image.waitFor();
  await until("it is drawn", () => image.evaluate(({ naturalWidth }) => naturalWidth), (width) => width > 0);
  await frame.getByRole("button", { name: "Pay another way" }).click();
  await isTold(page, "onPaymentFailed");
  const [[, failure]] = await told(page, "onPaymentFailed");
  assert.deepEqual(failure, { code: "canceled_by_customer", message: "You cancelled this payment. Nothing was charged." });
  await buy(page);
  await image.waitFor();
  const text = await until("the new code is there", () => frame.getByLabel("QR code text").inputValue(), (it) => it !== "");
  const phone = await customer.context.newPage();
  await phone.goto(`${till.base}/sandbox/scan`);
  await phone.getByLabel("QR code text").fill(text);
  await act(phone, "Scan");
  await reaches(phone, "wallet");
  await act(phone, "Pay");
  await isTold(page, "onPaymentSuccess");
  await shop.keepsMoneyOnce(payments(shop));
});

scene("a bank moves the shop's window and leads back to it", async ({ shop, page }) => {
  const frame = await openMounted(shop, page, { button: true });
  await frame.getByRole("radio", { name: "Mobile banking" }).check();
  await frame.getByRole("button", { name: "Continue" }).click();
  await reaches(page, "bank");
  await act(page, "Approve payment");
  await page.waitForURL(`${shop.origin}/done?payment_id=*`);
  assert.equal(new URL(page.url()).searchParams.get("payment_id"), shop.initiated[0]);
  await shop.keepsMoneyOnce(payments(shop));
});

scene("instalments are paid in the frame", async ({ shop, page }) => {
  shop.initiation = { interest_bearer: "customer" };
  const frame = await openMounted(shop, page);
  await frame.getByRole("radio", { name: "Instalments" }).check();
  await buy(page);
  await isTold(page, "onPaymentSuccess");
  const { kept } = await shop.keepsMoneyOnce(payments(shop));
  assert.equal(kept.payment_method, "INSTALLMENT");
});

scene("cancel() gives up, and update() changes amount and language", async ({ shop, page }) => {
  const frame = await openMounted(shop, page, { paymentMethods: ["PROMPTPAY", "CARD"] });
  await frame.getByRole("radio", { name: "PromptPay QR" }).check();
  await buy(page);
  await frame.getByRole("img", { name: "PromptPay QR code" }).waitFor();
  await page.evaluate(() => window.form.cancel());
  await isTold(page, "onPaymentFailed");
  shop.amount = "5000";
  await page.evaluate(() => window.form.update({ amount: "5000" }));
  await typeCard(frame);
  await buy(page);
  await isTold(page, "onPaymentSuccess");
  const { kept } = await shop.keepsMoneyOnce(payments(shop));
  assert.equal(kept.amount, 5000);
  await page.evaluate(() => { window.form.unmount(); window.form = window.mount(); window.form.update({ locale: "ar" }); });
  await isTold(page, "onReady", 2);
  await until("it is Arabic", () => frame.locator("html").getAttribute("dir"), (direction) => direction === "rtl");
  await page.evaluate(() => window.form.unmount());
  assert.equal(await page.locator("iframe").count(), 0);
});

scene("what the server refuses is told by its code", async ({ till, shop, page }) => {
  const frame = await openMounted(shop, page);
  await frame.getByRole("radio", { name: "Mobile banking" }).check();
  await till.admin("suspend-merchant", { merchant_id: shop.merchantId });
  await buy(page);
  await isTold(page, "onError");
  assert.equal((await told(page, "onError"))[0][0].code, "MERCHANT_SUSPENDED");
  assert.deepEqual(shop.initiated, []);
});

scene("the script that never changes is loaded with its integrity", async ({ till, shop, page }) => {
  const { url, integrity } = await (await fetch(`${till.base}/js/v1/integrity`)).json();
  assert.match(url, new RegExp(`^${till.base}/js/till\\.[0-9a-f]+\\.js$`));
  const script = `<script src="${url}" integrity="${integrity}" crossorigin="anonymous"></script>`;
  const frame = await openMounted(shop, page, {}, script);
  await typeCard(frame);
  await buy(page);
  await isTold(page, "onPaymentSuccess");
});

scene("a wrong option is a TypeError that names it", async ({ shop, page }) => {
  await openMounted(shop, page);
  const fault = (where, changes) => page.evaluate(([where, changes]) => {
    window.form.unmount();
    const options = { ...window.options, onPaymentSessionReady() {}, ...changes };
    for (const [name, value] of Object.entries(options)) if (value === null) delete options[name];
    try { window.form = Till.mount(where, options); return null; } catch (error) { return `${error.name}: ${error.message}`; }
  }, [where, changes]);
  for (const [name, value] of [
    ["amount", 1], ["amount", "1.5"], ["currency", "thb"], ["colour", "#ffffff"], ["color", "red"], ["paymentMethods", []],
    ["paymentMethods", ["CASH"]], ["locale", "fr"], ["customer", { phone: "1" }], ["onReady", 1], ["button", "yes"],
    ["scheme", "blue"], ["cardUsage", "TWICE"], ["merchantId", null], ["onPaymentSessionReady", null],
  ]) {
    assert.match(String(await fault("#form", { [name]: value })), new RegExp(`^TypeError: .*"${name}"`), `${name} ${value}`);
  }
  assert.match(await fault("#none", {}), /^TypeError/);
  assert.equal(await fault("#form", {}), null);
  const second = await page.evaluate(() => {
    try { return Till.mount("#form", { ...window.options, onPaymentSessionReady() {} }); } catch (error) { return error.message; }
  });
  assert.match(second, /mounted already/);
});

scene("calls of the shop's page to /sdk are allowed to the installation's origin alone", async ({ till, shop, page }) => {
  await openMounted(shop, page);
  const ask = () => page.evaluate(async ([base, body]) => {
    const init = { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) };
    return fetch(`${base}/sdk/retrieve-installation-settings`, init).then(() => "answered", () => "blocked");
  }, [till.base, { merchant_id: shop.merchantId, installation_id: shop.installationId }]);
  assert.equal(await ask(), "answered");
  await page.goto(`${shop.otherOrigin}/done`);
  assert.equal(await ask(), "blocked");
  assert.ok((await post(`${till.base}/sdk/check-status`, {})).status >= 400);
}, { context: { expectedFaults: /blocked by CORS policy/ } });

for (const colorScheme of ["light", "dark"]) {
  scene(`axe-core finds nothing in the frame: ${colorScheme}`, async ({ shop, page }) => {
    const frame = await openMounted(shop, page, { button: true, scheme: colorScheme });
    const inner = page.frames().find((it) => it.url().includes("/frame/"));
    assert.deepEqual(await axeFindings(inner), []);
    await frame.getByRole("radio", { name: "Card", exact: true }).check();
    await buy(page);
    await frame.getByText("Enter the card number").waitFor();
    assert.deepEqual(await axeFindings(inner), []);
    const { height } = await page.locator("iframe").boundingBox();
    const content = await frame.locator("body").evaluate((body) => body.scrollHeight);
    assert.ok(Math.abs(height - content) <= 1, `the frame fits its content: ${height} ${content}`);
    await frame.getByRole("radio", { name: "PromptPay QR" }).check();
    await buy(page);
    await frame.getByRole("heading", { name: "Scan to pay" }).waitFor();
    assert.deepEqual(await axeFindings(inner), []);
  }, { context: { bypassCSP: true, colorScheme } });
}

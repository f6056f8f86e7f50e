// Whatever a customer, the network or a crash does: at the end exactly one payment keeps money.
import assert from "node:assert/strict";

import {
  CARD, CHALLENGED, SLOW, act, anotherWay, heading, isBackAt, payBy, payByCard, payButton, payOnPhone, radio, reaches, typeCard,
} from "./customer.mjs";
import { until } from "./server.mjs";
import { stage } from "./stage.mjs";

const { scene } = stage();

const attemptsOf = async (shop, id) => (await shop.found(id)).attempts;

scene("a double click pays once", async ({ shop, customer, page }) => {
  const { url, id } = await shop.checkout();
  await page.goto(url);
  await typeCard(page);
  await payButton(page).dblclick();
  await isBackAt(page, shop, id);
  await shop.isPaidOnce(id);
  assert.equal(customer.calls("pay-checkout").length, 1);
  assert.equal(customer.calls("tokenize-card").length, 1);
});

scene("Enter, held down in a field, pays once", async ({ shop, customer, page }) => {
  const { url, id } = await shop.checkout();
  await page.goto(url);
  await typeCard(page);
  await page.getByLabel("Name on card").focus();
  for (let press = 0; press < 5; press += 1) await page.keyboard.down("Enter");
  await page.keyboard.up("Enter");
  await isBackAt(page, shop, id);
  await shop.isPaidOnce(id);
  assert.equal(customer.calls("pay-checkout").length, 1);
});

scene("reloads in the middle pay nothing", async ({ shop, page }) => {
  const { url, id } = await shop.checkout();
  await page.goto(url);
  await payByCard(page, SLOW);
  await heading(page, "Processing your payment").waitFor();
  await until("no payment is made", () => attemptsOf(shop, id), (attempts) => attempts === 1);
  for (let reload = 0; reload < 3; reload += 1) {
    await page.reload();
    await page.getByRole("heading", { level: 2 }).first().waitFor();
  }
  await isBackAt(page, shop, id);
  await shop.isPaidOnce(id);
});

scene("the way back after paying shows what was paid", async ({ shop, page }) => {
  const { url, id } = await shop.checkout();
  await page.goto(`${shop.origin}/cart`);
  await page.goto(url);
  await payByCard(page);
  await isBackAt(page, shop, id);
  await page.goBack();
  assert.equal(page.url(), `${shop.origin}/cart`, "the checkout is not in the history once it went on");
  await page.goto(url);
  await heading(page, "Payment successful").waitFor();
  await page.getByRole("link", { name: "Return to Tea house" }).first().click();
  await isBackAt(page, shop, id);
  await shop.isPaidOnce(id);
});

scene("the way back through the bank's page is no trap and pays nothing", async ({ shop, page }) => {
  const { url, id } = await shop.checkout();
  await page.goto(url);
  await payBy(page, "Mobile banking");
  await reaches(page, "bank");
  const bank = page.url();
  await page.goBack();
  await heading(page, "Confirm with your bank").waitFor();
  await page.waitForTimeout(2_500);
  assert.equal(page.url(), url, "the page does not go to the bank again by itself");
  await page.getByRole("link", { name: "Continue to your bank" }).click();
  await page.waitForURL(bank);
  await act(page, "Approve payment");
  await isBackAt(page, shop, id);
  await page.goBack();
  // The page that waits for the outcome is in the history where there was something to wait for. It leads to the shop.
  if (page.url().startsWith(shop.origin)) await page.goBack();
  await page.getByText("This page has expired").first().waitFor();
  await page.goBack();
  await heading(page, "Payment successful").waitFor();
  await shop.isPaidOnce(id);
});

scene("a challenge that is left by Back is given up for another card, and can no longer be passed", async ({ shop, page }) => {
  const { url, id } = await shop.checkout();
  await page.goto(url);
  await payByCard(page, CHALLENGED);
  await reaches(page, "challenge");
  const challenge = page.url();
  await page.goBack();
  await heading(page, "Confirm with your bank").waitFor();
  await anotherWay(page).click();
  await heading(page, "Choose how to pay").waitFor();
  await payByCard(page, CARD);
  await isBackAt(page, shop, id);
  const late = await fetch(challenge, { method: "POST", body: new URLSearchParams({ outcome: "succeed" }) });
  assert.equal(late.status, 410);
  await shop.isPaidOnce(id, 2);
});

scene("a QR code is the same after a reload and in another tab, and is paid once", async ({ shop, customer, page }) => {
  const { url, id } = await shop.checkout();
  await page.goto(url);
  await payBy(page, "PromptPay QR");
  const text = (tab) => tab.locator("#qr-text").inputValue();
  const shown = await text(page);
  await page.reload();
  assert.equal(await text(page), shown);
  const other = await customer.context.newPage();
  await other.goto(url);
  assert.equal(await text(other), shown);
  await payOnPhone(other, customer.context);
  await Promise.all([page, other].map((tab) => isBackAt(tab, shop, id)));
  await shop.isPaidOnce(id);
});

scene("instalments: a double click, and Back after paying, pay once", async ({ shop, customer, page }) => {
  const { url, id } = await shop.checkout();
  await page.goto(`${shop.origin}/cart`);
  await page.goto(url);
  await radio(page, "Instalments").check();
  await payButton(page).dblclick();
  await isBackAt(page, shop, id);
  await page.goBack();
  await page.goto(url);
  await heading(page, "Payment successful").waitFor();
  await shop.isPaidOnce(id);
  assert.equal(customer.calls("pay-checkout").length, 1);
});

scene("a saved card that is paid with in two tabs pays once", async ({ shop, customer, page }) => {
  const { url, id } = await shop.checkout({ customer_id: "customer-1", offer_saved_cards: true });
  const saved = await shop.checkout({ customer_id: "customer-1", offer_saved_cards: true, amount: "100" });
  const token = await shop.token(CARD, "MULTIPLE");
  await shop.sdk("pay-checkout", { checkout_id: saved.reference, payment_method: "CARD", token, save_card: true });
  await until("it is not paid", () => shop.found(saved.id), ({ status }) => status === "COMPLETED");
  const other = await customer.context.newPage();
  for (const tab of [page, other]) {
    await tab.goto(url);
    await radio(tab, "Visa ending in 4242, expires 12/49").check();
  }
  await Promise.all([page, other].map((tab) => payButton(tab).click()));
  await Promise.all([page, other].map((tab) => isBackAt(tab, shop, id)));
  const { status, attempts } = await shop.found(id);
  assert.deepEqual([status, attempts], ["COMPLETED", 1]);
});

scene("[short] two tabs that pay at the same moment make one payment", async ({ shop, customer, page }) => {
  const { url, id } = await shop.checkout();
  const other = await customer.context.newPage();
  for (const tab of [page, other]) {
    await tab.goto(url);
    await typeCard(tab, tab === page ? CARD : SLOW);
  }
  await Promise.all([page, other].map((tab) => payButton(tab).click()));
  await Promise.all([page, other].map((tab) => isBackAt(tab, shop, id)));
  await shop.isPaidOnce(id);
  assert.equal(customer.calls("pay-checkout").length, 2);
});

scene("a second tab joins the payment of the first, and gives it up for both", async ({ shop, customer, page }) => {
  const { url, id } = await shop.checkout();
  const other = await customer.context.newPage();
  await other.goto(url);
  await typeCard(other);
  await page.goto(url);
  await payBy(page, "PromptPay QR");
  await heading(page, "Scan to pay").waitFor();
  await payButton(other).click();
  await heading(other, "Scan to pay").waitFor();
  assert.equal(await attemptsOf(shop, id), 1);
  await anotherWay(other).click();
  await heading(other, "Choose how to pay").waitFor();
  await heading(page, "Choose how to pay").waitFor();
  await payByCard(other);
  await isBackAt(other, shop, id);
  await page.reload();
  await heading(page, "Payment successful").waitFor();
  await shop.isPaidOnce(id, 2);
});

scene("one who scans the code in one tab and pays by card in another pays once", async ({ shop, customer, page }) => {
  const { url, id } = await shop.checkout();
  await page.goto(url);
  await payBy(page, "PromptPay QR");
  const wallet = new URL(await page.getByRole("link", { name: "Open the sandbox wallet" }).getAttribute("href"), url).href;
  const phone = await customer.context.newPage();
  await phone.goto(wallet);
  await anotherWay(page).click();
  await heading(page, "Choose how to pay").waitFor();
  await typeCard(page);
  await Promise.all([payButton(page).click(), act(phone, "Pay")]);
  await isBackAt(page, shop, id);
  await shop.isPaidOnce(id, 2);
});

scene("money that comes late, after another way was paid, is given back", async ({ till, shop, page }) => {
  const { url, id } = await shop.checkout();
  await page.goto(url);
  await payBy(page, "PromptPay QR");
  await heading(page, "Scan to pay").waitFor();
  const { payment_id: first } = await shop.found(id);
  await anotherWay(page).click();
  await payByCard(page);
  await isBackAt(page, shop, id);
  await till.admin("complete-action", { merchant_id: shop.merchantId, payment_id: first, outcome: "SUCCEEDED" });
  await until("it does not come late", () => shop.payment(first), ({ late_success: late }) => late?.returned_at);
  await shop.isPaidOnce(id, 2);
});

scene("a lost connection is told, and the page goes on when it is back", async ({ shop, customer, page }) => {
  const { url, id } = await shop.checkout();
  await page.goto(url);
  await payBy(page, "PromptPay QR");
  await heading(page, "Scan to pay").waitFor();
  const wallet = new URL(await page.getByRole("link", { name: "Open the sandbox wallet" }).getAttribute("href"), url).href;
  await customer.context.setOffline(true);
  await page.getByRole("alert").getByText("The connection is lost. Trying again…").waitFor();
  const paid = await fetch(wallet, { method: "POST", body: new URLSearchParams({ outcome: "succeed" }) });
  assert.equal(paid.status, 200);
  await customer.context.setOffline(false);
  await isBackAt(page, shop, id);
  await shop.isPaidOnce(id);
});

scene("[short] a lost answer to Pay is asked for again with the same key", async ({ shop, customer, page }) => {
  const { url, id } = await shop.checkout();
  await page.goto(url);
  let losses = 1;
  await page.route("**/sdk/pay-checkout", async (route) => {
    if (losses > 0) {
      losses -= 1;
      await route.fetch();
      return route.abort("connectionreset");
    }
    return route.continue();
  });
  await payByCard(page);
  await isBackAt(page, shop, id);
  await shop.isPaidOnce(id);
  const calls = customer.calls("pay-checkout");
  const keys = await Promise.all(calls.map(async (call) => (await call.allHeaders())["idempotency-key"]));
  assert.equal(keys.length, 2);
  assert.equal(keys[0], keys[1]);
});

scene("without any connection Pay sends nothing, and says so; later it pays", async ({ shop, customer, page }) => {
  const { url, id } = await shop.checkout();
  await page.goto(url);
  await typeCard(page);
  await customer.context.setOffline(true);
  await payButton(page).click();
  await page.getByRole("alert").getByText("The connection is lost. Trying again…").waitFor();
  await customer.context.setOffline(false);
  await isBackAt(page, shop, id);
  await shop.isPaidOnce(id);
});

scene("[short] the server is killed while the page waits, and the payment is made once", async ({ till, shop, page }) => {
  const { url, id } = await shop.checkout();
  await page.goto(url);
  await payByCard(page, SLOW);
  await heading(page, "Processing your payment").waitFor();
  await until("no payment is made", () => attemptsOf(shop, id), (attempts) => attempts === 1);
  await till.kill();
  await page.getByRole("alert").getByText("The connection is lost. Trying again…").waitFor();
  await till.run();
  await isBackAt(page, shop, id);
  await shop.isPaidOnce(id);
});

scene("the server is killed while a QR code is shown", async ({ till, shop, customer, page }) => {
  const { url, id } = await shop.checkout();
  await page.goto(url);
  await payBy(page, "PromptPay QR");
  await heading(page, "Scan to pay").waitFor();
  await till.kill();
  await page.getByRole("alert").getByText("The connection is lost. Trying again…").waitFor();
  await till.run();
  await payOnPhone(page, customer.context);
  await isBackAt(page, shop, id);
  await shop.isPaidOnce(id);
});

scene("the server is killed in the moment of Pay", async ({ till, shop, page }) => {
  const { url, id } = await shop.checkout();
  await page.goto(url);
  await typeCard(page);
  await payButton(page).click({ noWaitAfter: true });
  await till.kill();
  await till.run();
  await isBackAt(page, shop, id);
  await shop.isPaidOnce(id);
});

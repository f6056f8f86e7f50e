// The hosted page: each way to pay, and each way in which it fails.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";

import {
  CARD, CHALLENGED, DECLINED, act, anotherWay, heading, isBackAt, isToldOf, isToldOfOwnChoice, payBy, payByCard, payButton,
  payOnPhone, radio, reaches, type, typeCard, typeFields,
} from "./customer.mjs";
import { stage } from "./stage.mjs";

const { scene } = stage();

scene("[short] a card is paid, and the customer comes back to the shop by itself", async ({ shop, customer, page }) => {
  const { url, id } = await shop.checkout({ lines: [{ name: "Green tea", amount: "61725", quantity: 2 }] });
  await page.goto(url);
  assert.equal(await page.title(), "Pay Tea house");
  await page.getByRole("heading", { level: 1, name: "Pay Tea house", exact: true }).waitFor();
  await page.getByText("Green tea").waitFor();
  await typeCard(page);
  assert.equal(await page.getByLabel("Card number").inputValue(), "4242 4242 4242 4242");
  await payButton(page).click();
  await isBackAt(page, shop, id);
  await shop.isPaidOnce(id);
  const [paid] = customer.calls("pay-checkout");
  assert.match((await paid.allHeaders())["idempotency-key"], /^[0-9a-f]{32}$/);
});

scene("the faults of a card are told beside its fields, and nothing is sent", async ({ shop, customer, page }) => {
  const { url } = await shop.checkout();
  await page.goto(url);
  await radio(page, "Card").check();
  await payButton(page).click();
  const fault = async (label) => {
    const field = page.getByLabel(label);
    assert.equal(await field.getAttribute("aria-invalid"), "true");
    return page.locator(`#${await field.getAttribute("aria-describedby")}`).textContent();
  };
  assert.equal(await fault("Card number"), "Enter the card number");
  assert.equal(await fault("Expiry date"), "Check the expiry date");
  assert.equal(await fault("Security code"), "Enter the security code");
  assert.equal(await fault("Name on card"), "Enter the name on the card");
  assert.equal(await page.getByLabel("Card number").evaluate((field) => field === document.activeElement), true);
  await type(page.getByLabel("Card number"), "4242424242424241");
  await type(page.getByLabel("Expiry date"), "01/20");
  await payButton(page).click();
  assert.equal(await fault("Card number"), "Check the card number");
  assert.equal(await fault("Expiry date"), "This card has expired");
  assert.deepEqual(customer.requests.filter((request) => request.url().includes("/sdk/")), []);
});

scene("[short] after a declined card another one pays", async ({ shop, page }) => {
  const { url, id } = await shop.checkout();
  await page.goto(url);
  await payByCard(page, DECLINED);
  await isToldOf(page, "Your bank declined this payment.");
  assert.equal(await radio(page, "Card").isChecked(), true);
  for (const label of ["Card number", "Expiry date", "Security code"]) {
    assert.equal(await page.getByLabel(label).inputValue(), "");
  }
  await payByCard(page, CARD);
  await isBackAt(page, shop, id);
  await shop.isPaidOnce(id, 2);
});

scene("each reason of a failure is told in words", async ({ shop, page }) => {
  const { url, id } = await shop.checkout();
  await page.goto(url);
  const reasons = [
    ["4000000000009995", "There is not enough money on this card or account."],
    ["4000000000000069", "Your bank says that this card has expired."],
    ["4000000000000127", "The security code is wrong."],
    ["4000000000000119", "Your bank declined this payment."],
    ["4000008400001280", "Your bank declined this payment."],
    ["4000008400001611", "Your bank declined this payment."],
  ];
  for (const [number, words] of reasons) {
    await payByCard(page, number);
    await page.waitForEvent("load");
    await isToldOf(page, words);
  }
  await payByCard(page, CARD);
  await isBackAt(page, shop, id);
  await shop.isPaidOnce(id, reasons.length + 1);
});

scene("the tenth decline says why the checkout is over, and leads back to the shop", async ({ shop, page }) => {
  const { url, id } = await shop.checkout();
  await page.goto(url);
  for (let attempt = 1; attempt <= 10; attempt += 1) {
    await payByCard(page, "4000000000009995");
    await page.waitForEvent("load");
    if (attempt < 10) await isToldOf(page, "There is not enough money on this card or account.");
  }
  await heading(page, "This checkout has expired").waitFor();
  await page.getByText("There is not enough money on this card or account. No further attempt is possible here").waitFor();
  await page.getByRole("link", { name: "Return to Tea house" }).click();
  await page.waitForURL(`${shop.origin}/cart?checkout_id=${id}`);
  assert.equal((await shop.found(id)).attempts, 10);
});

scene("a bank that is away is no decline", async ({ shop, page }) => {
  const { url, id } = await shop.checkout({ amount: "123492" });
  await page.goto(url);
  await radio(page, "Mobile banking").check();
  await payButton(page, "THB 1,234.92").click();
  await isToldOf(page, "This payment cannot be made at the moment.");
  await typeCard(page);
  await payButton(page, "THB 1,234.92").click();
  await isBackAt(page, shop, id);
  await shop.isPaidOnce(id, 2);
});

scene("what is left alone until its deadline is told, and another way pays", async ({ till, shop, page }) => {
  const leaveAlone = async (id) => {
    const { payment_id: payment } = await shop.found(id);
    const { expires_at: end } = await shop.payment(payment);
    await till.admin("advance-clock", { merchant_id: shop.merchantId, to: end + 1 });
  };
  const { url, id } = await shop.checkout();
  await page.goto(url);
  await payByCard(page, CHALLENGED);
  await reaches(page, "challenge");
  await leaveAlone(id);
  await page.goto(url);
  await isToldOf(page, "There was no confirmation in time. Nothing was charged.");
  await payBy(page, "PromptPay QR");
  await heading(page, "Scan to pay").waitFor();
  await leaveAlone(id);
  await isToldOf(page, "There was no confirmation in time. Nothing was charged.");
  await payByCard(page, CARD);
  await isBackAt(page, shop, id);
  await shop.isPaidOnce(id, 3);
}, { shop: { testClock: true } });

scene("every state has a badge while the acquirer plays", async ({ shop, page }) => {
  const { url } = await shop.checkout();
  await page.goto(url);
  const badge = page.getByText("Sandbox", { exact: true });
  assert.equal(await badge.getAttribute("title"), "No real money moves");
  await payBy(page, "PromptPay QR");
  await heading(page, "Scan to pay").waitFor();
  await badge.waitFor();
});

scene("3-D Secure: a passed challenge leads to the shop", async ({ shop, page }) => {
  const { url, id } = await shop.checkout();
  await page.goto(url);
  await payByCard(page, CHALLENGED);
  await reaches(page, "challenge");
  await page.getByRole("heading", { level: 1, name: "Sandbox issuer" }).waitFor();
  await act(page, "Authenticate");
  await isBackAt(page, shop, id);
  const payment = await shop.isPaidOnce(id);
  assert.deepEqual([payment.authentication.flow, payment.authentication.trans_status], ["CHALLENGE", "Y"]);
});

scene("3-D Secure: a failed challenge leads back to the page, where another card pays", async ({ shop, page }) => {
  const { url, id } = await shop.checkout();
  await page.goto(url);
  await payByCard(page, CHALLENGED);
  await reaches(page, "challenge");
  await act(page, "Fail authentication");
  await page.waitForURL(url);
  await isToldOf(page, "Your bank could not confirm that it is you.");
  await payByCard(page, CARD);
  await isBackAt(page, shop, id);
  await shop.isPaidOnce(id, 2);
});

scene("3-D Secure: canceled, and passed but declined", async ({ shop, page }) => {
  const { url, id } = await shop.checkout();
  await page.goto(url);
  await payByCard(page, CHALLENGED);
  await reaches(page, "challenge");
  await act(page, "Cancel");
  await isToldOfOwnChoice(page);
  await payByCard(page, "4000008260003178");
  await reaches(page, "challenge");
  await act(page, "Authenticate");
  await isToldOf(page, "There is not enough money on this card or account.");
  await payByCard(page, "4000002500003155");
  await reaches(page, "challenge");
  await act(page, "Authenticate");
  await isBackAt(page, shop, id);
  await shop.isPaidOnce(id, 3);
});

scene("3-D Secure: a challenge that is left alone does not bar the way", async ({ shop, customer, page }) => {
  const { url, id } = await shop.checkout();
  await page.goto(url);
  await payByCard(page, CHALLENGED);
  await reaches(page, "challenge");
  const challenge = page.url();
  await page.close();
  const later = await customer.context.newPage();
  await later.goto(url);
  await heading(later, "Confirm with your bank").waitFor();
  await later.getByRole("link", { name: "Continue to your bank" }).waitFor();
  await anotherWay(later).click();
  await isToldOfOwnChoice(later);
  await payByCard(later, CARD);
  await isBackAt(later, shop, id);
  await shop.isPaidOnce(id, 2);
  assert.equal((await later.goto(challenge)).status(), 410);
  await later.getByText("This page has expired").first().waitFor();
  await later.getByRole("link", { name: "Return to Tea house" }).click();
  await later.waitForURL(`${shop.origin}/done?**`);
});

scene("3-D Secure: a challenge that is left alone can be gone on with", async ({ shop, customer, page }) => {
  const { url, id } = await shop.checkout();
  await page.goto(url);
  await payByCard(page, CHALLENGED);
  await reaches(page, "challenge");
  await page.close();
  const later = await customer.context.newPage();
  await later.goto(url);
  await later.getByRole("link", { name: "Continue to your bank" }).click();
  await reaches(later, "challenge");
  await act(later, "Authenticate");
  await isBackAt(later, shop, id);
  await shop.isPaidOnce(id);
});

scene("[short] a QR code is paid on a phone, and the page goes on by itself", async ({ shop, customer, page }) => {
  const { url, id } = await shop.checkout();
  await page.goto(url);
  await payBy(page, "PromptPay QR");
  await heading(page, "Scan to pay").waitFor();
  await page.getByText("Scan with your banking app to pay").waitFor();
  await page.getByRole("img", { name: "PromptPay QR code" }).waitFor();
  assert.equal(await page.getByRole("timer", { includeHidden: true }).isVisible(), false, "the time is in its first quarter");
  await payOnPhone(page, customer.context);
  await isBackAt(page, shop, id);
  await shop.isPaidOnce(id);
});

scene("the text of a QR code can be copied and pasted into the sandbox's scanner", async ({ till, shop, customer, page }) => {
  const { url, id } = await shop.checkout();
  await customer.context.grantPermissions(["clipboard-read", "clipboard-write"]);
  await page.goto(url);
  await payBy(page, "PromptPay QR");
  await page.getByText("QR code text", { exact: true }).click();
  await page.getByRole("button", { name: "Copy QR code text" }).click();
  await page.getByText("Copied", { exact: true }).waitFor();
  const text = await page.evaluate(() => navigator.clipboard.readText());
  const { payment_id: payment } = await shop.found(id);
  assert.equal(text, (await shop.payment(payment)).next_action.qr_data);
  const phone = await customer.context.newPage();
  await phone.goto(`${till.base}/sandbox/scan`);
  await type(phone.getByLabel("QR code text"), text);
  await act(phone, "Scan");
  await reaches(phone, "wallet");
  await act(phone, "Decline");
  await isToldOf(page, "Your bank declined this payment.");
  await payByCard(page, CARD);
  await isBackAt(page, shop, id);
  await shop.isPaidOnce(id, 2);
});

/** The QR code of a picture, as a phone reads it: none of the browser's own readers is in Chromium for Linux, so its modules. */
async function pixels(page, bytes) {
  return page.evaluate(async (base64) => {
    const data = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
    const bitmap = await createImageBitmap(new Blob([data], { type: "image/png" }));
    const canvas = new OffscreenCanvas(bitmap.width, bitmap.height);
    const context = canvas.getContext("2d");
    context.drawImage(bitmap, 0, 0);
    const shades = [...context.getImageData(0, 0, bitmap.width, bitmap.height).data].filter((_, place) => place % 4 === 0);
    return { side: bitmap.width, height: bitmap.height, shades: [...new Set(shades)].sort((left, right) => left - right), first: shades.indexOf(0) };
  }, bytes.toString("base64"));
}

scene("the QR code is saved as a picture: by the share sheet where there is one, else as a file", async ({ shop, page }) => {
  const { url } = await shop.checkout();
  await page.goto(url);
  await payBy(page, "PromptPay QR");
  await heading(page, "Scan to pay").waitFor();
  const save = page.getByRole("link", { name: "Save QR code", exact: true });
  const [download] = await Promise.all([page.waitForEvent("download"), save.click()]);
  assert.equal(download.suggestedFilename(), "promptpay-qr.png");
  const bytes = readFileSync(await download.path());
  const picture = await pixels(page, bytes);
  assert.deepEqual([picture.height, picture.shades], [picture.side, [0, 255]], "black on white");
  assert.equal(picture.first, 40 * picture.side + 40, "a quiet zone of four modules of ten pixels");
  const shown = page.locator(".qr img");
  assert.equal(await shown.evaluate((image) => image.complete && image.naturalWidth), picture.side, "a long press saves it, too");
  assert.equal(page.url(), url);
  await page.addInitScript(() => {
    window.shared = [];
    navigator.canShare = ({ files }) => files.every(({ type }) => type === "image/png");
    navigator.share = async ({ files: [file] }) => window.shared.push([file.name, file.type, file.size]);
  });
  await page.reload();
  await save.click();
  await page.waitForFunction(() => window.shared.length === 1);
  assert.deepEqual(await page.evaluate(() => window.shared), [["promptpay-qr.png", "image/png", bytes.length]]);
  await page.evaluate(() => { navigator.share = () => Promise.reject(new DOMException("no", "NotAllowedError")); });
  await Promise.all([page.waitForEvent("download"), save.click()]);
  await page.evaluate(() => { navigator.share = () => Promise.reject(new DOMException("no", "AbortError")); });
  await save.click();
  assert.equal(page.url(), url, "who closes the sheet stays");
});

scene("a QR code is given up for another way, and its bill is gone", async ({ shop, customer, page }) => {
  const { url, id } = await shop.checkout();
  await page.goto(url);
  await payBy(page, "PromptPay QR");
  const wallet = await page.getByRole("link", { name: "Open the sandbox wallet" }).getAttribute("href");
  await anotherWay(page).click();
  await isToldOfOwnChoice(page);
  const phone = await customer.context.newPage();
  assert.equal((await phone.goto(new URL(wallet, url).href)).status(), 410);
  await payByCard(page, CARD);
  await isBackAt(page, shop, id);
  await shop.isPaidOnce(id, 2);
});

scene("a bank is paid, after it has declined once", async ({ shop, page }) => {
  const { url, id } = await shop.checkout();
  await page.goto(url);
  await payBy(page, "Mobile banking");
  await reaches(page, "bank");
  await page.getByRole("heading", { level: 1, name: "Sandbox bank" }).waitFor();
  await act(page, "Decline payment");
  await isToldOf(page, "Your bank declined this payment.");
  assert.equal(await radio(page, "Mobile banking").isChecked(), true);
  await payButton(page).click();
  await reaches(page, "bank");
  await act(page, "Approve payment");
  await isBackAt(page, shop, id);
  await shop.isPaidOnce(id, 2);
});

scene("a bank's page that is cancelled leads back, and pays later", async ({ shop, page }) => {
  const { url, id } = await shop.checkout();
  await page.goto(url);
  await payBy(page, "Mobile banking");
  await reaches(page, "bank");
  await act(page, "Cancel");
  await isToldOfOwnChoice(page);
  await payButton(page).click();
  await reaches(page, "bank");
  await act(page, "Approve payment");
  await isBackAt(page, shop, id);
  await shop.isPaidOnce(id, 2);
});

scene("instalments are paid by the plan that was chosen", async ({ shop, page }) => {
  const { url, id } = await shop.checkout();
  await page.goto(url);
  await radio(page, "Instalments").check();
  await page.getByText("Interest: 1% a month. You pay THB 423.85 each month. In total THB 1,271.54.").waitFor();
  await page.getByRole("combobox", { name: "Instalment plan" }).selectOption("sandbox_3_months");
  await payButton(page).click();
  await isBackAt(page, shop, id);
  assert.equal((await shop.isPaidOnce(id)).payment_method, "INSTALLMENT");
});

scene("a card is saved, and pays the next checkout without its number", async ({ shop, customer, page }) => {
  const known = { customer_id: "customer-1", offer_saved_cards: true };
  const first = await shop.checkout(known);
  await page.goto(first.url);
  await typeCard(page);
  await page.getByRole("checkbox", { name: "Save this card for next time" }).check();
  await payButton(page).click();
  await isBackAt(page, shop, first.id);
  await shop.isPaidOnce(first.id);
  const second = await shop.checkout(known);
  await page.goto(second.url);
  await radio(page, "Visa ending in 4242, expires 12/49").check();
  await payButton(page).click();
  await isBackAt(page, shop, second.id);
  assert.equal(customer.calls("tokenize-card").length, 1);
  const guest = await shop.checkout();
  await page.goto(guest.url);
  assert.equal(await radio(page, "Visa ending in 4242, expires 12/49").count(), 0, "a guest sees no saved card");
  assert.equal(await page.getByRole("checkbox").count(), 0);
});

scene("a saved card whose challenge is failed leaves the way to another", async ({ shop, customer, page }) => {
  const known = { customer_id: "customer-1", offer_saved_cards: true };
  const first = await shop.checkout(known);
  await page.goto(first.url);
  await typeCard(page, CHALLENGED);
  await page.getByRole("checkbox", { name: "Save this card for next time" }).check();
  await payButton(page).click();
  await reaches(page, "challenge");
  await act(page, "Authenticate");
  await isBackAt(page, shop, first.id);
  await shop.isPaidOnce(first.id);
  const second = await shop.checkout(known);
  await page.goto(second.url);
  await radio(page, "Visa ending in 3184, expires 12/49").check();
  await payButton(page).dblclick();
  await reaches(page, "challenge");
  await act(page, "Fail authentication");
  await isToldOf(page, "Your bank could not confirm that it is you.");
  await payByCard(page, CARD);
  await isBackAt(page, shop, second.id);
  const { attempts, status } = await shop.found(second.id);
  assert.deepEqual([attempts, status], [2, "COMPLETED"]);
  assert.equal(customer.calls("pay-checkout").length, 3);
});

scene("an expired checkout takes nothing, and leads back to the shop", async ({ shop, page }) => {
  const { url, id } = await shop.checkout();
  await page.goto(url);
  await typeCard(page);
  await shop.call("expire-checkout", { checkout_id: id });
  await payButton(page).click();
  await heading(page, "This checkout has expired").waitFor();
  await page.getByRole("link", { name: "Return to Tea house" }).first().click();
  await page.waitForURL(`${shop.origin}/cart?checkout_id=${id}`);
  assert.equal((await shop.found(id)).attempts, 0);
});

scene("a suspended merchant's customer is told, and an unknown address names no shop", async ({ till, shop, page }) => {
  const { url, id } = await shop.checkout();
  await till.admin("suspend-merchant", { merchant_id: shop.merchantId });
  await page.goto(url);
  await heading(page, "Payments are not possible at the moment").waitFor();
  await page.getByRole("link", { name: "Return to Tea house" }).first().waitFor();
  const unknown = await page.goto(url.replace(id, "chk_01h2e8kqvbfwea724h75qc655w"));
  assert.equal(unknown.status(), 404);
  await heading(page, "Page not found").waitFor();
  assert.ok(!(await page.content()).includes("Tea house"));
});

scene("the language changes at once by pointer, and stays after a payment that failed", async ({ shop, page }) => {
  const { url, id } = await shop.checkout({ locale: "en" });
  await page.goto(url);
  await page.getByRole("combobox", { name: "Language" }).selectOption("ar");
  await page.waitForURL("**?lang=ar");
  assert.equal(await page.locator("html").getAttribute("dir"), "rtl");
  await page.goto(`${url}?lang=de`);
  await page.getByRole("button", { name: "THB 1.234,50 zahlen" }).waitFor();
  await type(page.getByLabel("Kartennummer"), DECLINED);
  await type(page.locator("#expiry-date"), "12/49");
  await type(page.locator("#security-code"), "123");
  await type(page.locator("#name-on-card"), "Ada Example");
  await page.getByRole("button", { name: "THB 1.234,50 zahlen" }).click();
  await page.locator("[role=alert] h2").waitFor();
  assert.ok(page.url().endsWith("?lang=de"));
  assert.equal((await shop.found(id)).attempts, 1);
});

scene("without script a bank is paid by form and links alone", async ({ shop, page }) => {
  const { url, id } = await shop.checkout();
  await page.goto(url);
  await page.getByText("Paying by a new card needs JavaScript.").waitFor();
  await payBy(page, "Mobile banking");
  await page.getByRole("link", { name: "Continue to your bank" }).click();
  await reaches(page, "bank");
  await act(page, "Approve payment");
  await isBackAt(page, shop, id);
  await shop.isPaidOnce(id);
}, { context: { javaScriptEnabled: false } });

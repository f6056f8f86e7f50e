// `Till.mount` of a checkout: the checkout's page in a frame of the shop's own page.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";

import {
  CARD, CHALLENGED, DECLINED, SLOW, act, anotherWay, heading, isToldOf, payBy, payByCard, payButton, payOnPhone, radio, reaches,
  typeCard,
} from "./customer.mjs";
import { frameOf, isTold, mountPage, openCheckout, openMounted, told } from "./mounted.mjs";
import { until } from "./server.mjs";
import { stage } from "./stage.mjs";
import { axeFindings } from "./states.mjs";

const { scene } = stage();

const withButton = { button: true };
const buy = (page) => page.getByRole("button", { name: "Buy" }).click();

/** The shop was told of the success, once, with the payment that the checkout has. */
async function isPaid(page, shop, id, attempts = 1) {
  await isTold(page, "onPaymentSuccess");
  const { payment_session_id: paymentSessionId } = await shop.isPaidOnce(id, attempts);
  assert.deepEqual(await told(page, "onPaymentSuccess"), [[{ checkoutId: id, paymentSessionId }]]);
}

/** The newest failure that the shop was told of, which the form shows in the same words. */
async function failureTold(page, frame, times = 1) {
  await isTold(page, "onPaymentFailed", times);
  const [failure] = (await told(page, "onPaymentFailed")).at(-1);
  await frame.getByRole("alert").getByText(failure.message).waitFor();
  return failure;
}

scene("[short] a card is paid in the frame, and the shop's page goes nowhere by itself", async ({ shop, customer, page }) => {
  const { frame, id, url } = await openCheckout(shop, page, withButton);
  await payByCard(frame);
  await isPaid(page, shop, id);
  await heading(frame, "Payment successful").waitFor();
  await page.waitForTimeout(3_000);
  assert.equal(page.url(), `${shop.origin}/mount`);
  assert.equal((await told(page, "onPaymentSuccess")).length, 1);
  assert.deepEqual([await told(page, "onReady"), await told(page, "onError")], [[[]], []]);
  const toShop = shop.requests.filter(({ method }) => method !== "GET");
  assert.deepEqual(toShop, [], "the shop's server is asked for nothing");
  const secret = url.split("/").at(-1).slice(id.length);
  assert.ok(!JSON.stringify(await page.evaluate(() => window.told)).includes(secret || "4242"), "no callback has the secret");
  const sent = customer.requests.filter((request) => (request.postData() ?? "").includes(CARD));
  assert.deepEqual(sent.map((request) => new URL(request.url()).pathname), ["/sdk/tokenize-card"]);
  await frame.getByRole("link", { name: "Return to Tea house" }).click();
  await page.waitForURL(`${shop.origin}/done?**`);
});

scene("[short] each decline is told by its own code, in the words of the form", async ({ shop, page }) => {
  const { frame, id } = await openCheckout(shop, page, withButton);
  const reasons = [
    ["4000000000009995", "insufficient_funds", "There is not enough money on this card or account."],
    ["4000000000000069", "expired_card", "Your bank says that this card has expired."],
    ["4000000000000127", "incorrect_cvc", "The security code is wrong. Check it on your card."],
    [DECLINED, "card_declined", "Your bank declined this payment."],
    ["4000008400001280", "authentication_unavailable"],
    ["4000008400001611", "authentication_rejected"],
  ];
  for (const [place, [number, code, message]] of reasons.entries()) {
    await payByCard(frame, number);
    const failure = await failureTold(page, frame, place + 1);
    const { payment_id: paymentId } = await shop.found(id);
    const { payment_session_id: paymentSessionId, failure_code: known } = await shop.payment(paymentId);
    assert.deepEqual(failure, { checkoutId: id, paymentSessionId, code, message: message ?? failure.message });
    assert.equal(known, code);
    assert.equal(await frame.getByLabel("Card number").inputValue(), "");
  }
  await payByCard(frame);
  await isPaid(page, shop, id, reasons.length + 1);
});

scene("without a button the shop's own submits, once", async ({ shop, customer, page }) => {
  const { frame, id } = await openCheckout(shop, page);
  assert.equal(await payButton(frame).isVisible(), false);
  await buy(page);
  await frame.getByText("Enter the card number").waitFor();
  await typeCard(frame);
  await page.waitForFunction(() => window.told.some(([name, change]) => name === "onChange" && change.complete));
  assert.deepEqual((await told(page, "onChange")).at(-1), [{ complete: true, paymentMethod: "CARD" }]);
  await page.evaluate(() => { window.form.submit(); window.form.submit(); });
  await isPaid(page, shop, id);
  assert.equal(customer.calls("pay-checkout").length, 1);
  await page.evaluate(() => window.form.submit());
  await page.waitForTimeout(300);
  assert.equal(customer.calls("pay-checkout").length, 1, "what is paid is not paid again");
});

scene("a double click pays once", async ({ shop, customer, page }) => {
  const { frame, id } = await openCheckout(shop, page, withButton);
  await typeCard(frame);
  await payButton(frame).dblclick();
  await isPaid(page, shop, id);
  assert.deepEqual([customer.calls("pay-checkout").length, customer.calls("tokenize-card").length], [1, 1]);
});

scene("3-D Secure: a passed challenge moves the window, and leads to return_url", async ({ shop, page }) => {
  const { frame, id } = await openCheckout(shop, page, withButton);
  await payByCard(frame, CHALLENGED);
  await reaches(page, "challenge");
  assert.equal(page.frames().length, 1, "no challenge in a frame");
  await act(page, "Authenticate");
  await page.waitForURL(`${shop.origin}/done?**`);
  await shop.isPaidOnce(id);
});

scene("[short] 3-D Secure: a failed challenge leads back to the shop's page, which says why, and another card pays", async ({ shop, page }) => {
  const { frame, id } = await openCheckout(shop, page, withButton);
  await payByCard(frame, CHALLENGED);
  await reaches(page, "challenge");
  await act(page, "Fail authentication");
  await page.waitForURL(`${shop.origin}/mount?checkout_id=${id}`);
  await heading(frame, "Payment failed").waitFor();
  await heading(frame, "Choose how to pay").waitFor();
  await isTold(page, "onReady");
  assert.deepEqual(await told(page, "onPaymentFailed"), [], "what failed before the form was there is no news");
  await payByCard(frame);
  await isPaid(page, shop, id, 2);
});

scene("[short] 3-D Secure left by Back: the form shows the payment, which is given up for another way", async ({ shop, page }) => {
  const { frame, id } = await openCheckout(shop, page, withButton);
  await payByCard(frame, CHALLENGED);
  await reaches(page, "challenge");
  const challenge = page.url();
  await page.goBack();
  await heading(frame, "Confirm with your bank").waitFor();
  await page.waitForTimeout(2_500);
  assert.equal(page.url(), `${shop.origin}/mount`, "the page does not go to the issuer again by itself");
  await anotherWay(frame).click();
  const failure = await failureTold(page, frame);
  assert.deepEqual([failure.checkoutId, failure.code], [id, "canceled_by_customer"]);
  assert.equal(failure.message, "You cancelled this payment. Nothing was charged.");
  await payByCard(frame);
  await isPaid(page, shop, id, 2);
  assert.equal((await page.goto(challenge)).status(), 410);
});

scene("3-D Secure left by Back is gone on with by a link that moves the window", async ({ shop, page }) => {
  const { frame, id } = await openCheckout(shop, page);
  await typeCard(frame, CHALLENGED);
  await buy(page);
  await reaches(page, "challenge");
  await page.goBack();
  await frame.getByRole("link", { name: "Continue to your bank" }).click();
  await reaches(page, "challenge");
  assert.equal(page.frames().length, 1);
  await act(page, "Authenticate");
  await page.waitForURL(`${shop.origin}/done?**`);
  await shop.isPaidOnce(id);
});

scene("[short] a QR code is the same after a reload, and is paid on a phone", async ({ shop, customer, page }) => {
  const { frame, id } = await openCheckout(shop, page, withButton);
  await payBy(frame, "PromptPay QR");
  await frame.getByRole("img", { name: "PromptPay QR code" }).waitFor();
  const code = () => frame.getByRole("link", { name: "Open the sandbox wallet" }).getAttribute("href");
  const first = await code();
  await page.reload();
  await frame.getByRole("img", { name: "PromptPay QR code" }).waitFor();
  assert.equal(await code(), first);
  await payOnPhone(frame, customer.context, "Pay", shop.till.base);
  await isPaid(page, shop, id);
});

scene("cancel() gives up a QR code, and its bill is gone", async ({ shop, customer, page }) => {
  const { frame, id } = await openCheckout(shop, page, withButton);
  await payBy(frame, "PromptPay QR");
  const wallet = await frame.getByRole("link", { name: "Open the sandbox wallet" }).getAttribute("href");
  await page.evaluate(() => window.form.cancel());
  assert.equal((await failureTold(page, frame)).code, "canceled_by_customer");
  const phone = await customer.context.newPage();
  assert.equal((await phone.goto(new URL(wallet, shop.till.base).href)).status(), 410);
  await payByCard(frame);
  await isPaid(page, shop, id, 2);
});

scene("a bank declines, leads back to the shop's page, and approves", async ({ shop, page }) => {
  const { frame, id } = await openCheckout(shop, page, withButton);
  await payBy(frame, "Mobile banking");
  await reaches(page, "bank");
  await act(page, "Decline payment");
  await page.waitForURL(`${shop.origin}/mount?checkout_id=${id}`);
  await isToldOf(frame, "Your bank declined this payment.");
  assert.equal(await radio(frame, "Mobile banking").isChecked(), true);
  await payButton(frame).click();
  await reaches(page, "bank");
  await act(page, "Approve payment");
  await page.waitForURL(`${shop.origin}/done?**`);
  await shop.isPaidOnce(id, 2);
});

scene("instalments are paid by the plan that was chosen", async ({ shop, page }) => {
  const { frame, id } = await openCheckout(shop, page, withButton);
  await radio(frame, "Instalments").check();
  await frame.getByRole("combobox", { name: "Instalment plan" }).selectOption("sandbox_3_months");
  await payButton(frame).click();
  await isPaid(page, shop, id);
});

scene("a card is saved in the frame, and pays the next checkout without its number", async ({ shop, customer, page }) => {
  const known = { customer_id: "customer-1", offer_saved_cards: true };
  const first = await openCheckout(shop, page, withButton, known);
  await typeCard(first.frame);
  await first.frame.getByRole("checkbox", { name: "Save this card for next time" }).check();
  await payButton(first.frame).click();
  await isPaid(page, shop, first.id);
  const second = await openCheckout(shop, page, withButton, known);
  await radio(second.frame, "Visa ending in 4242, expires 12/49").check();
  await isTold(page, "onChange");
  assert.deepEqual((await told(page, "onChange")).at(-1), [{ complete: true, paymentMethod: "CARD" }]);
  await payButton(second.frame).click();
  await isTold(page, "onPaymentSuccess");
  assert.equal((await shop.found(second.id)).status, "COMPLETED");
  assert.equal(customer.calls("tokenize-card").length, 1);
});

scene("[short] a reload while the payment is processed, and after it, shows what is", async ({ shop, page }) => {
  const { frame, id } = await openCheckout(shop, page, withButton);
  await payByCard(frame, SLOW);
  await heading(frame, "Processing your payment").waitFor();
  await until("no payment is made", () => shop.found(id), ({ attempts }) => attempts === 1);
  await page.reload();
  await isPaid(page, shop, id);
  await page.reload();
  await heading(frame, "Payment successful").waitFor();
  await isPaid(page, shop, id);
});

scene("a second tab joins the payment of the first, and each is told of its end", async ({ shop, customer, page }) => {
  const { frame, id } = await openCheckout(shop, page, withButton);
  const other = await customer.context.newPage();
  await other.goto(`${shop.origin}/mount`);
  await typeCard(frameOf(other));
  await payBy(frame, "PromptPay QR");
  await heading(frame, "Scan to pay").waitFor();
  await payButton(frameOf(other)).click();
  await heading(frameOf(other), "Scan to pay").waitFor();
  assert.equal((await shop.found(id)).attempts, 1);
  await payOnPhone(frame, customer.context, "Pay", shop.till.base);
  await isPaid(page, shop, id);
  await isPaid(other, shop, id);
});

scene("without any connection Pay says so; later it pays", async ({ shop, customer, page }) => {
  const { frame, id } = await openCheckout(shop, page, withButton);
  await typeCard(frame);
  await customer.context.setOffline(true);
  await payButton(frame).click();
  await frame.getByRole("alert").getByText("The connection is lost. Trying again…").waitFor();
  await customer.context.setOffline(false);
  await isPaid(page, shop, id);
});

scene("[short] the server is killed while the form waits, and the payment is made once", async ({ till, shop, page }) => {
  const { frame, id } = await openCheckout(shop, page, withButton);
  await payByCard(frame, SLOW);
  await heading(frame, "Processing your payment").waitFor();
  await until("no payment is made", () => shop.found(id), ({ attempts }) => attempts === 1);
  await till.kill();
  await frame.getByRole("alert").getByText("The connection is lost. Trying again…").waitFor();
  await isTold(page, "onError");
  assert.equal((await told(page, "onError"))[0][0].code, "OFFLINE");
  await till.run();
  await isPaid(page, shop, id);
});

scene("a form that cannot be shown again is told, and comes back by itself", async ({ till, shop, page }) => {
  const { frame, id } = await openCheckout(shop, page, withButton);
  await typeCard(frame);
  await till.admin("suspend-merchant", { merchant_id: shop.merchantId });
  await payButton(frame).click();
  await isTold(page, "onError", 2);
  const codes = (await told(page, "onError")).map(([{ code }]) => code);
  assert.deepEqual(codes.slice(0, 2), ["MERCHANT_SUSPENDED", "UNAVAILABLE"]);
  await till.admin("resume-merchant", { merchant_id: shop.merchantId });
  await payByCard(frame);
  await isPaid(page, shop, id);
  assert.equal((await told(page, "onReady")).length, 1);
}, { context: { expectedFaults: /frame-ancestors|Refused to (frame|display)|Framing/ } });

scene("an expired checkout takes nothing, and the shop is told once", async ({ shop, page }) => {
  const { frame, id } = await openCheckout(shop, page, withButton);
  await typeCard(frame);
  await shop.call("expire-checkout", { checkout_id: id });
  await payButton(frame).click();
  await heading(frame, "This checkout has expired").waitFor();
  await isTold(page, "onExpired");
  assert.equal((await shop.found(id)).attempts, 0);
  await page.evaluate(() => window.form.update({ locale: "de" }));
  await until("it is German", () => frame.locator("html").getAttribute("lang"), (lang) => lang === "de");
  await heading(frame, "This checkout has expired").waitFor({ state: "detached" });
  assert.deepEqual(await told(page, "onExpired"), [[]]);
  await frame.getByRole("link").click();
  await page.waitForURL(`${shop.origin}/cart?checkout_id=${id}`);
});

scene("update() changes colour, scheme and language, and unmount() makes room for another form", async ({ shop, page }) => {
  const { frame } = await openCheckout(shop, page, withButton);
  await page.evaluate(() => window.form.update({ color: "#0a7d55", scheme: "dark" }));
  await until("it is dark", () => frame.locator("html").getAttribute("data-scheme"), (scheme) => scheme === "dark");
  assert.equal(await frame.locator("link[href='/pay/color/0a7d55.css']").count(), 1);
  await page.evaluate(() => window.form.update({ locale: "ar" }));
  await until("it is Arabic", () => frame.locator("html").getAttribute("dir"), (direction) => direction === "rtl");
  await until("it is dark still", () => frame.locator("html").getAttribute("data-scheme"), (scheme) => scheme === "dark");
  await page.evaluate(() => { window.form.unmount(); window.form = window.mount(); });
  await isTold(page, "onReady", 2);
  assert.equal(await page.locator("iframe").count(), 1);
});

scene("an option that does not go with a checkout is a TypeError that names it", async ({ till, shop, page }) => {
  const { url } = await openCheckout(shop, page);
  const fault = (changes) => page.evaluate((changes) => {
    window.form.unmount();
    const given = Object.fromEntries(Object.entries(changes).map(([name, value]) => [name, value === "function" ? () => {} : value]));
    try {
      window.form = Till.mount("#form", { ...window.options, ...given });
      return null;
    } catch (error) {
      return `${error.name}: ${error.message}`;
    }
  }, changes);
  for (const [name, value] of Object.entries({
    merchantId: shop.merchantId, installationId: shop.installationId, amount: "100", currency: "THB", paymentMethods: ["CARD"],
    customer: { email: "ada@example.com" }, cardUsage: "SINGLE", onPaymentSessionReady: "function",
  })) {
    assert.match(String(await fault({ [name]: value })), new RegExp(`^TypeError: .*"${name}" does not go with "checkout"`), name);
  }
  const elsewhere = url.replace(till.base, "https://till.example");
  for (const wrong of [elsewhere, url.split("/").at(-1), `${till.base}/pay/x`, `${url}/y`, `${url}?a=1`, 1, "", null]) {
    assert.match(String(await fault({ checkout: wrong })), /^TypeError: .*"checkout" must be the address that start-checkout/, String(wrong));
  }
  assert.equal(await fault({ onExpired: "function" }), null);
  const update = await page.evaluate(() => {
    try { return window.form.update({ amount: "5000" }); } catch (error) { return `${error.name}: ${error.message}`; }
  });
  assert.match(update, /^TypeError: update: option "amount" does not go with "checkout"/);
});

scene("the id alone, another secret, another installation: a frame that says nothing", async ({ till, shop, page, customer }) => {
  const { url, id } = await shop.checkout();
  const app = await shop.addInstallation("App", "example.shop", "IOS");
  const ofApp = await shop.checkout({ installation_id: app });
  const stranger = await till.shop({ name: "Stranger" });
  const others = await stranger.checkout();
  const secretOf = (address) => address.split(".").at(-1);
  const merchant = `${till.base}/pay/${shop.merchantId}`;
  const wrong = {
    "the id alone": `${merchant}/${id}`, "another secret": `${merchant}/${id}.${secretOf(others.url)}`,
    "a longer secret": `${url}a`, "the secret of none": `${merchant}/chk_01h2e8kqvbfwea724h75qc655w.${secretOf(url)}`,
    "another merchant": url.replace(shop.merchantId, stranger.merchantId), "an app": ofApp.url, "of another origin": others.url,
  };
  for (const [name, checkout] of Object.entries(wrong)) {
    shop.pages["/mount"] = mountPage(shop, { checkout });
    await page.goto(`${shop.origin}/mount`);
    await isTold(page, "onError");
    assert.deepEqual((await told(page, "onError")).map(([{ code }]) => code), ["BLOCKED"], name);
    assert.deepEqual(await told(page, "onReady"), [], name);
    const answer = await fetch(checkout.replace("/pay/", "/frame/"));
    const isOfOthers = name === "of another origin";
    assert.match(answer.headers.get("content-security-policy"), isOfOthers ? /frame-ancestors http/ : /frame-ancestors 'none'/, name);
    if (!isOfOthers) assert.ok((await answer.text()).length < 200, name);
  }
  assert.deepEqual(customer.requests.filter((request) => request.url().includes("/sdk/")), []);
  await openMounted(shop, page, { checkout: url });
  stranger.close();
}, { context: { expectedFaults: /frame-ancestors|Refused to (frame|display)|Framing/ } });

scene("a page with the policy of the reference mounts a checkout, and pays it", async ({ till, shop, page }) => {
  const reference = readFileSync(new URL("../../docs/till-js.md", import.meta.url), "utf8");
  const [, policy] = /^ *Content-Security-Policy: (.*)$/m.exec(reference);
  const own = policy.replaceAll("https://till.example", till.base).replace("'self'", "'unsafe-inline'");
  const { url, id } = await shop.checkout();
  const meta = `<meta http-equiv="Content-Security-Policy" content="default-src 'none'; ${own}">`;
  shop.pages["/mount"] = mountPage(shop, { checkout: url, ...withButton }).replace("<title>", `${meta}<title>`);
  await page.goto(`${shop.origin}/mount`);
  await payByCard(frameOf(page));
  await isPaid(page, shop, id);
  assert.ok(own.includes(till.base));
});

scene("the port goes to documents of Till's origin in the frame alone, to each once", async ({ shop, page }) => {
  shop.pages["/evil"] = shop.page("Evil", `<script>
window.got = [];
addEventListener("message", ({ data, ports }) => window.got.push([data, ports.length]));
setInterval(() => parent.postMessage({ till: "hello" }, "*"), 20);
</script>`);
  const checkout = await shop.checkout();
  const evil = `<iframe src="${shop.otherOrigin}/evil"></iframe>`;
  shop.pages["/mount"] = mountPage(shop, { checkout: checkout.url, button: true })
    .replace("<div id=\"form\">", `${evil}<div id="form">`);
  await page.goto(`${shop.origin}/mount`);
  await isTold(page, "onReady");
  const frame = frameOf(page);
  await payByCard(frame, DECLINED);
  await failureTold(page, frame);
  const attacker = page.frames().find((it) => it.url().endsWith("/evil"));
  assert.deepEqual(await attacker.evaluate(() => window.got), []);
  await page.evaluate(() => document.querySelector("iframe[title='Payment form']").contentWindow.postMessage({ till: "port" }, "*"));
  await page.evaluate(() => window.form.submit());
  await frame.getByText("Enter the card number").waitFor();
  await payByCard(frame);
  await isPaid(page, shop, checkout.id, 2);
});

for (const colorScheme of ["light", "dark"]) {
  scene(`axe-core finds nothing in the frame of a checkout, which fits its content: ${colorScheme}`, async ({ shop, page }) => {
    const { frame } = await openCheckout(shop, page, { button: true, scheme: colorScheme });
    const inner = () => page.frames().find((it) => it.url().includes("/frame/"));
    const isFine = async () => {
      assert.deepEqual(await axeFindings(inner()), []);
      const fits = async () => {
        const { height } = await page.locator("iframe").boundingBox();
        return Math.abs(height - await frame.locator("body").evaluate((body) => body.scrollHeight));
      };
      await until("the frame fits its content", fits, (difference) => difference <= 1);
    };
    await isFine();
    await radio(frame, "Card").check();
    await payButton(frame).click();
    await frame.getByText("Enter the card number").waitFor();
    await isFine();
    await payBy(frame, "PromptPay QR");
    await heading(frame, "Scan to pay").waitFor();
    await isFine();
    await anotherWay(frame).click();
    await frame.getByRole("alert").getByText("You cancelled this payment. Nothing was charged.").waitFor();
    await isFine();
  }, { context: { bypassCSP: true, colorScheme } });
}

// Hostile pages: a wrong origin, pages that frame ours, forged messages, other installations. They get nothing.
import assert from "node:assert/strict";

import { typeCard } from "./customer.mjs";
import { frameOf, isTold, mountPage, openMounted, told } from "./mounted.mjs";
import { until } from "./server.mjs";
import { stage } from "./stage.mjs";

const { scene } = stage();

const FRAMING = /frame-ancestors|Refused to (frame|display)|Framing/;
const hostile = { context: { expectedFaults: FRAMING } };

/** True when a frame shows none of our pages. */
async function isEmpty(page, address) {
  const frame = page.frames().find((it) => it.url().startsWith(address) && it !== page.mainFrame());
  const text = frame ? await frame.locator("body").innerText({ timeout: 5_000 }).catch(() => "") : "";
  return !/Card number|Pay |Approve|Authenticate/.test(text);
}

scene("[short] a page of another origin is BLOCKED, and sees no form", async ({ shop, page, customer }) => {
  shop.pages["/mount"] = mountPage(shop);
  await page.goto(`${shop.otherOrigin}/mount`);
  await isTold(page, "onError");
  assert.equal((await told(page, "onError"))[0][0].code, "BLOCKED");
  assert.deepEqual([await told(page, "onReady"), await told(page, "onChange")], [[], []]);
  await page.evaluate(() => window.form.submit());
  await page.waitForTimeout(300);
  assert.deepEqual(customer.requests.filter((request) => request.url().includes("/sdk/")), []);
  assert.equal(await frameOf(page).getByLabel("Card number").count(), 0);
}, hostile);

scene("a page that frames the shop's page gets no form either", async ({ shop, page }) => {
  shop.pages["/mount"] = mountPage(shop);
  shop.pages["/evil"] = shop.page("Evil", `<iframe src="${shop.origin}/mount"></iframe>`);
  await page.goto(`${shop.otherOrigin}/evil`);
  const inner = await until("the shop is framed", () => page.frames().find((it) => it.url().endsWith("/mount")), Boolean);
  await inner.waitForFunction(() => window.told?.some(([name]) => name === "onError"));
  assert.deepEqual(await inner.evaluate(() => window.told.map(([name, given]) => [name, given.code])), [["onError", "BLOCKED"]]);
}, hostile);

scene("no page can be framed: checkout, bank, issuer, the frame of another installation", async ({ till, shop, page }) => {
  const { url, reference } = await shop.checkout();
  const session = await shop.sdk("pay-checkout", { checkout_id: reference, payment_method: "MOBILE_BANKING" });
  const ready = await until("it asks", () => shop.sdkAnswer("get-redirect-url", { payment_session_id: session }), ({ status }) => status === 200);
  const other = await shop.addInstallation("Other", "https://other.example");
  const app = await shop.addInstallation("App", "example.shop", "IOS");
  const stranger = await till.shop({ name: "Stranger" });
  const frame = (merchant, installation) => `${till.base}/frame/${merchant}/${installation}`;
  const addresses = [
    url, ready.value, frame(shop.merchantId, other), frame(shop.merchantId, app), frame(stranger.merchantId, shop.installationId),
    frame(shop.merchantId, stranger.installationId), frame("x", "y"), `${till.base}/return/${shop.merchantId}/${session}`,
  ];
  for (const origin of [shop.origin, shop.otherOrigin]) {
    for (const address of addresses) {
      shop.pages["/evil"] = shop.page("Evil", `<iframe src="${address}"></iframe>`);
      await page.goto(`${origin}/evil`);
      await page.waitForTimeout(200);
      assert.ok(await isEmpty(page, address), `${address} in ${origin}`);
    }
  }
  stranger.close();
}, hostile);

/** Twenty shapes of messages, as those who do not know the secret try them. */
function shapes() {
  const options = { amount: "1", currency: "THB", color: "#ff0000" };
  return [
    undefined, null, 0, "", "port", "{\"till\":\"port\"}", [], ["port"], {}, { till: null }, { till: "hello" }, { till: "port" },
    { till: "port", origin: location.origin }, { till: ["port"] }, { type: "options", options }, { type: "submit" },
    { till: "port", type: "submit" }, { type: "success", sessionId: "pse_1" },
    { type: "session", sessionId: "pse_01h2e8kqvbfwea724h75qc655w" }, { type: "redirect", address: "https://evil.example/" },
    { type: "error", code: "OFFLINE", message: "" }, { type: "failed", code: "x", sessionId: "pse_1", message: "" },
    { type: "height", height: 1 }, { __proto__: { till: "port" } }, { till: "port", ports: [1] },
  ];
}

/** Sends each shape to a window with no port, with one and with two, and writes down what comes back over them. */
function forge(target, makeShapes) {
  window.got ??= [];
  for (const shape of makeShapes()) {
    for (const count of [0, 1, 2]) {
      const channels = Array.from({ length: count }, () => new MessageChannel());
      for (const { port1 } of channels) {
        port1.onmessage = ({ data }) => window.got.push(data);
        port1.postMessage({ type: "options", options: { amount: "1", currency: "THB" } });
        port1.postMessage({ type: "submit" });
      }
      target.postMessage(shape, "*", channels.map(({ port2 }) => port2));
    }
  }
}

const FORGING = `
<script>
${shapes}
${forge}
window.got = [];
addEventListener("message", (event) => window.got.push([event.origin, event.data, event.ports.length]));
function attack() {
  forge(parent, shapes);
  for (let place = 0; place < parent.frames.length; place += 1) {
    if (parent.frames[place] !== window) forge(parent.frames[place], shapes);
  }
  return parent.frames.length;
}
attack();
setInterval(attack, 50);
</script>`;

scene("[short] forged messages of twenty shapes, from a frame of another origin, change nothing", async ({ shop, customer, page }) => {
  assert.ok(shapes.toString().includes("evil.example"));
  shop.pages["/evil"] = shop.page("Evil", FORGING);
  const evil = `<iframe src="${shop.otherOrigin}/evil"></iframe>`;
  shop.pages["/mount"] = mountPage(shop).replace("<div id=\"form\">", `${evil}<div id="form">`);
  await page.goto(`${shop.origin}/mount`);
  await isTold(page, "onReady");
  const attacker = page.frames().find((it) => it.url().endsWith("/evil"));
  await page.waitForTimeout(1_000);
  assert.ok(await attacker.evaluate(() => parent.frames.length) === 2, "the attacker reaches the form");
  assert.deepEqual(await attacker.evaluate(() => window.got), [], "the attacker hears nothing");
  const names = await page.evaluate(() => window.told.map(([name]) => name));
  assert.deepEqual([...new Set(names)].sort(), ["onChange", "onReady"]);
  assert.deepEqual(customer.requests.filter((request) => request.url().includes("/sdk/")), []);
  assert.equal(page.url(), `${shop.origin}/mount`);
  const frame = frameOf(page);
  await typeCard(frame);
  await page.getByRole("button", { name: "Buy" }).click();
  await isTold(page, "onPaymentSuccess");
  const { kept } = await shop.keepsMoneyOnce(() => Promise.all(shop.initiated.map((payment) => shop.payment(payment))));
  assert.equal(kept.amount, 123450, "the amount is the shop's");
  assert.deepEqual(await attacker.evaluate(() => window.got), []);
}, hostile);

scene("the shop's own page gives the port once: forged and late ones are ignored by the form", async ({ shop, customer, page }) => {
  await openMounted(shop, page);
  await page.evaluate(`(() => { ${shapes} ${forge}
    forge(document.querySelector("iframe").contentWindow, shapes); forge(window, shapes); })()`);
  await page.waitForTimeout(500);
  assert.deepEqual(await page.evaluate(() => window.got), []);
  const names = await page.evaluate(() => window.told.map(([name]) => name));
  assert.deepEqual([...new Set(names)].sort(), ["onChange", "onReady"]);
  assert.deepEqual(customer.requests.filter((request) => request.url().includes("/sdk/")), []);
});

scene("a form that is opened in a window of its own speaks with nobody", async ({ till, shop, customer, page }) => {
  shop.pages["/evil"] = shop.page("Evil", "<button id=\"open\">Open</button>");
  for (const origin of [shop.origin, shop.otherOrigin]) {
    await page.goto(`${origin}/evil`);
    const address = `${till.base}/frame/${shop.merchantId}/${shop.installationId}`;
    const opens = customer.context.waitForEvent("page");
    await page.evaluate((address) => {
      window.got = [];
      addEventListener("message", ({ data }) => window.got.push(data));
      document.getElementById("open").onclick = () => { window.opened = window.open(address); };
    }, address);
    await page.getByRole("button", { name: "Open" }).click();
    const opened = await opens;
    await opened.waitForLoadState();
    await page.evaluate(`(() => { ${shapes} ${forge}; if (!window.opened.closed) forge(window.opened, shapes); })()`);
    await page.waitForTimeout(300);
    assert.deepEqual(await page.evaluate(() => window.got), []);
    assert.equal(await opened.getByLabel("Card number").isVisible(), false, "it shows no form");
    assert.equal(await opened.evaluate(() => window.opener), null, "the window is cut off from its opener");
    await opened.close();
  }
  assert.deepEqual(customer.requests.filter((request) => request.url().includes("/sdk/")), []);
});

scene("a form of another page posted to the checkout pays nothing", async ({ shop, page }) => {
  const { url, id } = await shop.checkout();
  shop.pages["/evil"] = shop.page("Evil", `
<form method="post" action="${url}"><input name="action" value="pay"><input name="payment_method" value="PROMPTPAY">
<button>Win</button></form>`);
  for (const origin of [shop.origin, shop.otherOrigin]) {
    await page.goto(`${origin}/evil`);
    const [answer] = await Promise.all([
      page.waitForResponse((response) => response.request().method() === "POST"),
      page.getByRole("button", { name: "Win" }).click(),
    ]);
    assert.equal(answer.status(), 403, `from ${origin}`);
  }
  assert.equal((await shop.found(id)).attempts, 0);
});

scene("another installation, another merchant and a used token get nothing", async ({ till, shop }) => {
  const { id, reference } = await shop.checkout();
  const token = await shop.token("4000002760003184");
  const session = await shop.sdk("pay-checkout", { checkout_id: reference, payment_method: "CARD", token });
  const asked = () => shop.sdkAnswer("get-redirect-url", { payment_session_id: session });
  await until("it asks", asked, ({ status }) => status === 200);
  const stranger = await till.shop({ name: "Stranger" });
  const other = await shop.addInstallation("Other", "https://other.example");
  const callers = [
    { merchant_id: stranger.merchantId, installation_id: stranger.installationId },
    { merchant_id: shop.merchantId, installation_id: stranger.installationId },
    { merchant_id: stranger.merchantId, installation_id: shop.installationId },
    { merchant_id: shop.merchantId, installation_id: other },
  ];
  const ofSession = ["check-status", "discover-next-action", "get-redirect-url", "get-return-url", "cancel-payment-session"];
  for (const caller of callers) {
    // A session is its merchant's: the merchant's other installations may ask for it, too.
    for (const endpoint of caller.installation_id === other ? [] : ofSession) {
      const { status, value } = await shop.sdkAnswer(endpoint, { ...caller, payment_session_id: session });
      assert.deepEqual([status, value[0]], [400, "NOT_FOUND"], `${endpoint} ${JSON.stringify(caller)}`);
    }
    for (const [endpoint, more] of [["retrieve-checkout", {}], ["pay-checkout", { payment_method: "MOBILE_BANKING" }]]) {
      const { status, value } = await shop.sdkAnswer(endpoint, { ...caller, checkout_id: reference, ...more });
      assert.deepEqual([status, value[0]], [400, "NOT_FOUND"], `${endpoint} ${JSON.stringify(caller)}`);
    }
  }
  const replayed = await shop.checkout();
  const again = await shop.sdkAnswer("pay-checkout", { checkout_id: replayed.reference, payment_method: "CARD", token });
  assert.deepEqual([again.status, again.value[0]], [400, "TOKEN_ALREADY_USED"]);
  assert.equal((await shop.found(replayed.id)).attempts, 0);
  assert.equal((await shop.found(id)).attempts, 1);
  assert.equal((await asked()).status, 200, "the challenge is still open");
  stranger.close();
});

scene("texts of shop and customer are never markup", async ({ shop, page }) => {
  const name = "<img src=x onerror=alert(1)>\"'&";
  const { url } = await shop.checkout({ lines: [{ name, amount: "123450" }] });
  page.on("dialog", () => assert.fail("a script ran"));
  await page.goto(url);
  await page.getByText(name).waitFor();
  await page.getByRole("heading", { level: 1, name: "Pay <script>alert(2)</script>" }).waitFor();
  assert.equal(await page.locator("img").count(), 0);
}, { shop: { name: "<script>alert(2)</script>" } });

// The shops of `docs/build-a-shop.md`, as the document has them: their servers, their pages, and customers who buy.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { CHALLENGED, DECLINED, SLOW, act, anotherWay, heading, payButton, radio, reaches, typeCard } from "./customer.mjs";
import { frameOf } from "./mounted.mjs";
import { freePort, until } from "./server.mjs";
import { stage } from "./stage.mjs";

const GUIDE = readFileSync(new URL("../../docs/build-a-shop.md", import.meta.url), "utf8");
const { scene } = stage();

/** The programs of the guide: the hosted page, and the lines more of each of the other ways. */
const [HOSTED, MOUNTED, WITHOUT_CHECKOUT] = [...GUIDE.matchAll(/^```js\n(.*?)^```$/gms)].map(([, text]) => text);

/** Runs a program of the guide for this merchant, and answers its address and how to end it. */
async function openGuide(till, shop, more) {
  const directory = mkdtempSync(join(tmpdir(), "till-guide-"));
  const origin = `http://localhost:${await freePort()}`;
  const installation = await shop.addInstallation("Shop of the guide", origin);
  writeFileSync(join(directory, "shop.mjs"), [HOSTED, more].join("\n"));
  const env = {
    PATH: process.env.PATH, TILL: till.base, KEY: shop.key, INSTALLATION: installation, SHOP: origin, MERCHANT: shop.merchantId,
  };
  const server = spawn(process.execPath, ["shop.mjs"], { cwd: directory, env, stdio: ["ignore", "inherit", "inherit"] });
  const ended = once(server, "exit");
  const close = async () => {
    server.kill();
    await ended;
    rmSync(directory, { recursive: true });
  };
  await until("the guide's server answers", () => fetch(origin), ({ status }) => status === 200);
  return { origin, close };
}

/** A test in a shop of the guide. At its end one payment keeps money. */
function guideScene(name, more, buy, options) {
  scene(name, async ({ till, shop, page, customer, browser }) => {
    const guide = await openGuide(till, shop, more);
    try {
      await buy({ ...guide, till, shop, page, customer, browser });
      const listed = async () => (await shop.call("list-payments", { per_page: 100 })).page;
      const { kept } = await shop.keepsMoneyOnce(listed);
      assert.equal(kept.amount, 30000);
    } finally {
      await guide.close();
    }
  }, options);
}

const pay = (page) => payButton(page, "THB 300.00").click();
const isThanked = (page) => page.getByText(/Thank you\. order-\S+ is paid\./).waitFor();

async function order(page, origin) {
  await page.goto(origin);
  await page.getByRole("button", { name: "Buy a tea pot" }).click();
}

guideScene("[short] the guide's shop sells on the hosted page", "", async ({ origin, page }) => {
  await order(page, origin);
  await page.getByRole("link", { name: "Return to Tea house" }).click();
  await page.waitForURL((url) => url.origin === origin);
  await page.goBack();
  await typeCard(page);
  await pay(page);
  await page.waitForURL(`${origin}/done?**`);
  await isThanked(page);
});

guideScene("[short] the guide's page shows the checkout of the visitor's own order, and pays it", MOUNTED, async ({ origin, page, shop, browser }) => {
  await order(page, origin);
  await page.waitForURL(`${origin}/pay`);
  const frame = frameOf(page);
  await payButton(frame, "THB 300.00").waitFor();
  const { page: [{ checkout_id: id }] } = await shop.call("list-checkouts", {});
  const stranger = await browser.newContext();
  const strange = await stranger.newPage();
  await strange.goto(`${origin}/pay?checkout_id=${id}`);
  await strange.getByRole("button", { name: "Buy a tea pot" }).waitFor();
  assert.equal(await strange.locator("iframe").count(), 0, "the id of an address opens nothing");
  await order(strange, origin);
  await strange.goto(`${origin}/pay?checkout_id=${id}`);
  await payButton(frameOf(strange), "THB 300.00").waitFor();
  const ofStranger = new URL(await strange.locator("iframe").getAttribute("src")).pathname;
  assert.ok(!ofStranger.includes(id), "another visitor sees the checkout of the visitor's own order");
  await stranger.close();
  await typeCard(frame, DECLINED);
  await pay(frame);
  await frame.getByText("Your bank declined this payment.").waitFor();
  await typeCard(frame);
  await pay(frame);
  await page.waitForURL(`${origin}/done`);
  await isThanked(page);
  await page.goto(`${origin}/pay`);
  await page.waitForURL(`${origin}/done`);
});

guideScene("the guide's page takes a customer back from the issuer, who fails and passes", MOUNTED, async ({ origin, page, shop }) => {
  await order(page, origin);
  const frame = frameOf(page);
  await typeCard(frame, CHALLENGED);
  await pay(frame);
  await reaches(page, "challenge");
  await act(page, "Fail authentication");
  await page.waitForURL(`${origin}/pay?checkout_id=*`);
  await heading(frame, "Payment failed").waitFor();
  await typeCard(frame, CHALLENGED);
  await pay(frame);
  await reaches(page, "challenge");
  await act(page, "Authenticate");
  await page.waitForURL(`${origin}/done?**`);
  await isThanked(page);
  const { page: [{ attempts }] } = await shop.call("list-checkouts", {});
  assert.equal(attempts, 2);
});

guideScene("[short] reload and Back in the guide's page charge once", MOUNTED, async ({ origin, page }) => {
  await order(page, origin);
  const frame = frameOf(page);
  await typeCard(frame, CHALLENGED);
  await pay(frame);
  await reaches(page, "challenge");
  await page.goBack();
  await heading(frame, "Confirm with your bank").waitFor();
  await anotherWay(frame).click();
  await typeCard(frame, SLOW);
  await pay(frame);
  await heading(frame, "Processing your payment").waitFor();
  await page.reload();
  await page.waitForURL(`${origin}/done`);
  await isThanked(page);
});

guideScene("[short] the guide's form without a checkout counts attempts", WITHOUT_CHECKOUT, async ({ origin, page, shop }) => {
  await order(page, origin);
  const frame = frameOf(page);
  const next = () => frame.getByRole("button", { name: "Continue" }).click();
  await typeCard(frame, DECLINED);
  await next();
  await frame.getByText("Your bank declined this payment.").waitFor();
  await radio(frame, "Instalments").check();
  await next();
  await page.waitForURL(`${origin}/paid`);
  await isThanked(page);
  const { page: made } = await shop.call("list-payments", { per_page: 100 });
  const names = made.map(({ external_id: name }) => name.slice(-2)).sort();
  assert.deepEqual(names, ["-1", "-2"]);
});

guideScene("[short] Back, reload and a second tab of the form without a checkout charge once", WITHOUT_CHECKOUT, async ({ origin, page, customer }) => {
  await order(page, origin);
  const frame = frameOf(page);
  const next = () => frame.getByRole("button", { name: "Continue" }).click();
  await typeCard(frame, CHALLENGED);
  await next();
  await reaches(page, "challenge");
  const challenge = page.url();
  await page.goBack();
  await page.reload();
  await typeCard(frame, SLOW);
  await next();
  await heading(frame, "Processing your payment").waitFor();
  const other = await customer.context.newPage();
  await other.goto(`${origin}/pay`);
  await typeCard(frameOf(other));
  await frameOf(other).getByRole("button", { name: "Continue" }).click();
  await frameOf(other).getByText(/Your payment is being processed|This order is paid already/).waitFor();
  await page.waitForURL(`${origin}/paid`);
  await isThanked(page);
  assert.equal((await other.goto(challenge)).status(), 410, "the challenge that was left is given up");
}, { context: { expectedFaults: /status of 500/ } });

guideScene("a customer whose challenge failed comes back to the shop, which offers another try", WITHOUT_CHECKOUT, async ({ origin, page }) => {
  await order(page, origin);
  const frame = frameOf(page);
  await typeCard(frame, CHALLENGED);
  await frame.getByRole("button", { name: "Continue" }).click();
  await reaches(page, "challenge");
  await act(page, "Fail authentication");
  await page.waitForURL(`${origin}/paid?**`);
  await page.getByRole("link", { name: "Try again" }).click();
  await typeCard(frame);
  await frame.getByRole("button", { name: "Continue" }).click();
  await page.waitForURL(`${origin}/paid`);
  await isThanked(page);
});

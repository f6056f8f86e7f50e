// The merchant's dashboard: what each role sees and does there, with keyboard and pointer, on large and small screens.
import assert from "node:assert/strict";

import { Member } from "./member.mjs";
import { until } from "./server.mjs";
import { stage } from "./stage.mjs";
import { axeFindings, hasNoSidewaysScroll } from "./states.mjs";

const { scene } = stage();

const MARKUP = "<img src=x onerror=alert(1)>\"'&";
const ALL = [
  "Home", "Payments", "Refunds", "Disputes", "Payouts", "Checkouts", "Customers", "Balance", "Statements", "Activity", "Webhooks",
  "API keys", "Installations", "Team", "Plan", "Account",
];
const SEEN = {
  OWNER: ALL,
  DEVELOPER: ALL.filter((name) => !["Payouts", "Balance", "Statements"].includes(name)),
  SUPPORT: ["Home", "Payments", "Refunds", "Disputes", "Checkouts", "Customers", "Activity", "Team", "Account"],
  VIEWER: ALL.filter((name) => !["Webhooks", "API keys", "Installations"].includes(name)),
};

/** A captured payment of this merchant, in minor units. */
async function paid(shop, more = {}) {
  const token = await shop.token("4242424242424242");
  const session = await shop.sdk("select-payment-method", {
    amount: shop.amount, currency: "THB", payment_method: "CARD", token,
  });
  const id = await shop.call("initiate-payment-flow", {
    payment_session_id: session, amount: shop.amount, currency: "THB", capture: true, return_url: `${shop.origin}/done`,
    customer_email: "somchai@example.com", ...more,
  });
  const isOver = ({ status }) => status !== "PENDING";
  return (await until("the payment is pending", () => shop.payment(id), isOver)).payment_id;
}

for (const [width, colorScheme] of [[1200, "light"], [400, "dark"], [1200, "dark"], [400, "light"]]) {
  const tag = width === 1200 && colorScheme === "light" ? "[short] " : "";
  scene(`${tag}every page of an owner at ${width} px, ${colorScheme}: axe-core finds nothing`, async ({ shop, page }) => {
    const id = await paid(shop);
    const { id: checkout } = await shop.checkout();
    const owner = await Member.join(shop, page);
    const fits = async () => {
      await hasNoSidewaysScroll(page);
      assert.deepEqual(await axeFindings(page), [], page.url());
    };
    for (const name of SEEN.OWNER) {
      await owner.open(name);
      await fits();
    }
    const { customer_id: customer } = await shop.payment(id);
    for (const path of [
      `/payments/${id}`, `/payments/${id}/refund`, `/checkouts/${checkout}`, "/checkouts/new", `/customers/${customer}`,
      "/payouts/new", "/webhooks/new", "/keys/new", "/team/invite", "/payments?status=FAILED", "/payments?status=NONE",
    ]) {
      await owner.goto(path);
      await fits();
    }
  }, { context: { bypassCSP: true, colorScheme, viewport: { width, height: 900 } } });
}

for (const role of Object.keys(SEEN)) {
  scene(`the navigation of ${role}, and 403 for what it leaves out`, async ({ shop, page }) => {
    const member = await Member.join(shop, page, role);
    const links = page.getByRole("navigation", { name: "Main" }).getByRole("link");
    assert.deepEqual(await links.allTextContents(), SEEN[role]);
    for (const name of SEEN[role]) await member.open(name);
    const paths = { Payouts: "/payouts", Balance: "/balance", Webhooks: "/webhooks", "API keys": "/keys", Plan: "/plan" };
    for (const [name, path] of Object.entries(paths)) {
      const answer = await member.goto(path);
      assert.equal(answer.status(), SEEN[role].includes(name) ? 200 : 403, `${role} ${path}`);
    }
  });
}

scene("[short] a refund is made by keyboard, and is an activity of the member", async ({ shop, page }) => {
  const id = await paid(shop);
  const owner = await Member.join(shop, page);
  await owner.goto(`/payments/${id}`);
  await page.getByRole("link", { name: "Refund", exact: true }).press("Enter");
  await owner.isAt("Refund");
  const amount = page.getByLabel("Amount (THB)");
  await amount.focus();
  await page.keyboard.type("12.505");
  await page.keyboard.press("Enter");
  await page.getByText("Enter an amount such as 12.50").waitFor();
  assert.equal(await amount.getAttribute("aria-invalid"), "true");
  assert.equal(await amount.inputValue(), "12.505");
  assert.ok(await amount.evaluate((field) => field === document.activeElement), "the faulty field has the focus");
  await page.keyboard.press("ControlOrMeta+a");
  await page.keyboard.type("12.50");
  await page.keyboard.press("Tab");
  await page.keyboard.type(MARKUP);
  await page.keyboard.press("Enter");
  await page.getByRole("status").getByText("Done: Refund payment").waitFor();
  await owner.isAt(id);
  const { page: [refund] } = await shop.call("list-refunds-by-payment", { payment_id: id });
  assert.deepEqual([refund.amount, refund.reason], [1250, MARKUP]);
  const { page: [activity] } = await shop.call("list-activity-logs", { actor_email: owner.email });
  assert.deepEqual([activity.actor_type, activity.actor_email, activity.parent_id ?? activity.object_id], ["USER", owner.email, id]);
  await owner.open("Refunds");
  await page.getByRole("cell", { name: MARKUP }).waitFor();
});

scene("a double click on a form does its act once", async ({ shop, page }) => {
  const id = await paid(shop);
  const owner = await Member.join(shop, page);
  await owner.goto(`/payments/${id}/refund`);
  await page.getByLabel("Amount (THB)").fill("1");
  await page.getByRole("button", { name: "Refund payment" }).dblclick();
  await page.getByRole("status").getByText("Done: Refund payment").waitFor();
  const { page: refunds } = await shop.call("list-refunds-by-payment", { payment_id: id });
  assert.equal(refunds.length, 1);
});

scene("a checkout is created with its address and QR code, filtered for, and expired", async ({ shop, page }) => {
  const owner = await Member.join(shop, page);
  await owner.open("Checkouts");
  await page.getByText("No checkouts yet").waitFor();
  await page.getByRole("link", { name: "New checkout" }).click();
  await page.getByLabel("Installation ID").selectOption(shop.installationId);
  await page.getByLabel("Amount (THB)").fill("250");
  await page.getByLabel("Return URL").fill(`${shop.origin}/done`);
  await page.getByLabel("External ID").fill("order-1");
  await page.getByRole("button", { name: "Create checkout" }).click();
  await page.getByRole("status").getByText("Done: Create checkout").waitFor();
  await page.getByRole("img", { name: "QR code of the address" }).waitFor();
  const { url } = (await shop.call("list-checkouts", {})).page[0];
  await page.getByRole("link", { name: url }).waitFor();
  await owner.open("Checkouts");
  await page.getByLabel("Status").selectOption("EXPIRED");
  await page.getByRole("button", { name: "Apply filters" }).click();
  await page.getByText("Nothing found").waitFor();
  assert.equal(new URL(page.url()).search, "?status=EXPIRED", "the address has the call's own arguments");
  await page.getByRole("link", { name: "Clear filters" }).click();
  await page.getByRole("table", { name: "Checkouts" }).getByRole("link").first().click();
  await page.getByRole("link", { name: "Expire checkout" }).click();
  await page.getByRole("button", { name: "Expire checkout" }).click();
  await page.getByRole("table", { name: "Details" }).getByRole("row", { name: "Status EXPIRED" }).waitFor();
});

scene("a key is shown once, for a code", async ({ shop, page }) => {
  const owner = await Member.join(shop, page);
  await owner.open("API keys");
  await page.getByRole("link", { name: "New API key" }).click();
  await page.getByLabel("Name").fill("Bookkeeping");
  await page.getByLabel("Role").selectOption("VIEWER");
  await page.getByLabel("Authentication code").fill("000000");
  await page.getByRole("button", { name: "Create API key" }).click();
  await page.getByText("The code is wrong").waitFor();
  await page.getByLabel("Authentication code").fill(owner.code());
  await page.getByRole("button", { name: "Create API key" }).click();
  await page.getByText(/^sk_\w{38}$/).waitFor();
  await owner.open("API keys");
  assert.equal(await page.getByText(/^sk_\w{38}$/).count(), 0);
  await page.getByRole("row", { name: /Bookkeeping/ }).getByRole("link", { name: "Revoke key" }).waitFor();
});

scene("payments are exported as they are filtered", async ({ shop, page }) => {
  await paid(shop, { external_id: "=order" });
  const owner = await Member.join(shop, page);
  await owner.open("Payments");
  await page.getByLabel("Amount").fill("1..2000");
  await page.getByRole("button", { name: "Apply filters" }).click();
  assert.equal(new URL(page.url()).searchParams.get("amount"), "100..200000");
  const address = await page.getByRole("link", { name: "Export CSV" }).getAttribute("href");
  const text = await page.evaluate(async (address) => (await fetch(address)).text(), address);
  const [head, line] = text.split("\r\n");
  assert.ok(head.startsWith("payment_id,external_id,") && line.includes(",'=order,"), text);
});

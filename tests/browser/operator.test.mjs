// The operator's pages: every page on large and small screens, and what the operator does there.
import assert from "node:assert/strict";

import { Operator } from "./operator.mjs";
import { stage } from "./stage.mjs";
import { axeFindings, hasNoSidewaysScroll } from "./states.mjs";

const { scene } = stage();

for (const [width, colorScheme] of [[1200, "light"], [400, "dark"], [1200, "dark"], [400, "light"]]) {
  const tag = width === 1200 && colorScheme === "light" ? "[short] " : "";
  scene(`${tag}every page of the operator at ${width} px, ${colorScheme}: axe-core finds nothing`, async ({ till, shop, page }) => {
    const fits = async () => {
      await hasNoSidewaysScroll(page);
      assert.deepEqual(await axeFindings(page), [], page.url());
    };
    await page.goto(`http://${till.adminListen}/operator`);
    await fits();
    const operator = await Operator.signIn(till, page);
    const links = page.getByRole("navigation", { name: "Main" }).getByRole("link");
    assert.deepEqual(await links.allTextContents(), ["Overview", "Merchants", "Sandbox"]);
    for (const name of await links.allTextContents()) {
      await operator.open(name);
      await fits();
    }
    const [merchant, sandbox] = [`/merchants/${shop.merchantId}`, `/sandbox/${shop.merchantId}`];
    for (const path of [
      "/checkpoint", "/merchants/new", merchant, `${merchant}/suspend`, `${merchant}/topup`, `${merchant}/methods`,
      `${merchant}/methods/CARD`, `${merchant}/keys`, `${merchant}/installations`, sandbox, `${sandbox}/dispute`,
      `${sandbox}/action`, `${sandbox}/invoice`, "/payments", "/payments?last_digits=4242",
    ]) {
      await operator.goto(path);
      await fits();
    }
  }, { context: { bypassCSP: true, colorScheme, viewport: { width, height: 900 } } });
}

scene("[short] a merchant is created, suspended and resumed, and its clock advanced", async ({ till, page }) => {
  const operator = await Operator.signIn(till, page);
  await page.getByRole("button", { name: "Take checkpoint" }).click();
  await operator.done("Take checkpoint");
  await operator.open("Merchants");
  await page.getByRole("link", { name: "Create merchant" }).click();
  await page.getByLabel("Name").fill("Second house");
  await page.getByLabel("Currency").fill("JPY");
  await page.getByLabel("Time zone").fill("Asia/Tokyo");
  await page.getByLabel("Test clock").selectOption("Yes");
  await page.getByRole("button", { name: "Create merchant" }).dblclick();
  await operator.done("Create merchant");
  await operator.isAt("Second house");
  const { page: merchants } = await till.admin("list-merchants", {});
  const made = merchants.filter(({ name }) => name === "Second house");
  assert.equal(made.length, 1, "a double click creates one");
  const find = () => till.admin("find-merchant", { merchant_id: made[0].merchant_id });
  for (const [act, suspended] of [["Suspend merchant", true], ["Resume merchant", false]]) {
    await page.getByRole("link", { name: act }).click();
    await page.getByRole("button", { name: act }).click();
    await operator.done(act);
    assert.equal((await find()).suspended, suspended);
  }
  await page.getByRole("main").getByRole("link", { name: "Sandbox" }).click();
  await page.getByRole("link", { name: "Advance clock" }).click();
  const { test_clock: { now } } = await find();
  const tokyo = new Date((now + 9 * 3600 + 86_400) * 1000).toISOString().slice(0, 16);
  await page.getByLabel("To").fill(tokyo);
  await page.getByRole("button", { name: "Advance clock" }).click();
  await operator.done("Advance clock");
  assert.ok((await find()).test_clock.ahead_seconds > 86_000);
  await page.getByRole("button", { name: "Sign out" }).click();
  await operator.isAt("Operator sign in");
});

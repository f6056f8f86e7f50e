// A card that is entered at the acquirer's page: on the hosted page, in the frame and in the form of a shop's own page.
import assert from "node:assert/strict";

import { anotherWay, heading, isBackAt, isToldOfOwnChoice, payBy, payButton, radio } from "./customer.mjs";
import { frameOf, isTold, openCheckout, openMounted, told } from "./mounted.mjs";
import { Till, until } from "./server.mjs";
import { stage } from "./stage.mjs";
import { axeFindings } from "./states.mjs";
import { Fake, backFromStripe, payAtStripe, reachesStripe } from "./stripe.mjs";

const SENTENCE = "You enter your card on the next page, at Stripe.";
const DECLINED_THERE = "4000000000009995";
/** The time within which a customer who paid and comes back is at the shop. */
const BACK_WITHIN_MS = 5_000;

let fake;
const { scene } = stage({
  startTill: async () => {
    fake = await Fake.start();
    return Till.start({ settings: (till) => ({ TILL_STRIPE_URL: fake.url, TILL_PUBLIC_URL: till.base }) });
  },
});

/** A scene whose shop has its cards paid at Stripe. */
function sceneAtStripe(name, act, options) {
  scene(name, async (given) => {
    await fake.serve(given.shop);
    await act(given);
  }, options);
}

/** Opens a checkout and goes on to Stripe's page. */
async function goToStripe(shop, page) {
  const checkout = await shop.checkout();
  await page.goto(checkout.url);
  await payBy(page, "Card");
  await reachesStripe(page, fake);
  return checkout;
}

async function isPaidOnceThere(shop, id, attempts = 1) {
  const kept = await shop.isPaidOnce(id, attempts);
  await fake.charged(kept);
  return kept;
}

sceneAtStripe("[short] a card is entered at Stripe, and the customer is soon back at the shop", async ({ shop, customer, page }) => {
  const { url, id } = await shop.checkout();
  await page.goto(url);
  await radio(page, "Card").check();
  await page.getByText(SENTENCE).waitFor();
  assert.equal(await page.getByLabel("Card number").count(), 0);
  await payButton(page).click();
  await reachesStripe(page, fake);
  const left = Date.now();
  await payAtStripe(page);
  const typed = Date.now();
  await isBackAt(page, shop, id);
  assert.ok(Date.now() - typed < BACK_WITHIN_MS, `${Date.now() - typed} ms after the card, ${Date.now() - left} in all`);
  const { card } = await isPaidOnceThere(shop, id);
  assert.deepEqual([card.scheme, card.first_digits, card.last_digits], ["VISA", null, "4242"]);
  assert.equal(customer.calls("tokenize-card").length, 0);
});

sceneAtStripe("a card that is declined there leaves the page open for another", async ({ shop, page }) => {
  const { id } = await goToStripe(shop, page);
  await payAtStripe(page, DECLINED_THERE);
  await page.getByRole("alert").waitFor();
  const { status } = await shop.payment((await shop.found(id)).payment_id);
  assert.equal(status, "PENDING");
  await payAtStripe(page);
  await isBackAt(page, shop, id);
  await isPaidOnceThere(shop, id);
});

sceneAtStripe("one who turns back there finds the way to the page again, and another way to pay", async ({ shop, page }) => {
  const { url, id } = await goToStripe(shop, page);
  await backFromStripe(page);
  await page.getByRole("link", { name: "Continue to your bank" }).click();
  await reachesStripe(page, fake);
  await page.goto(url);
  await anotherWay(page).click();
  await isToldOfOwnChoice(page);
  await payBy(page, "Card");
  await reachesStripe(page, fake);
  await payAtStripe(page);
  await isBackAt(page, shop, id);
  await isPaidOnceThere(shop, id, 2);
});

sceneAtStripe("a page there that was given up cannot be paid any more", async ({ shop, page }) => {
  const { url } = await goToStripe(shop, page);
  const there = page.url();
  await page.goto(url);
  await anotherWay(page).click();
  await isToldOfOwnChoice(page);
  await until("the page is still open", () => fake.control("GET", "sessions"), (all) => all.at(-1).status === "expired");
  await page.goto(there);
  await page.getByRole("heading", { name: "This page has expired." }).waitFor();
});

sceneAtStripe("two tabs, a reload and the way back pay once", async ({ shop, customer, page }) => {
  const { url, id } = await goToStripe(shop, page);
  const there = page.url();
  const other = await customer.context.newPage();
  await other.goto(url);
  await heading(other, "Confirm with your bank").waitFor();
  await other.getByRole("link", { name: "Continue to your bank" }).click();
  await reachesStripe(other, fake);
  assert.equal(other.url(), there, "both tabs are at one page");
  await other.reload();
  await payAtStripe(other);
  await isBackAt(other, shop, id);
  await page.reload();
  await backFromStripe(page);
  await isBackAt(page, shop, id);
  await page.goBack();
  await page.goto(url);
  await heading(page, "Payment successful").waitFor();
  await isPaidOnceThere(shop, id);
});

sceneAtStripe("a server that is killed while the customer is away finds the payment again", async ({ till, shop, page }) => {
  const { id } = await goToStripe(shop, page);
  await till.kill();
  await till.run();
  await payAtStripe(page);
  await isBackAt(page, shop, id);
  await isPaidOnceThere(shop, id);
});

sceneAtStripe("without script a card is paid there, too", async ({ shop, page }) => {
  const { url, id } = await shop.checkout();
  await page.goto(url);
  await radio(page, "Card").check();
  await page.getByText(SENTENCE).waitFor();
  assert.equal(await page.getByText("JavaScript").count(), 0);
  await payButton(page).click();
  await page.getByRole("link", { name: "Continue to your bank" }).click();
  await reachesStripe(page, fake);
  await payAtStripe(page);
  await isBackAt(page, shop, id);
  await isPaidOnceThere(shop, id);
}, { context: { javaScriptEnabled: false } });

sceneAtStripe("[short] the frame of a checkout sends the shop's window to Stripe", async ({ shop, page }) => {
  const { frame, id } = await openCheckout(shop, page, { button: true });
  await radio(frame, "Card").check();
  await frame.getByText(SENTENCE).waitFor();
  const changes = await told(page, "onChange");
  assert.deepEqual(changes.at(-1), [{ complete: true, paymentMethod: "CARD" }]);
  await payButton(frame).click();
  await reachesStripe(page, fake);
  await payAtStripe(page);
  await isBackAt(page, shop, id);
  await isPaidOnceThere(shop, id);
});

sceneAtStripe("[short] the form of a shop's own page sends its window to Stripe", async ({ shop, page }) => {
  const frame = await openMounted(shop, page);
  await radio(frame, "Card").check();
  await frame.getByText(SENTENCE).waitFor();
  await page.getByRole("button", { name: "Buy" }).click();
  await reachesStripe(page, fake);
  await payAtStripe(page);
  await page.waitForURL(`${shop.origin}/done?**`);
  const [payment] = shop.initiated;
  const { kept } = await shop.keepsMoneyOnce(async () => [await shop.payment(payment)]);
  await fake.charged(kept);
});

for (const colorScheme of ["light", "dark"]) {
  sceneAtStripe(`axe-core finds nothing where a card is entered elsewhere: ${colorScheme}`, async ({ shop, page }) => {
    const { url } = await shop.checkout();
    await page.goto(url);
    await radio(page, "Card").check();
    assert.deepEqual(await axeFindings(page), []);
    await payButton(page).click();
    await reachesStripe(page, fake);
    await page.goto(url);
    await heading(page, "Confirm with your bank").waitFor();
    assert.deepEqual(await axeFindings(page), []);
    await openMounted(shop, page, { button: true });
    await radio(frameOf(page), "Card").check();
    assert.deepEqual(await axeFindings(page.frames().find((it) => it.url().includes("/frame/"))), []);
  }, { context: { bypassCSP: true, colorScheme } });
}

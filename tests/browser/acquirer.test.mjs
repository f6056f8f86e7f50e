// A card that is entered at the acquirer's page: on the hosted page, in the frame and in the form of a shop's own page.
import assert from "node:assert/strict";

import { anotherWay, heading, isBackAt, isToldOf, isToldOfOwnChoice, payBy, payButton, radio } from "./customer.mjs";
import { frameOf, isTold, openCheckout, openMounted, told } from "./mounted.mjs";
import { Till, until } from "./server.mjs";
import { stage } from "./stage.mjs";
import { axeFindings } from "./states.mjs";
import { Fake, backFromStripe, payAtStripe, reachesStripe } from "./stripe.mjs";

const SENTENCE = "You enter your card on the next page, at Stripe.";
const DECLINED_THERE = "4000000000009995";
/** The time within which a customer who paid and comes back is at the shop. */
const BACK_WITHIN_MS = 5_000;

/** How long a customer may be away where nobody comes back. */
const AWAY_SECONDS_MAX = 15;

/** A stage whose shops have their cards paid at a Stripe of its own. */
function stageAtStripe(settings = {}) {
  let fake;
  const { scene } = stage({
    startTill: async () => {
      fake = await Fake.start();
      return Till.start({ settings: (till) => ({ TILL_STRIPE_URL: fake.url, TILL_PUBLIC_URL: till.base, ...settings }) });
    },
  });
  return (name, act, options) =>
    scene(name, async (given) => {
      await fake.serve(given.shop);
      await act({ ...given, fake });
    }, options);
}

const sceneAtStripe = stageAtStripe();
const sceneOfTheLate = stageAtStripe({ TILL_PENDING_SECONDS_MAX: AWAY_SECONDS_MAX });

/** Opens a checkout and goes on to Stripe's page. */
async function goToStripe({ shop, fake, page }) {
  const checkout = await shop.checkout();
  await page.goto(checkout.url);
  await payBy(page, "Card");
  await reachesStripe(page, fake);
  return checkout;
}

async function isPaidOnceThere({ shop, fake }, id, attempts = 1) {
  const kept = await shop.isPaidOnce(id, attempts);
  await fake.charged(kept);
  return kept;
}

sceneAtStripe("[short] a card is entered at Stripe, and the customer is soon back at the shop", async (given) => {
  const { shop, customer, page, fake } = given;
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
  const { card } = await isPaidOnceThere(given, id);
  assert.deepEqual([card.scheme, card.first_digits, card.last_digits], ["VISA", null, "4242"]);
  assert.equal(customer.calls("tokenize-card").length, 0);
});

sceneAtStripe("a card that is declined there leaves the page open for another", async (given) => {
  const { shop, page } = given;
  const { id } = await goToStripe(given);
  await payAtStripe(page, DECLINED_THERE);
  await page.getByRole("alert").waitFor();
  const { status } = await shop.payment((await shop.found(id)).payment_id);
  assert.equal(status, "PENDING");
  await payAtStripe(page);
  await isBackAt(page, shop, id);
  await isPaidOnceThere(given, id);
});

sceneAtStripe("one who turns back there finds the way to the page again, and another way to pay", async (given) => {
  const { shop, page, fake } = given;
  const { url, id } = await goToStripe(given);
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
  await isPaidOnceThere(given, id, 2);
});

sceneAtStripe("a page there that was given up cannot be paid any more", async (given) => {
  const { page, fake } = given;
  const { url } = await goToStripe(given);
  const there = page.url();
  await page.goto(url);
  await anotherWay(page).click();
  await isToldOfOwnChoice(page);
  await until("the page is still open", () => fake.control("GET", "sessions"), (all) => all.at(-1).status === "expired");
  await page.goto(there);
  await page.getByRole("heading", { name: "This page has expired." }).waitFor();
});

sceneAtStripe("two tabs, a reload and the way back pay once", async (given) => {
  const { shop, customer, page, fake } = given;
  const { url, id } = await goToStripe(given);
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
  await isPaidOnceThere(given, id);
});

sceneAtStripe("a server that is killed while the customer is away finds the payment again", async (given) => {
  const { till, shop, page } = given;
  const { id } = await goToStripe(given);
  await till.kill();
  await till.run();
  await payAtStripe(page);
  await isBackAt(page, shop, id);
  await isPaidOnceThere(given, id);
});

sceneAtStripe("without script a card is paid there, too", async (given) => {
  const { shop, page, fake } = given;
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
  await isPaidOnceThere(given, id);
}, { context: { javaScriptEnabled: false } });

sceneAtStripe("[short] the frame of a checkout sends the shop's window to Stripe", async (given) => {
  const { shop, page, fake } = given;
  const { frame, id } = await openCheckout(shop, page, { button: true });
  await radio(frame, "Card").check();
  await frame.getByText(SENTENCE).waitFor();
  const changes = await told(page, "onChange");
  assert.deepEqual(changes.at(-1), [{ complete: true, paymentMethod: "CARD" }]);
  await payButton(frame).click();
  await reachesStripe(page, fake);
  await payAtStripe(page);
  await isBackAt(page, shop, id);
  await isPaidOnceThere(given, id);
});

sceneAtStripe("[short] the form of a shop's own page sends its window to Stripe", async ({ shop, page, fake }) => {
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

sceneOfTheLate("a page there that was left alone is over in time, and nothing is charged", async (given) => {
  const { shop, page, fake } = given;
  const { url, id } = await goToStripe(given);
  const expired = (all) => all.at(-1).status === "expired";
  await until("the page is still open", () => fake.control("GET", "sessions"), expired);
  const { status } = await shop.payment((await shop.found(id)).payment_id);
  assert.equal(status, "EXPIRED");
  await page.reload();
  await page.getByRole("heading", { name: "This page has expired." }).waitFor();
  await page.goto(url);
  await isToldOf(page, "There was no confirmation in time. Nothing was charged.");
  await fake.charged();
});

for (const colorScheme of ["light", "dark"]) {
  sceneAtStripe(`axe-core finds nothing where a card is entered elsewhere: ${colorScheme}`, async ({ shop, page, fake }) => {
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

// Every state of the page, reached on the real server: for the rules that hold in all of them, and for pictures.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";

import { DECLINED } from "./customer.mjs";
import { until } from "./server.mjs";

const LINES = [
  { name: "Green tea, first harvest, 100 g", amount: "19000", quantity: 2 },
  { name: "Tea pot of cast iron", amount: "85450" },
];

const LARGE = [{ name: "An estate with a lake, a mill, and all that belongs to them", amount: "123456789012345" }];

/** Pays by calls, as the page does, and waits until the server has come so far. */
async function pay(shop, reference, arguments_, action) {
  const session = await shop.sdk("pay-checkout", { checkout_id: reference, ...arguments_ });
  const ask = () => shop.sdk("discover-next-action", { payment_session_id: session });
  await until(`it does not say ${action}`, ask, (said) => said === action);
}

/** Declines ten times: the checkout takes no more. */
async function useUp(shop, reference) {
  for (let attempt = 0; attempt < 10; attempt += 1) await payByCard(shop, reference, DECLINED);
}

/** Chooses a way to pay and gives it up on the page. */
async function giveUp(shop, reference) {
  await pay(shop, reference, { payment_method: "PROMPTPAY" }, "DISPLAY_QR");
  const { payment_session_id: session } = await shop.sdk("retrieve-checkout", { checkout_id: reference });
  await shop.sdk("cancel-payment-session", { payment_session_id: session });
}

/** The brand of a card is shown while it is typed. */
async function typeNumber(page) {
  await page.locator("input[value=CARD]").check();
  await page.locator("#card-number").pressSequentially("378282246310005");
}

async function payByCard(shop, reference, number) {
  await pay(shop, reference, { payment_method: "CARD", token: await shop.token(number) }, "CHECK_STATUS");
}

/** Saves a card of the customer whom the states know. */
export async function saveCard(shop) {
  const { reference } = await shop.checkout({ customer_id: "customer-1", offer_saved_cards: true });
  const token = await shop.token("5555555555554444", "MULTIPLE");
  await pay(shop, reference, { payment_method: "CARD", token, save_card: true }, "CHECK_STATUS");
}

/** The accessible name does not depend on the language, so fields are found by their ids. */
async function payFaulty(page) {
  await page.locator("input[value=CARD]").check();
  await page.locator("[data-pay] .main").click();
  await page.locator("#card-number[aria-invalid]").waitFor();
}

/** Each state: its level-2 heading in English, what makes it, what is done on the page then. */
export const STATES = [
  { name: "choosing", heading: "Choose how to pay" },
  {
    name: "saved card", heading: "Choose how to pay", checkout: { customer_id: "customer-1", offer_saved_cards: true },
    onPage: (page) => page.locator("input[value=CARD]").check(),
  },
  { name: "card typed", heading: "Choose how to pay", onPage: typeNumber },
  { name: "single method", heading: "Card", checkout: { payment_methods: ["CARD"] } },
  { name: "single method QR", heading: "PromptPay QR", checkout: { payment_methods: ["PROMPTPAY"] } },
  { name: "large amount", heading: "Choose how to pay", checkout: { amount: "123456789012345", lines: LARGE } },
  { name: "card faults", heading: "Choose how to pay", onPage: payFaulty },
  {
    name: "instalments", heading: "Choose how to pay", onPage: (page) => page.locator("input[value=INSTALLMENT]").check(),
  },
  {
    name: "processing", heading: "Processing your payment", checkout: { amount: "123491", lines: undefined },
    make: (shop, reference) => pay(shop, reference, { payment_method: "PROMPTPAY" }, "WAIT"),
  },
  {
    name: "confirm", heading: "Confirm with your bank",
    make: (shop, reference) => pay(shop, reference, { payment_method: "MOBILE_BANKING" }, "REDIRECT"),
  },
  {
    name: "scan", heading: "Scan to pay",
    make: (shop, reference) => pay(shop, reference, { payment_method: "PROMPTPAY" }, "DISPLAY_QR"),
  },
  {
    name: "scan text", heading: "Scan to pay",
    make: (shop, reference) => pay(shop, reference, { payment_method: "PROMPTPAY" }, "DISPLAY_QR"),
    onPage: (page) => page.locator("#qr-text-label").click(),
  },
  { name: "given up", heading: "Choose how to pay", make: giveUp },
  {
    name: "not possible now", heading: "Payment failed", checkout: { amount: "123492", lines: undefined },
    make: (shop, reference) => pay(shop, reference, { payment_method: "MOBILE_BANKING" }, "CHECK_STATUS"),
  },
  { name: "attempts used up", heading: "This checkout has expired", make: useUp },
  { name: "failed", heading: "Payment failed", make: (shop, reference) => payByCard(shop, reference, DECLINED) },
  { name: "successful", heading: "Payment successful", make: (shop, reference) => payByCard(shop, reference, "4242424242424242") },
  { name: "expired", heading: "This checkout has expired", make: (shop, reference) => shop.call("expire-checkout", { checkout_id: reference }) },
  { name: "suspended", heading: "Payments are not possible at the moment", isSuspended: true },
  { name: "unknown", heading: "Page not found", isUnknown: true },
];

/** Opens a page in a state and keeps it there: it hears no news, and does not go on to the shop. */
export async function openIn(state, shop, page, lang = "en") {
  const { url, reference } = await shop.checkout({ lines: LINES, ...state.checkout });
  await state.make?.(shop, reference);
  await page.route("**/sdk/**", () => {});
  await page.route(`${shop.origin}/**`, (route) => route.fulfill({ status: 204 }));
  const merchant = { merchant_id: shop.merchantId };
  if (state.isSuspended) await shop.till.admin("suspend-merchant", merchant);
  try {
    const address = state.isUnknown ? url.replace(reference, "chk_01h2e8kqvbfwea724h75qc655w") : url;
    await page.goto(`${address}?lang=${lang}`);
  } finally {
    if (state.isSuspended) await shop.till.admin("resume-merchant", merchant);
  }
  if (lang === "en") await page.getByRole("heading", { level: 2, name: state.heading, exact: true }).waitFor();
  await state.onPage?.(page);
}

const AXE = readFileSync(new URL("node_modules/axe-core/axe.min.js", import.meta.url), "utf8");
const RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];

/** What axe-core finds in a page or frame. The page's profile must bypass its content security policy. */
export async function axeFindings(frame) {
  await frame.evaluate(AXE);
  const { violations } = await frame.evaluate((runOnly) => window.axe.run({ runOnly }), RULES);
  return violations.map(({ id, nodes }) => [id, nodes.map((node) => `${node.html}: ${node.failureSummary}`)]);
}

export async function hasNoSidewaysScroll(page) {
  const [inner, scrolled] = await page.evaluate(() => [window.innerWidth, document.documentElement.scrollWidth]);
  assert.ok(scrolled <= inner, `${page.url()}: ${scrolled} of ${inner}`);
}

// A customer with a browser: what a person does on the pages, by the names that a person sees.
import assert from "node:assert/strict";

export const CARD = "4242424242424242";
export const DECLINED = "4000000000000002";
/** Asks for a challenge. */
export const CHALLENGED = "4000002760003184";
/** Is authorized, and answered after five seconds. */
export const SLOW = "4000000000003238";

const PATIENCE_MS = 60_000;

/** What Chromium itself says of requests that were cut off or refused: no fault of a page. */
const NETWORK = /net::ERR_|Failed to load resource/;

export class Customer {
  static async of(browser, { expectedFaults, ...options } = {}) {
    const customer = new Customer();
    customer.context = await browser.newContext({ locale: "en-GB", ...options });
    customer.context.setDefaultTimeout(PATIENCE_MS);
    /** Every request of every page, as the browser sends it. */
    customer.requests = [];
    customer.faults = [];
    customer.context.on("request", (request) => customer.requests.push(request));
    const tell = (text) => {
      if (!NETWORK.test(text) && !expectedFaults?.test(text)) customer.faults.push(text);
    };
    customer.context.on("weberror", (error) => tell(String(error.error())));
    customer.context.on("console", (message) => {
      if (message.type() === "error") tell(message.text());
    });
    customer.page = await customer.context.newPage();
    return customer;
  }

  leave() {
    return this.context.close();
  }

  /** The calls of this name that the pages made. */
  calls(name) {
    return this.requests.filter((request) => request.url().endsWith(`/sdk/${name}`));
  }
}

export const heading = (page, name) => page.getByRole("heading", { level: 2, name, exact: true });
export const radio = (page, name) => page.getByRole("radio", { name, exact: true });
export const payButton = (page, amount = "THB 1,234.50") => page.getByRole("button", { name: `Pay ${amount}`, exact: true });
export const anotherWay = (page) => page.getByRole("button", { name: "Pay another way" });

/** Types into a field key by key, in place of what is in it. `fill` is not typing: it is what the browser's autofill does. */
export async function type(field, text) {
  await field.press("ControlOrMeta+a");
  await field.pressSequentially(text);
}

/** Types a card into the checkout's page or the frame, as it stands on the card. */
export async function typeCard(page, number = CARD) {
  await radio(page, "Card").check();
  await typeFields(page, number);
}

export async function typeFields(page, number = CARD, code = "123") {
  await type(page.getByLabel("Card number"), number);
  await type(page.getByLabel("Expiry date"), "12/49");
  await type(page.getByLabel("Security code"), code);
  await type(page.getByLabel("Name on card"), "Ada Example");
}

export async function payByCard(page, number) {
  await typeCard(page, number);
  await payButton(page).click();
}

export async function payBy(page, method) {
  await radio(page, method).check();
  await payButton(page).click();
}

/** Acts on a page of the sandbox. */
export const act = (page, button) => page.getByRole("button", { name: button, exact: true }).click();

/** Waits for a page of the sandbox: `challenge`, `bank` or `wallet`. */
export const reaches = (page, kind) => page.waitForURL(`**/sandbox/${kind}/**`);

/** Waits until the customer is back at the shop, and checks what the address tells. */
export async function isBackAt(page, shop, checkoutId) {
  await page.waitForURL(`${shop.origin}/done?**`);
  const { searchParams } = new URL(page.url());
  assert.deepEqual([...searchParams.keys()].sort(), ["checkout_id", "payment_id"]);
  assert.equal(searchParams.get("checkout_id"), checkoutId);
  assert.equal(searchParams.get("payment_id"), (await shop.found(checkoutId)).payment_id);
}

/** Pays the bill of the code that the page shows, on a phone. */
export async function payOnPhone(page, context, button = "Pay", base = page.url()) {
  const address = await page.getByRole("link", { name: "Open the sandbox wallet" }).getAttribute("href");
  const phone = await context.newPage();
  await phone.goto(new URL(address, base).href);
  await act(phone, button);
  if (button === "Pay") await phone.getByRole("heading", { level: 1, name: "Payment sent" }).waitFor();
  await phone.close();
}

/** The choice is shown again, after the customer gave a payment up: nothing failed. */
export async function isToldOfOwnChoice(page) {
  await page.getByRole("alert").getByText("You cancelled this payment. Nothing was charged.").waitFor();
  await heading(page, "Choose how to pay").waitFor();
  assert.equal(await heading(page, "Payment failed").count(), 0);
}

/** The choice is shown, after a failure that says this. */
export async function isToldOf(page, words) {
  const alert = page.getByRole("alert").filter({ has: heading(page, "Payment failed") });
  await alert.getByText(words).waitFor();
  await heading(page, "Choose how to pay").waitFor();
}

// The fields of a card, typed key by key as people do, and filled in by a browser or from the clipboard.
import assert from "node:assert/strict";

import { heading, isBackAt, payButton, radio, typeFields } from "./customer.mjs";
import { stage } from "./stage.mjs";

const { scene } = stage();

const expiry = (page) => page.getByLabel("Expiry date");

async function openCard(shop, page) {
  const { url, id } = await shop.checkout();
  await page.goto(url);
  await radio(page, "Card").check();
  return id;
}

/** Presses keys in the empty field; `<` is Backspace, `^` Home, `~` the arrow to the left, `!` the one to the right. */
async function press(page, keys) {
  const named = { "<": "Backspace", "^": "Home", "~": "ArrowLeft", "!": "ArrowRight" };
  await expiry(page).fill("");
  await expiry(page).focus();
  for (const key of keys) {
    if (named[key]) await page.keyboard.press(named[key]);
    else await page.keyboard.type(key);
  }
}

/** What the field holds after the customer has left it, and its fault. */
async function left(page) {
  await page.getByLabel("Name on card").focus();
  return [await expiry(page).inputValue(), await page.locator("#expiry-date-fault").textContent()];
}

scene("[short] an expiry date is typed in every form, with its separator or without", async ({ shop, page }) => {
  await openCard(shop, page);
  for (const [keys, shown] of [
    ["12/49", "12/49"], ["1/49", "01/49"], ["12 / 49", "12/49"], ["12-49", "12/49"], ["12.49", "12/49"], ["12/2049", "12/49"],
    ["1249", "12/49"], ["122049", "12/49"], ["01/49", "01/49"], ["1 / 2049", "01/49"], ["3/49", "03/49"], ["349", "03/49"],
    ["12//49", "12/49"], ["١٢/٤٩", "12/49"], ["١٢٤٩", "12/49"], ["๑๒/๔๙", "12/49"], ["12／49", "12/49"],
  ]) {
    await press(page, keys);
    assert.deepEqual(await left(page), [shown, ""], keys);
  }
});

scene("an expiry date is typed in the middle of the field, and after deletions", async ({ shop, page }) => {
  await openCard(shop, page);
  for (const [keys, shown] of [
    ["12/9~4", "12/49"], ["12/4~~!!9", "12/49"], ["12/49^!!/", "12/49"], ["12/49~~20", "12/2049"],
    ["12/48<9", "12/49"], ["12/48<<49", "12/49"], ["12/48<<<49", "12/49"], ["12/48<<</49", "12/49"], ["11<<2/49", "12/49"],
    ["13<<2/49", "12/49"], ["11/49~~~<2", "12/49"], ["01/49^!!<<12", "12/49"], ["12/49<<<<<1249", "12/49"],
  ]) {
    await press(page, keys);
    assert.deepEqual(await left(page), [shown, ""], keys);
  }
});

scene("the caret stays where the customer types", async ({ shop, page }) => {
  await openCard(shop, page);
  const caret = () => expiry(page).evaluate((field) => field.selectionStart);
  await press(page, "12/49^!!/");
  assert.equal(await caret(), 3, "after the slash that was there");
  await press(page, "12/9~4");
  assert.equal(await caret(), 4);
});

scene("what is no date stays as it was typed, and is told", async ({ shop, page }) => {
  await openCard(shop, page);
  for (const [keys, fault] of [
    ["13/49", "Check the expiry date"], ["00/49", "Check the expiry date"], ["12", "Check the expiry date"],
    ["12/4", "Check the expiry date"], ["01/20", "This card has expired"],
  ]) {
    await press(page, keys);
    assert.equal((await left(page))[1], fault, keys);
  }
});

scene("a date is pasted, or filled in by the browser, in every form", async ({ shop, customer, page }) => {
  await openCard(shop, page);
  await customer.context.grantPermissions(["clipboard-read", "clipboard-write"]);
  for (const text of ["12/49", "12/2049", "12 / 49", "1249", "122049", "12-2049", " 12/49 "]) {
    await expiry(page).fill(text);
    assert.deepEqual(await left(page), ["12/49", ""], `filled in: ${text}`);
    await page.evaluate((text) => navigator.clipboard.writeText(text), text);
    await expiry(page).fill("");
    await expiry(page).press("ControlOrMeta+v");
    assert.deepEqual(await left(page), ["12/49", ""], `pasted: ${text}`);
  }
});

scene("the brand of the card is shown while its number is typed", async ({ shop, page }) => {
  await openCard(shop, page);
  const number = page.getByLabel("Card number");
  const brand = page.locator("[data-brand]");
  for (const [digits, name, before] of [
    ["4", "Visa", ""], ["55", "Mastercard", "5"], ["2221", "Mastercard", "222"], ["2720", "Mastercard", "272"],
    ["37", "American Express", "3"], ["3528", "JCB", "352"], ["62", "UnionPay", "6"], ["6011", "Discover", "601"],
    ["65", "Discover", "6"], ["36", "Diners Club", "3"], ["305", "Diners Club", "30"],
  ]) {
    await number.fill("");
    await number.pressSequentially(before);
    assert.equal(await brand.isVisible(), false, before);
    await number.pressSequentially(digits.slice(before.length));
    await page.getByRole("img", { name, exact: true }).waitFor();
    assert.ok((await brand.locator("use").evaluate((use) => use.getBBox().width)) > 0, `${name} is drawn`);
  }
  await number.press("ControlOrMeta+a");
  await number.press("Delete");
  assert.equal(await brand.isVisible(), false);
});

scene("an American Express card has a code of four digits, and the page says so", async ({ shop, page }) => {
  const id = await openCard(shop, page);
  const code = page.getByLabel("Security code");
  assert.equal(await code.getAttribute("placeholder"), "123");
  await page.getByLabel("Card number").pressSequentially("34");
  assert.equal(await code.getAttribute("placeholder"), "1234", "as soon as the number is one");
  await typeFields(page, "378282246310005", "123");
  assert.equal(await page.getByLabel("Card number").inputValue(), "3782 822463 10005");
  await payButton(page).click();
  await page.getByText("Enter the security code: four digits on the front of the card").waitFor();
  assert.equal(await code.evaluate((field) => field === document.activeElement), true);
  await code.press("End");
  await code.pressSequentially("45");
  assert.equal(await code.inputValue(), "1234", "no more than four are taken");
  await payButton(page).click();
  await isBackAt(page, shop, id);
  await shop.isPaidOnce(id);
});

scene("a single method needs no radio button, and its heading names it", async ({ shop, page }) => {
  const first = await shop.checkout({ payment_methods: ["CARD"] });
  await page.goto(first.url);
  await heading(page, "Card").waitFor();
  assert.equal(await page.getByRole("radio").count(), 0);
  await typeFields(page, "4000000000000002");
  await payButton(page).click();
  await heading(page, "Payment failed").waitFor();
  await heading(page, "Card").waitFor();
  await typeFields(page);
  await payButton(page).click();
  await isBackAt(page, shop, first.id);
  await shop.isPaidOnce(first.id, 2);
  const second = await shop.checkout({ payment_methods: ["PROMPTPAY"] });
  await page.goto(second.url);
  await heading(page, "PromptPay QR").waitFor();
  await payButton(page).click();
  await heading(page, "Scan to pay").waitFor();
});

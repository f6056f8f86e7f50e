// For everyone: by keyboard alone, by screen reader's names and roles, on a small screen with large text.
import assert from "node:assert/strict";

import { heading, isBackAt } from "./customer.mjs";
import { openCheckout, openMounted } from "./mounted.mjs";
import { STATES, axeFindings, openIn, saveCard } from "./states.mjs";
import { stage } from "./stage.mjs";

const { scene } = stage();

/** Presses Tab until this has the focus; nothing on the way keeps it. */
async function tabTo(page, locator) {
  for (let press = 0; press < 20; press += 1) {
    if (await locator.evaluate((element) => element === document.activeElement)) return;
    await page.keyboard.press("Tab");
  }
  assert.fail(`${locator} is not reached by Tab`);
}

/** The element with the focus, or what it is in, is drawn otherwise than without. */
async function showsFocus(locator) {
  const drawn = () => locator.evaluate((element) => {
    const styles = [];
    for (let it = element; it !== document.body; it = it.parentElement) {
      const { outlineStyle, outlineWidth, boxShadow } = getComputedStyle(it);
      styles.push(outlineStyle, outlineWidth, boxShadow);
    }
    return styles.join();
  });
  const focused = await drawn();
  await locator.evaluate((element) => element.blur());
  const blurred = await drawn();
  await locator.focus();
  assert.notEqual(focused, blurred, `${locator} shows its focus`);
}

/** Chooses the card as people without a pointer do. */
async function chooseCard(page) {
  const isOnRadio = () => page.evaluate(() => document.activeElement.type === "radio");
  for (let press = 0; press < 20 && !(await isOnRadio()); press += 1) await page.keyboard.press("Tab");
  const card = page.getByRole("radio", { name: "Card", exact: true });
  await page.keyboard.press("Space");
  for (let press = 0; press < 5 && !(await card.isChecked()); press += 1) await page.keyboard.press("ArrowDown");
  assert.ok(await card.isChecked());
  return card;
}

scene("[short] a purchase by keyboard alone", async ({ shop, page }) => {
  const { url, id } = await shop.checkout();
  await page.goto(url);
  await chooseCard(page);
  for (const [label, text] of [
    ["Card number", "4000002760003184"], ["Expiry date", "12/49"], ["Security code", "123"], ["Name on card", "Ada Example"],
  ]) {
    await tabTo(page, page.getByLabel(label));
    await page.keyboard.type(text);
  }
  await tabTo(page, page.getByRole("button", { name: "Pay THB 1,234.50" }));
  await page.keyboard.press("Enter");
  await page.waitForURL("**/sandbox/challenge/**");
  const button = page.getByRole("button", { name: "Authenticate", exact: true });
  await tabTo(page, button);
  await page.keyboard.press("Space");
  await isBackAt(page, shop, id);
  await shop.isPaidOnce(id);
});

scene("by keyboard: what has the focus shows it, and a language is chosen by Enter", async ({ shop, page }) => {
  const { url } = await shop.checkout();
  await page.goto(url);
  const targets = [
    await chooseCard(page), page.getByLabel("Card number"), page.getByRole("button", { name: "Pay THB 1,234.50" }),
    page.getByRole("link", { name: "Return to Tea house" }),
  ];
  for (const target of targets) {
    await tabTo(page, target);
    await showsFocus(target);
  }
  const language = page.getByRole("combobox", { name: "Language" });
  await tabTo(page, language);
  await page.keyboard.type("De");
  assert.ok(!page.url().includes("lang="), "arrows and letters lead nowhere yet");
  await page.keyboard.press("Enter");
  await page.waitForURL("**?lang=de");
});

scene("news is said: the heading takes the focus when the state changes", async ({ shop, page }) => {
  const { url } = await shop.checkout();
  await page.goto(url);
  await page.getByRole("radio", { name: "PromptPay QR" }).check();
  await page.getByRole("button", { name: "Pay THB 1,234.50" }).click();
  await heading(page, "Scan to pay").waitFor();
  await page.waitForFunction(() => document.activeElement.textContent === "Scan to pay");
  await page.getByRole("button", { name: "Pay another way" }).click();
  await page.getByRole("alert").getByText("You cancelled this payment.").waitFor();
});

for (const [lang, colorScheme] of [["en", "light"], ["en", "dark"], ["ar", "light"], ["ar", "dark"], ["th", "light"], ["ja", "dark"], ["de", "light"]]) {
  const tag = lang === "en" && colorScheme === "light" ? "[short] " : "";
  scene(`${tag}axe-core finds nothing in any state: ${lang}, ${colorScheme}`, async ({ shop, page }) => {
    await saveCard(shop);
    for (const state of STATES) {
      await openIn(state, shop, page, lang);
      assert.deepEqual(await axeFindings(page), [], state.name);
    }
  }, { context: { bypassCSP: true, colorScheme } });
}

for (const color of ["#0a7d55", "#ffcc00", "#111111"]) {
  scene(`axe-core finds nothing with the merchant's colour ${color}`, async ({ shop, page }) => {
    for (const colorScheme of ["light", "dark"]) {
      await page.emulateMedia({ colorScheme });
      for (const state of STATES.filter(({ name }) => ["card faults", "confirm", "scan", "successful"].includes(name))) {
        await openIn(state, shop, page);
        assert.deepEqual(await axeFindings(page), [], `${state.name}, ${colorScheme}`);
      }
    }
  }, { shop: { color }, context: { bypassCSP: true } });
}

/** What stands out of the page sideways. */
function tooWide() {
  const root = document.documentElement;
  const over = root.scrollWidth - root.clientWidth;
  if (over <= 0) return null;
  const wide = [...document.querySelectorAll("body *")].filter((element) => element.getBoundingClientRect().right > root.clientWidth + 1);
  return `${over} px: ${wide.slice(-3).map((element) => element.outerHTML.slice(0, 100)).join(" | ")}`;
}

for (const [name, width, fontSize] of [["at 320 px", 320, 100], ["at 320 px with text of 200 %", 320, 200], ["at 320 px zoomed to 200 %", 160, 100], ["at 2560 px", 2560, 100]]) {
  for (const lang of ["en", "de", "th", "ja", "ar"]) {
    scene(`nothing scrolls sideways ${name}: ${lang}`, async ({ shop, page }) => {
      await page.setViewportSize({ width, height: 600 });
      await saveCard(shop);
      const found = [];
      for (const state of STATES) {
        await openIn(state, shop, page, lang);
        await page.evaluate((size) => document.documentElement.style.setProperty("font-size", `${size}%`), fontSize);
        const wide = await page.evaluate(tooWide);
        if (wide) found.push(`${state.name}: ${wide}`);
      }
      assert.deepEqual(found, []);
    }, { context: { bypassCSP: true } });
  }
}

scene("whatever can be pressed is large enough, and the main button larger", async ({ shop, page }) => {
  await page.setViewportSize({ width: 400, height: 800 });
  await saveCard(shop);
  for (const state of STATES) {
    await openIn(state, shop, page);
    const small = await page.evaluate(() => {
      const targets = "a, button, summary, select, textarea, label:has(input), input:not([type=radio], [type=checkbox], [type=hidden])";
      return [...document.querySelectorAll(targets)]
        .map((element) => ({ html: element.outerHTML.slice(0, 80), box: element.getBoundingClientRect(), least: element.matches(".main") ? 44 : 24 }))
        .filter(({ box, least }) => box.width > 0 && (box.height < least || box.width < 24))
        .map(({ html, box }) => `${html} ${box.width} x ${box.height}`);
    });
    assert.deepEqual(small, [], state.name);
  }
});

scene("the page is small, asks for four files with its icon, and keeps nothing", async ({ till, shop, customer, page }) => {
  const { url, reference } = await shop.checkout();
  const isOfPage = (address) => address.startsWith(till.base) && !address.includes("/sdk/");
  for (const name of ["choosing", "scan"]) {
    if (name === "scan") await shop.sdk("pay-checkout", { checkout_id: reference, payment_method: "PROMPTPAY" });
    if (name === "scan") await page.reload();
    if (name === "scan") await page.getByRole("heading", { name: "Scan to pay" }).waitFor();
    const asked = [];
    const note = (request) => { if (isOfPage(request.url())) asked.push(request.url()); };
    customer.context.on("request", note);
    await page.goto(url, { waitUntil: "load" });
    customer.context.off("request", note);
    // A browser without a window asks for no icon, so it is asked for here.
    const icon = await page.locator("link[rel=icon]").evaluate(({ href }) => href);
    const read = async (address) => (await (await fetch(address)).arrayBuffer()).byteLength;
    const lengths = await Promise.all([...asked, icon].map(read));
    assert.ok(asked.length >= 3 && asked.length <= 4, `${name}: ${asked}`);
    const bytes = lengths.reduce((sum, length) => sum + length);
    assert.ok(bytes <= 55_000, `${name}: ${bytes} bytes`);
  }
  const elsewhere = customer.requests.map((request) => request.url()).filter((address) => !address.startsWith(till.base));
  assert.deepEqual(elsewhere, []);
  assert.deepEqual(await customer.context.cookies(), []);
}, { shop: { color: "#0a7d55" } });

scene("a browser's first look for an icon finds one", async ({ till }) => {
  const answer = await fetch(`${till.base}/favicon.ico`);
  assert.deepEqual([answer.status, answer.headers.get("content-type")], [200, "image/svg+xml"]);
});

/** The texts of amounts that stand on more than one line, or beside the page. */
function brokenAmounts() {
  return [...document.querySelectorAll(".amount, .sum, .pay bdi, .terms bdi")].filter((element) => {
    const range = document.createRange();
    range.selectNodeContents(element);
    const rectangles = [...range.getClientRects()].filter(({ width }) => width > 0);
    const isWide = rectangles.some(({ left, right }) => left < 0 || right > document.documentElement.clientWidth);
    return rectangles.length !== 0 && (isWide || new Set(rectangles.map(({ top }) => Math.round(top))).size !== 1);
  }).map((element) => `${element.className} ${element.textContent}`);
}

for (const width of [320, 400, 1200]) {
  scene(`the largest amounts are never broken at ${width} px`, async ({ shop, page }) => {
    await page.setViewportSize({ width, height: 800 });
    for (const amount of ["123450", "12345678901", "123456789012345"]) {
      const lines = [{ name: "An estate with a lake, a mill, and all that belongs to them", amount }];
      const { url } = await shop.checkout({ amount, lines });
      for (const lang of ["en", "ar", "th"]) {
        await page.goto(`${url}?lang=${lang}`);
        assert.deepEqual(await page.evaluate(brokenAmounts), [], `${amount} ${lang}`);
        assert.equal(await page.evaluate(tooWide), null, `${amount} ${lang}`);
      }
    }
  });
}

/** Expiry date and security code share a row that they fill, and words of a method stay on one line. */
async function isLaidOut(form, width) {
  const box = (locator) => locator.boundingBox();
  const [number, expiry, code] = await Promise.all(["Card number", "Expiry date", "Security code"].map((label) => box(form.getByLabel(label))));
  const boxes = `${width}: ${JSON.stringify([number, expiry, code])}`;
  assert.equal(expiry.y, code.y, boxes);
  assert.ok(Math.abs(code.x + code.width - number.x - number.width) < 1, boxes);
  const [group, main] = await Promise.all([box(form.getByRole("group", { name: "Payment method" })), box(form.locator("main"))]);
  assert.ok(number.width >= group.width - 40, boxes);
  assert.ok(Math.abs((await box(form.getByText("Card", { exact: true }))).height - 24) < 4, boxes);
  return main.width - group.width;
}

scene("the fields of a card fill the page's width, and words are not broken", async ({ shop, page }) => {
  await page.goto((await shop.checkout()).url);
  await page.getByRole("radio", { name: "Card", exact: true }).check();
  for (const width of [360, 544, 800, 1200]) {
    await page.setViewportSize({ width, height: 800 });
    await isLaidOut(page, width);
  }
});

scene("a form in a shop's page has its whole width", async ({ shop, page }) => {
  for (const open of [() => openCheckout(shop, page), () => openMounted(shop, page).then((frame) => ({ frame }))]) {
    await page.setViewportSize({ width: 1200, height: 800 });
    const { frame } = await open();
    await frame.getByRole("radio", { name: "Card", exact: true }).check();
    for (const width of [360, 400, 800, 1200]) {
      await page.setViewportSize({ width, height: 800 });
      assert.equal(await isLaidOut(frame, width), 0, `${width}`);
    }
  }
});

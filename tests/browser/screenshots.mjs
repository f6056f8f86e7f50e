// Writes one page with pictures of every state, taken from the real server: node screenshots.mjs [DIRECTORY]
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

import { CHALLENGED, DECLINED, act, heading, payBy, payByCard, radio, reaches, typeCard } from "./customer.mjs";
import { Member } from "./member.mjs";
import { Operator } from "./operator.mjs";
import { openCheckout, openMounted } from "./mounted.mjs";
import { Till } from "./server.mjs";
import { launch } from "./stage.mjs";
import { STATES, openIn, saveCard } from "./states.mjs";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const directory = resolve(process.argv[2] ?? join(ROOT, "target", "screenshots"));
const WIDTHS = [1200, 400];
const SCHEMES = ["light", "dark"];
const LANGUAGES = ["en", "ar"];

/** A checkout in the shop's page, with what is done in its form then. */
const mounted = (name, inForm = () => {}) => ({
  name: `mounted ${name}`,
  open: async (shop, page) => inForm((await openCheckout(shop, page, { button: true })).frame, page),
});

/** A page of the sandbox, to which paying leads. */
const sandbox = (name, inForm, kind, onPage = () => {}) => ({
  name: `sandbox ${name}`,
  open: async (shop, page) => {
    await page.goto((await shop.checkout()).url);
    await inForm(page);
    if (kind) await reaches(page, kind);
    await onPage(page);
  },
});

/** Opens the phone's page of the code that is shown. */
async function openWallet(page) {
  await payBy(page, "PromptPay QR");
  const address = await page.getByRole("link", { name: "Open the sandbox wallet" }).getAttribute("href");
  await page.goto(new URL(address, page.url()).href);
}

/** The second page of a challenge, which was answered on the first. */
async function openAnsweredChallenge(page) {
  await payByCard(page, CHALLENGED);
  await reaches(page, "challenge");
  const address = page.url();
  await act(page, "Authenticate");
  await page.waitForURL("**/done?**");
  await page.goto(address);
}

/** States apart from those of the checkout's own page, in English. */
const ELSEWHERE = [
  mounted("choosing"),
  mounted("card typed", (frame) => typeCard(frame)),
  mounted("instalments", (frame) => radio(frame, "Instalments").check()),
  mounted("failed", async (frame) => {
    await payByCard(frame, DECLINED);
    await heading(frame, "Payment failed").waitFor();
  }),
  mounted("scan", async (frame) => {
    await payBy(frame, "PromptPay QR");
    await heading(frame, "Scan to pay").waitFor();
  }),
  mounted("successful", async (frame) => {
    await payByCard(frame);
    await heading(frame, "Payment successful").waitFor();
  }),
  { name: "form without a checkout", open: (shop, page) => openMounted(shop, page, { button: true }) },
  {
    name: "form without a checkout typed",
    open: async (shop, page) => typeCard(await openMounted(shop, page, { button: true })),
  },
  sandbox("challenge", (page) => payByCard(page, CHALLENGED), "challenge"),
  sandbox("bank", (page) => payBy(page, "Mobile banking"), "bank"),
  sandbox("wallet", openWallet, "wallet"),
  sandbox("sent", openWallet, "wallet", (page) => act(page, "Pay")),
  sandbox("answered", openAnsweredChallenge),
  { name: "sandbox scan", open: (shop, page) => page.goto(`${shop.till.base}/sandbox/scan`) },
];

/** Pages of the dashboard, by their paths below it; `{payment}` stands for a payment that was made before. */
const DASHBOARD = Object.entries({
  home: "", payments: "/payments", filtered: "/payments?amount=1..2", payment: "/payments/{payment}",
  refund: "/payments/{payment}/refund", checkouts: "/checkouts", "new checkout": "/checkouts/new", customers: "/customers",
  balance: "/balance", activity: "/activity", "empty payouts": "/payouts", "new payout": "/payouts/new", webhooks: "/webhooks",
  "new webhook": "/webhooks/new", keys: "/keys", "new key": "/keys/new", team: "/team", plan: "/plan", account: "/account",
}).map(([name, path]) => ({ name: `dashboard ${name}`, path }));

/** Pages of the operator, by their paths below the first one; `{merchant}` stands for the shop. */
const OPERATOR = Object.entries({
  overview: "", merchants: "/merchants", "create merchant": "/merchants/new", merchant: "/merchants/{merchant}",
  "configure card": "/merchants/{merchant}/methods/CARD", "add top-up": "/merchants/{merchant}/topup", sandbox: "/sandbox",
  "sandbox of a merchant": "/sandbox/{merchant}", "open dispute": "/sandbox/{merchant}/dispute", "find payments": "/payments",
  "found payments": "/payments?last_digits=4242&merchant_id={merchant}",
}).map(([name, path]) => ({ name: `operator ${name}`, path }));
const OPERATOR_SIGN_IN = { name: "operator sign in", path: "" };

async function drawOperator(shop, page, draw) {
  await page.context().clearCookies();
  await page.goto(`http://${shop.till.adminListen}/operator`);
  await draw(OPERATOR_SIGN_IN, "en");
  const operator = await Operator.signIn(shop.till, page);
  for (const state of OPERATOR) {
    await operator.goto(state.path.replace("{merchant}", shop.merchantId));
    await draw(state, "en");
  }
}

/** The page of the address of an invitation, and those of its first member. */
async function drawDashboard(shop, page, draw) {
  const { page: [payment] } = await shop.call("list-payments", {});
  const member = await Member.join(shop, page, "OWNER", { email: `owner-${Date.now()}@tea.example` });
  for (const state of DASHBOARD) {
    await member.goto(state.path.replace("{payment}", payment.payment_id));
    await draw(state, "en");
  }
}

const fileName = (state, lang, width, scheme) => `${state.name.replaceAll(" ", "-")}-${lang}-${width}-${scheme}.png`;

async function take(browser, shop, width, colorScheme) {
  const context = await browser.newContext({ viewport: { width, height: 800 }, colorScheme });
  const page = await context.newPage();
  const draw = async (state, lang) => {
    const path = join(directory, fileName(state, lang, width, colorScheme));
    await page.screenshot({ path, fullPage: true, animations: "disabled" });
  };
  for (const state of ELSEWHERE) {
    await state.open(shop, page);
    await draw(state, "en");
  }
  for (const lang of LANGUAGES) {
    for (const state of STATES) {
      await openIn(state, shop, page, lang);
      await draw(state, lang);
    }
  }
  await drawDashboard(shop, page, draw);
  await drawOperator(shop, page, draw);
  await context.close();
}

function index() {
  const kinds = (languages) => WIDTHS.flatMap((width) => SCHEMES.flatMap((scheme) => languages.map((lang) => ({ width, scheme, lang }))));
  const picture = (state) => ({ width, scheme, lang }) => {
    const file = fileName(state, lang, width, scheme);
    const words = `${lang}, ${width} px, ${scheme}`;
    return `<figure><figcaption>${words}</figcaption><a href="${file}"><img src="${file}" width="${width === 400 ? 200 : 480}" alt="${state.name}: ${words}" loading="lazy"></a></figure>`;
  };
  const section = (languages) => (state) => `<h2>${state.name}</h2>\n<div>${kinds(languages).map(picture(state)).join("\n")}</div>`;
  const sections = [...STATES.map(section(LANGUAGES)), ...[...ELSEWHERE, ...DASHBOARD, OPERATOR_SIGN_IN, ...OPERATOR].map(section(["en"]))];
  return `<!DOCTYPE html>
<html lang="en">
<meta charset="utf-8">
<title>Pages</title>
<style>
body { font: 14px sans-serif; margin: 24px; background: #888; }
div { display: flex; flex-wrap: wrap; gap: 16px; align-items: flex-start; }
figure { margin: 0; }
</style>
<h1>Pages</h1>
${sections.join("\n")}
</html>
`;
}

const till = await Till.start();
const browser = await launch();
const shop = await till.shop({ color: "#0a7d55" });
try {
  rmSync(directory, { recursive: true, force: true });
  mkdirSync(directory, { recursive: true });
  await saveCard(shop);
  for (const width of WIDTHS) for (const scheme of SCHEMES) await take(browser, shop, width, scheme);
  writeFileSync(join(directory, "index.html"), index());
  console.log(join(directory, "index.html"));
} finally {
  await browser.close();
  shop.close();
  await till.remove();
}

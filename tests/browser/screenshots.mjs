// Writes one page with pictures of every state, taken from the real server: node screenshots.mjs [DIRECTORY]
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

import { Till } from "./server.mjs";
import { launch } from "./stage.mjs";
import { STATES, openIn, saveCard } from "./states.mjs";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const directory = resolve(process.argv[2] ?? join(ROOT, "target", "screenshots"));
const WIDTHS = [1200, 400];
const SCHEMES = ["light", "dark"];
const LANGUAGES = ["en", "ar"];

const fileName = (state, lang, width, scheme) => `${state.name.replaceAll(" ", "-")}-${lang}-${width}-${scheme}.png`;

async function take(browser, shop, width, colorScheme) {
  const context = await browser.newContext({ viewport: { width, height: 800 }, colorScheme });
  const page = await context.newPage();
  for (const lang of LANGUAGES) {
    for (const state of STATES) {
      await openIn(state, shop, page, lang);
      const path = join(directory, fileName(state, lang, width, colorScheme));
      await page.screenshot({ path, fullPage: true, animations: "disabled" });
    }
  }
  await context.close();
}

function index() {
  const kinds = WIDTHS.flatMap((width) => SCHEMES.flatMap((scheme) => LANGUAGES.map((lang) => ({ width, scheme, lang }))));
  const picture = (state) => ({ width, scheme, lang }) => {
    const file = fileName(state, lang, width, scheme);
    const words = `${lang}, ${width} px, ${scheme}`;
    return `<figure><figcaption>${words}</figcaption><a href="${file}"><img src="${file}" width="${width === 400 ? 200 : 480}" alt="${state.name}: ${words}" loading="lazy"></a></figure>`;
  };
  const sections = STATES.map((state) => `<h2>${state.name}</h2>\n<div>${kinds.map(picture(state)).join("\n")}</div>`);
  return `<!DOCTYPE html>
<html lang="en">
<meta charset="utf-8">
<title>States of the checkout</title>
<style>
body { font: 14px sans-serif; margin: 24px; background: #888; }
div { display: flex; flex-wrap: wrap; gap: 16px; align-items: flex-start; }
figure { margin: 0; }
</style>
<h1>States of the checkout</h1>
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

// The shop of `docs/build-a-shop.md`, as the document has it: its server, its page, and a customer who buys.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { CHALLENGED, act, reaches, typeCard } from "./customer.mjs";
import { frameOf } from "./mounted.mjs";
import { freePort, until } from "./server.mjs";
import { stage } from "./stage.mjs";

const GUIDE = readFileSync(new URL("../../docs/build-a-shop.md", import.meta.url), "utf8");
const { scene } = stage();

/** The blocks of the guide in one language, in order. */
const blocks = (language) => [...GUIDE.matchAll(new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\`$`, "gms"))].map(([, text]) => text);

function put(text, values) {
  for (const [placeholder, value] of Object.entries(values)) {
    assert.ok(text.includes(placeholder), `the guide says ${placeholder}`);
    text = text.replaceAll(placeholder, value);
  }
  return text;
}

/** Runs the guide's server for this merchant, and answers its address and how to end it. */
async function openGuide(till, shop) {
  const directory = mkdtempSync(join(tmpdir(), "till-guide-"));
  const origin = `http://localhost:${await freePort()}`;
  const installation = await shop.addInstallation("Shop of the guide", origin);
  const [page] = blocks("html");
  const known = { "https://till.example": till.base, "mer_...": shop.merchantId, "ins_...": installation };
  writeFileSync(join(directory, "pay.html"), put(page, known));
  writeFileSync(join(directory, "shop.mjs"), blocks("js").join("\n"));
  const env = { PATH: process.env.PATH, TILL: till.base, KEY: shop.key, INSTALLATION: installation, SHOP: origin };
  const server = spawn(process.execPath, ["shop.mjs"], { cwd: directory, env, stdio: ["ignore", "inherit", "inherit"] });
  const ended = once(server, "exit");
  const close = async () => {
    server.kill();
    await ended;
    rmSync(directory, { recursive: true });
  };
  await until("the guide's server answers", () => fetch(origin), ({ status }) => status === 200);
  return { origin, close };
}

/** A test in the shop of the guide. */
function guideScene(name, buy) {
  scene(name, async ({ till, shop, page }) => {
    const guide = await openGuide(till, shop);
    try {
      await buy({ ...guide, page });
      const listed = async () => (await shop.call("list-payments", { per_page: 100 })).page;
      const { kept } = await shop.keepsMoneyOnce(listed);
      assert.deepEqual([kept.amount, kept.external_id.startsWith("order-")], [30000, true]);
    } finally {
      await guide.close();
    }
  });
}

guideScene("[short] the guide's shop sells on the hosted page", async ({ origin, page }) => {
  await page.goto(origin);
  await page.getByRole("button", { name: "Buy a tea pot" }).click();
  await page.getByRole("link", { name: "Return to Tea house" }).click();
  await page.waitForURL((url) => url.origin === origin);
  await page.goBack();
  await typeCard(page);
  await page.getByRole("button", { name: "Pay THB 300.00" }).click();
  await page.waitForURL(`${origin}/done?**`);
  await page.getByText(/Thank you\. order-\S+ is paid\./).waitFor();
});

guideScene("[short] the guide's page takes a card in its form", async ({ origin, page }) => {
  await page.goto(`${origin}/pay`);
  const frame = frameOf(page);
  await typeCard(frame);
  await frame.getByRole("button", { name: "Continue" }).click();
  await page.waitForURL(`${origin}/paid?payment_id=**`);
  await page.getByText("Thank you.").waitFor();
});

guideScene("the guide's page sends a customer to the issuer and takes it back", async ({ origin, page }) => {
  await page.goto(`${origin}/pay`);
  const frame = frameOf(page);
  await typeCard(frame, CHALLENGED);
  await frame.getByRole("button", { name: "Continue" }).click();
  await reaches(page, "challenge");
  await act(page, "Authenticate");
  await page.waitForURL(`${origin}/paid?payment_id=**`);
  await page.getByText("Thank you.").waitFor();
});

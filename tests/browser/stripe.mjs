// The fake of Stripe, and what a person does on its pages.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

import { CARD, type } from "./customer.mjs";

const PROGRAM = fileURLToPath(new URL("../fakes/stripe/server.py", import.meta.url));

/** A running fake. It ends with the process of the tests. */
export class Fake {
  static async start() {
    const fake = new Fake();
    fake.directory = mkdtempSync(join(tmpdir(), "till-stripe-"));
    const options = [PROGRAM, "--listen", "127.0.0.1:0", "--state", fake.directory];
    fake.child = spawn("python3", options, { stdio: ["ignore", "pipe", "inherit"] });
    process.on("exit", () => fake.end());
    const lines = createInterface(fake.child.stdout);
    const [line] = await once(lines, "line");
    fake.url = line.replace("listening on ", "").trim();
    // What is left running does not keep the tests from ending.
    lines.close();
    fake.child.stdout.unref();
    fake.child.unref();
    return fake;
  }

  end() {
    this.child.kill("SIGKILL");
    rmSync(this.directory, { recursive: true, force: true, maxRetries: 3 });
  }

  async control(method, path, wish) {
    const init = { method, headers: { "Content-Type": "application/json" }, body: wish && JSON.stringify(wish) };
    const response = await fetch(`${this.url}/_fake/${path}`, init);
    assert.equal(response.status, 200, `${method} ${path}`);
    return response.json();
  }

  /** Makes a shop's cards be paid at an account of this fake. */
  async serve(shop) {
    const { secret } = await this.control("POST", "accounts", { livemode: false, rate_per_second: 100_000 });
    const merchant = { merchant_id: shop.merchantId };
    const account = { ...merchant, acquirer: "stripe", name: "Stripe", secret };
    const acquirer = await shop.till.admin("add-acquirer", account);
    const method = { payment_method: "CARD", acquirer, enabled: true, authorizes_without_capture: true };
    await shop.till.admin("configure-payment-method", { ...merchant, ...method });
  }

  /** Checks that these payments of a shop moved money at Stripe: each once, and no other. */
  async charged(...payments) {
    const charges = await this.control("GET", "charges");
    for (const payment of payments) {
      const own = charges.filter(({ reference }) => reference === `${payment.payment_id}/authorize`);
      assert.deepEqual(own.map(({ amount_captured: amount }) => amount), [payment.amount]);
    }
  }
}

/** Waits for Stripe's page of a payment. */
export const reachesStripe = (page, fake) => page.waitForURL(`${fake.url}/c/pay/**`);

/** Types a card on Stripe's page, and pays. */
export async function payAtStripe(page, number = CARD) {
  const fields = { email: "ada@example.com", number, expiry: "12/49", cvc: "123", name: "Ada Example" };
  for (const [id, text] of Object.entries(fields)) await type(page.locator(`#${id}`), text);
  await page.getByRole("button", { name: "Pay", exact: true }).click();
}

export const backFromStripe = (page) => page.locator("#back").click();

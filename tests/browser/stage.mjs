// What a file of tests shares: one server, one browser. Each test has a merchant, a shop and a browser's profile of its own.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { chromium } from "playwright-core";

import { Customer } from "./customer.mjs";
import { Till } from "./server.mjs";

const TEST_TIMEOUT_MS = 180_000;

export function launch() {
  const isRoot = process.getuid?.() === 0;
  const executablePath = process.env.TILL_CHROMIUM ?? "/usr/bin/chromium";
  return chromium.launch({ executablePath, args: isRoot ? ["--no-sandbox"] : [] });
}

/** Server and browser are started by the first test that runs, and ended after the last. */
export function stage({ startTill = () => Till.start() } = {}) {
  let started = null;
  const start = () => (started ??= Promise.all([startTill(), launch()]));

  after(async () => {
    if (!started) return;
    const [till, browser] = await started;
    await browser.close();
    await till.remove();
  });

  /** A test with a shop and its customer. */
  function scene(name, act, options = {}) {
    test(name, { timeout: TEST_TIMEOUT_MS }, async () => {
      const [till, browser] = await start();
      const shop = await till.shop(options.shop);
      const customer = await Customer.of(browser, options.context);
      try {
        await act({ till, shop, customer, page: customer.page, browser });
        assert.deepEqual(customer.faults, [], "the pages' scripts have no fault");
      } finally {
        await customer.leave();
        shop.close();
      }
    });
  }
  return { scene };
}

// The real server and a small shop beside it, each on 127.0.0.1 and on ports that the system chooses.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, existsSync, mkdtempSync, openSync, readFileSync, rmSync } from "node:fs";
import { createServer as createHttpServer } from "node:http";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
export const ADMIN_TOKEN = "admin-token-of-a-test";
const VAULT_KEY = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";
const PATIENCE_MS = 60_000;

const running = new Set();
process.on("exit", () => running.forEach((till) => {
  till.killAtOnce();
  rmSync(till.directory, { recursive: true, force: true, maxRetries: 3 });
}));
for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => process.exit(1));

/** The program: `TILL_BINARY`, else what `cargo build` made. */
function binary() {
  const target = process.env.CARGO_TARGET_DIR ?? "target";
  const path = process.env.TILL_BINARY ?? join(resolve(ROOT, target), "debug", "till");
  assert.ok(existsSync(path), `${path} is missing: cargo build --bin till`);
  return path;
}

/** Asks until the answer is right, and answers it. Until then a call may fail, as of a server that starts. */
export async function until(what, ask, isRight, patienceMs = PATIENCE_MS) {
  const end = Date.now() + patienceMs;
  for (;;) {
    const last = await Promise.resolve(ask()).then((value) => ({ value }), (error) => ({ error }));
    if ("value" in last && isRight(last.value)) return last.value;
    if (Date.now() > end) assert.fail(`${what}: ${last.error ?? JSON.stringify(last.value)}`);
    await new Promise((done) => setTimeout(done, 50));
  }
}

export async function freePort() {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address();
  await new Promise((done) => server.close(done));
  return port;
}

/** Posts JSON, and answers the status and what was read. */
export async function post(url, body, headers = {}) {
  const init = { method: "POST", headers: { "Content-Type": "application/json", ...headers }, body: JSON.stringify(body) };
  const response = await fetch(url, init);
  const text = await response.text();
  return { status: response.status, value: text === "" ? null : JSON.parse(text) };
}

async function answered(name, promise) {
  const { status, value } = await promise;
  assert.equal(status, 200, `${name}: ${status} ${JSON.stringify(value)}`);
  return value;
}

/** A server with a data directory of its own, over restarts. */
export class Till {
  /** `settings` answers settings by their variables, for the addresses that the server has. */
  static async start({ logFilter = "info", settings = () => ({}) } = {}) {
    const till = new Till();
    till.directory = mkdtempSync(join(tmpdir(), "till-browser-"));
    till.data = join(till.directory, "data");
    till.log = join(till.directory, "log");
    till.logFilter = logFilter;
    till.listen = `127.0.0.1:${await freePort()}`;
    till.adminListen = `127.0.0.1:${await freePort()}`;
    till.base = `http://${till.listen}`;
    till.settings = settings(till);
    await till.run();
    return till;
  }

  /** Starts the program on the ports and data that it had. */
  async run() {
    const environment = Object.entries(process.env).filter(([name]) => !name.startsWith("TILL_"));
    const env = {
      ...Object.fromEntries(environment), TILL_ADMIN_TOKEN: ADMIN_TOKEN, TILL_VAULT_KEY: VAULT_KEY,
      TILL_LOG_FILTER: this.logFilter, TILL_LOG_FORMAT: "text", TILL_SDK_CALLS_PER_SECOND: "1000000",
      TILL_SDK_WRITES_PER_SECOND_PER_ADDRESS: "1000000", TILL_SDK_WRITES_PER_SECOND_PER_INSTALLATION: "1000000",
      TILL_DISK_RESERVE_BYTES: "16777216", ...this.settings,
    };
    const options = ["--data", this.data, "--listen", this.listen, "--admin-listen", this.adminListen, "serve"];
    const log = openSync(this.log, "a");
    this.child = spawn(binary(), options, { env, stdio: ["ignore", log, log] });
    closeSync(log);
    this.ended = once(this.child, "exit");
    running.add(this);
    await until(`the server does not start: see ${this.log}`, () => this.isReady(), Boolean).catch((error) => {
      error.message += `\n${readFileSync(this.log, "utf8").slice(-2000)}`;
      throw error;
    });
  }

  async isReady() {
    assert.equal(this.child.exitCode, null, "it has ended");
    return (await fetch(`http://${this.adminListen}/health/ready`)).status === 200;
  }

  killAtOnce() {
    this.child.kill("SIGKILL");
  }

  /** Kills it as a crash does. */
  async kill() {
    this.killAtOnce();
    await this.ended;
    running.delete(this);
  }

  /** Stops it as an operator does. */
  async stop() {
    this.child.kill("SIGTERM");
    const [code] = await this.ended;
    running.delete(this);
    assert.equal(code, 0, "the server stops without an error");
  }

  /** Ends it, and removes what it wrote. */
  async remove() {
    if (running.has(this)) await this.kill();
    rmSync(this.directory, { recursive: true, force: true });
  }

  admin(endpoint, body) {
    const headers = { Authorization: `Bearer ${ADMIN_TOKEN}` };
    return answered(endpoint, post(`http://${this.adminListen}/admin/${endpoint}`, body, headers));
  }

  /** A merchant in THB with all four methods, an installation, a key, and the server of its shop. */
  async shop({ name = "Tea house", color, testClock = false } = {}) {
    const shop = new Shop(this, name);
    await shop.listen();
    shop.merchantId = await this.admin("create-merchant", { name, currency: "THB", test_clock: testClock });
    const merchant = { merchant_id: shop.merchantId };
    if (color) await this.admin("update-merchant", { ...merchant, color });
    shop.installationId = await shop.addInstallation("Web shop", shop.origin);
    shop.key = (await this.admin("generate-key", { ...merchant, name: "Server" })).key;
    await this.admin("open-balance", merchant);
    for (const payment_method of ["PROMPTPAY", "MOBILE_BANKING"]) {
      const method = { payment_method, acquirer: "sandbox", enabled: true, authorizes_without_capture: false };
      await this.admin("configure-payment-method", { ...merchant, ...method });
    }
    return shop;
  }
}

/** A merchant, and the small web server of its shop at `origin`. */
export class Shop {
  constructor(till, name) {
    Object.assign(this, { till, name });
    /** What the shop serves, by path. */
    this.pages = {
      "/done": this.page("Thank you"),
      "/cart": this.page("Cart"),
    };
    /** Every request that reached the shop, with its body. */
    this.requests = [];
    /** The payments that the shop's server initiated, in order. */
    this.initiated = [];
    /** The amount of the shop's own page, in minor units. */
    this.amount = "123450";
    /** What the shop's server says beside amount and session when it initiates. */
    this.initiation = {};
  }

  page(title, more = "") {
    return `<!DOCTYPE html><html lang="en"><meta charset="utf-8"><title>${title}</title><body><h1>${title}</h1>${more}</body></html>`;
  }

  async listen() {
    this.server = createHttpServer((request, response) => {
      this.serve(request, response).catch((error) => response.writeHead(500).end(String(error)));
    }).listen(0, "127.0.0.1");
    await once(this.server, "listening");
    this.port = this.server.address().port;
    this.origin = `http://localhost:${this.port}`;
    /** The same server under an address that is not the installation's. */
    this.otherOrigin = `http://127.0.0.1:${this.port}`;
  }

  async serve(request, response) {
    let body = "";
    for await (const chunk of request) body += chunk;
    const { pathname } = new URL(request.url, "http://shop");
    this.requests.push({ method: request.method, url: request.url, headers: request.headers, body });
    if (request.method === "POST" && pathname === "/initiate") {
      const payment = await this.initiate(JSON.parse(body).session);
      return response.writeHead(200, { "Content-Type": "application/json" }).end(JSON.stringify(payment));
    }
    const html = this.pages[pathname];
    return response.writeHead(html ? 200 : 404, { "Content-Type": "text/html; charset=utf-8" }).end(html ?? "none");
  }

  close() {
    this.server.closeAllConnections();
    this.server.close();
  }

  addInstallation(name, identifier, platform = "WEB") {
    return this.till.admin("add-installation", { merchant_id: this.merchantId, name, platform, identifier });
  }

  /** A merchant's call, which must succeed. */
  call(endpoint, body) {
    const headers = { Authorization: `Bearer ${this.key}` };
    return answered(endpoint, post(`${this.till.base}/merchants/${endpoint}`, body, headers));
  }

  /** A call of the SDK as the page makes it; answers status and value. */
  sdkAnswer(endpoint, body) {
    const named = { merchant_id: this.merchantId, installation_id: this.installationId, ...body };
    return post(`${this.till.base}/sdk/${endpoint}`, named);
  }

  sdk(endpoint, body) {
    return answered(endpoint, this.sdkAnswer(endpoint, body));
  }

  token(number, usage = "SINGLE") {
    const card = { number, name: "Ada Example", expiration_date: "12/49", security_code: "123", usage };
    return this.sdk("tokenize-card", card);
  }

  /** Starts a checkout; answers its address, the last segment of it, by which a device names it, and its id. */
  async checkout(more = {}) {
    const required = {
      installation_id: this.installationId, amount: "123450", currency: "THB", return_url: `${this.origin}/done`,
      cancel_url: `${this.origin}/cart`,
    };
    const url = await this.call("start-checkout", { ...required, ...more });
    const reference = url.split("/").at(-1);
    return { url, reference, id: reference.split(".")[0] };
  }

  found(checkoutId) {
    return this.call("find-checkout", { checkout_id: checkoutId });
  }

  /** Initiates a session of the shop's own page. */
  async initiate(session) {
    const payment = await this.call("initiate-payment-flow", {
      payment_session_id: session, amount: this.amount, currency: "THB", capture: true,
      return_url: `${this.origin}/done`, ...this.initiation,
    });
    this.initiated.push(payment);
    return payment;
  }

  payment(paymentId) {
    return this.call("find-payment", { payment_id: paymentId });
  }

  /** Waits until nothing is in progress, and checks that exactly one of these payments keeps money, once. */
  async keepsMoneyOnce(ask) {
    const isOver = ({ status, operation, late_success: late }) =>
      status !== "PENDING" && operation === null && (late === null || late.returned_at !== null);
    const payments = await until("a payment is still in progress", ask, (found) => found.every(isOver));
    const kept = payments.filter(({ status }) => status === "SUCCESSFUL" || status === "AUTHORIZED");
    const words = JSON.stringify(payments.map(({ status, failure_code }) => [status, failure_code]));
    assert.equal(kept.length, 1, `one payment keeps money: ${words}`);
    const { page: entries } = await this.call("balance-history", { per_page: 100 });
    const received = entries.filter(({ type, status }) => type === "PAYMENT" && status !== "CANCELED");
    const expected = kept.map(({ payment_id, amount }) => [payment_id, amount, "CREDIT"]);
    assert.deepEqual(received.map(({ payment_id, amount, direction }) => [payment_id, amount, direction]), expected);
    return { kept: kept[0], payments };
  }

  /** Checks that a checkout of this merchant, its only one, is paid once, after so many payments. */
  async isPaidOnce(checkoutId, attempts = 1) {
    const isCompleted = ({ status }) => status === "COMPLETED";
    const checkout = await until("it is not paid", () => this.found(checkoutId), isCompleted);
    const ask = async () => (await this.call("list-payments", { checkout_id: checkoutId, per_page: 100 })).page;
    const { kept, payments } = await this.keepsMoneyOnce(ask);
    assert.deepEqual([checkout.payment_id, checkout.attempts, payments.length], [kept.payment_id, attempts, attempts]);
    assert.equal(kept.amount, checkout.amount);
    return kept;
  }
}

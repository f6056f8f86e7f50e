// A member of a merchant's team with a browser: joins, signs in, and goes about the dashboard.
import { createHmac } from "node:crypto";

const PASSWORD = "four unusual words of a tea merchant";
const STEP_SECONDS = 30;

/** The bytes of a text in base32 (RFC 4648). */
function bytesOf(base32) {
  const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
  const bits = [...base32.replaceAll(/[\s=]/g, "")].map((sign) => alphabet.indexOf(sign).toString(2).padStart(5, "0")).join("");
  return Buffer.from(bits.match(/.{8}/g).map((byte) => parseInt(byte, 2)));
}

/** The code of an authenticator (RFC 6238). */
export function codeOf(secret, seconds = Date.now() / 1000) {
  const step = Buffer.alloc(8);
  step.writeBigUInt64BE(BigInt(Math.floor(seconds / STEP_SECONDS)));
  const digest = createHmac("sha1", bytesOf(secret)).update(step).digest();
  const place = digest.at(-1) & 0xf;
  return String((digest.readUInt32BE(place) & 0x7fffffff) % 1_000_000).padStart(6, "0");
}

export class Member {
  /** Invites somebody with this role, and further arguments, who joins in this page's browser. */
  static async join(shop, page, role = "OWNER", more = {}) {
    const member = new Member();
    Object.assign(member, { shop, page, email: more.email ?? `${role.toLowerCase()}@tea.example` });
    member.base = `${shop.till.base}/dashboard/${shop.merchantId}`;
    const invitation = await shop.call("invite-user", { role_id: role, ...more, email: member.email });
    const { page: invitations } = await shop.call("list-user-invitations", {});
    await page.goto(invitations.find(({ invitation_id: id }) => id === invitation).url);
    await page.getByLabel("Password", { exact: true }).fill(PASSWORD);
    await page.getByLabel("Repeat password").fill(PASSWORD);
    await page.getByRole("button", { name: "Continue" }).click();
    member.secret = await page.locator("p code").textContent();
    await page.getByLabel("Authentication code").fill(codeOf(member.secret));
    await page.getByRole("button", { name: "Confirm" }).click();
    /** Each is good once, also for an act that asks for a code. */
    member.codes = await page.locator("ol code").allTextContents();
    await page.getByRole("button", { name: "I have saved my recovery codes" }).click();
    await member.isAt("Home");
    return member;
  }

  isAt(heading) {
    return this.page.getByRole("heading", { level: 1, name: heading, exact: true }).waitFor();
  }

  /** Opens a page by the navigation. */
  async open(name) {
    await this.page.getByRole("navigation", { name: "Main" }).getByRole("link", { name, exact: true }).click();
    await this.isAt(name);
  }

  /** Opens an address below the dashboard. */
  goto(path) {
    return this.page.goto(`${this.base}${path}`);
  }

  /** A code that was not used yet. */
  code() {
    return this.codes.shift();
  }
}

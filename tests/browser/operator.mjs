// The operator with a browser: signs in with the admin token, and goes about the pages of the admin listener.
import { ADMIN_TOKEN } from "./server.mjs";

export class Operator {
  static async signIn(till, page) {
    const operator = new Operator();
    Object.assign(operator, { page, base: `http://${till.adminListen}/operator` });
    await page.goto(operator.base);
    await operator.isAt("Operator sign in");
    await page.getByLabel("Admin token").fill(ADMIN_TOKEN);
    await page.getByRole("button", { name: "Sign in" }).click();
    await operator.isAt("Overview");
    return operator;
  }

  isAt(heading) {
    return this.page.getByRole("heading", { level: 1, name: heading, exact: true }).waitFor();
  }

  /** Opens a page by the navigation. */
  async open(name) {
    await this.page.getByRole("navigation", { name: "Main" }).getByRole("link", { name, exact: true }).click();
    await this.isAt(name);
  }

  /** Opens an address below the first page. */
  goto(path) {
    return this.page.goto(`${this.base}${path}`);
  }

  done(what) {
    return this.page.getByRole("status").getByText(`Done: ${what}`).waitFor();
  }
}

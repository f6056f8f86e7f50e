// A page of the shop with `Till.mount`, as a shop would write it, and what it was told.

/** The page of the shop. `script` is the element that loads the client SDK. */
export function mountPage(shop, options = {}, script = `<script src="${shop.till.base}/js/v1/till.js"></script>`) {
  const { merchantId, installationId, amount } = shop;
  const given = JSON.stringify(options.checkout ? options : { merchantId, installationId, amount, currency: "THB", ...options });
  return shop.page("Shop", `
<div id="form"></div>
<button id="buy" type="button">Buy</button>
${script}
<script>
window.told = [];
const tell = (name) => (...given) => { window.told.push([name, ...given]); };
window.options = ${given};
window.mount = () => Till.mount("#form", {
  ...window.options,
  onReady: tell("onReady"),
  onChange: tell("onChange"),
  ...(window.options.checkout ? { onExpired: tell("onExpired") } : { onPaymentSessionReady: async (session) => {
    tell("onPaymentSessionReady")(session);
    const answer = await fetch("/initiate", {
      method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ session }),
    });
    if (!answer.ok) throw new Error(await answer.text());
  } }),
  onPaymentSuccess: tell("onPaymentSuccess"),
  onPaymentFailed: tell("onPaymentFailed"),
  onError: tell("onError"),
});
window.form = window.mount();
document.getElementById("buy").addEventListener("click", () => window.form.submit());
</script>`);
}

/** What a callback was told, call by call. */
export const told = (page, name) =>
  page.evaluate((name) => window.told.filter(([known]) => known === name).map(([, ...given]) => given), name);

export const isTold = (page, name, times = 1) =>
  page.waitForFunction(([name, times]) => window.told.filter(([known]) => known === name).length >= times, [name, times]);

export const frameOf = (page) => page.frameLocator("iframe[title='Payment form']");

/** Opens the page of the shop, and answers the frame once it is ready. */
export async function openMounted(shop, page, options, script) {
  shop.pages["/mount"] = mountPage(shop, options, script);
  await page.goto(`${shop.origin}/mount`);
  await isTold(page, "onReady");
  return frameOf(page);
}

/** Opens the page of the shop with a checkout, to which an issuer's page comes back after a failure. */
export async function openCheckout(shop, page, options = {}, more = {}) {
  const checkout = await shop.checkout({ page_url: `${shop.origin}/mount`, ...more });
  const frame = await openMounted(shop, page, { checkout: checkout.url, ...options });
  return { ...checkout, frame };
}

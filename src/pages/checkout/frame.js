// The payment form in a frame without a checkout: the shop's server initiates the payment of the session that the form
// selects.
(() => {
  const page = document.body.dataset;
  const INITIATION_SECONDS = 300;
  const form = document.querySelector("[data-pay]");
  const button = form?.querySelector(".main");
  const failure = document.querySelector("[data-failure]");

  /**
   * The payment in progress: `sessionId` (once there is one), `startedAt`, `mustCancel` (until the server has been
   * told), `isCanceled`, `refusal` (the words of the shop's server, which did not initiate it), `hasRedirected`.
   */
  let payment = null;

  /** Shows the methods that the shop's page asks for. */
  function apply({ paymentMethods }) {
    if (!form) return;
    for (const method of form.querySelectorAll(".method")) {
      const radio = method.querySelector("[name=payment_method]");
      method.hidden = paymentMethods ? !paymentMethods.includes(radio.value) : false;
      radio.disabled = method.hidden;
    }
    if (!form.querySelector("[type=radio]:checked:enabled")) form.querySelector("[type=radio]:enabled")?.click();
  }

  // ---- Paying

  async function submit(event) {
    event.preventDefault();
    const { paymentMethod: method } = shop.chosen();
    if (payment || !method || (method === "CARD" && !cardForm.check())) return;
    setPayment({ startedAt: performance.now() });
    failure.hidden = true;
    setTrouble("");
    try {
      const { amount, currency } = shop.options();
      const selection = { payment_method: method, amount, currency };
      payment.sessionId = await select({ ...selection, ...customerArguments(), ...(await methodArguments(method)) });
      cardForm.empty();
      showPart("processing");
      shop.tell("session", { sessionId: payment.sessionId });
      payment.askAtOnce = followNews(follow, { refused: fail, unanswered: tellUnanswered });
    } catch (error) {
      fail(error);
    }
  }

  function setPayment(value) {
    payment = value;
    shop.tell("progress", { isOn: value !== null });
    if (value) button.setAttribute("aria-disabled", "true");
    else button.removeAttribute("aria-disabled");
  }

  function select(selection) {
    return server.callAgain("select-payment-method", selection, server.newIdempotencyKey());
  }

  async function methodArguments(method) {
    if (method === "INSTALLMENT") {
      return { installment_plan_id: form.elements.installment_plan_id.value, interest_bearer: page.interestBearer };
    }
    if (method !== "CARD" || !cardForm.hasFields) return {};
    return { token: await server.callAgain("tokenize-card", cardForm.card(shop.options().cardUsage ?? "SINGLE")) };
  }

  function customerArguments() {
    const given = Object.entries(shop.options().customer ?? {});
    return Object.fromEntries(given.map(([name, value]) => [`customer_${name}`, value]));
  }

  /** Follows discover-next-action. True at the end. */
  async function follow() {
    const session = { payment_session_id: payment.sessionId };
    if (payment.mustCancel) await cancelNow(session);
    const action = await server.call("discover-next-action", session);
    if (action === "WAIT") return isNeverInitiated(session);
    if (action === "REDIRECT") await redirect(session);
    if (action === "DISPLAY_QR") await showCode(session);
    if (action !== "CHECK_STATUS") return false;
    await end(session, await server.call("check-status", session));
    return true;
  }

  /** True, with an error, when the shop's server has not initiated the payment for five minutes. */
  async function isNeverInitiated(session) {
    if (payment.isInitiated || performance.now() - payment.startedAt < INITIATION_SECONDS * 1000) return false;
    payment.isInitiated = (await server.call("check-status", session)) !== "PENDING";
    if (payment.isInitiated) return false;
    fail({ code: "NOT_READY", message: "The payment was not initiated within five minutes." });
    return true;
  }

  /** Only the shop's page moves its window. One who stays, or comes back, finds the link to the issuer or bank. */
  async function redirect(session) {
    const address = await server.call("get-redirect-url", session);
    if (payment.hasRedirected) {
      const link = document.querySelector("[data-bank]");
      if (link.getAttribute("href") === address) return;
      link.href = address;
      return showPart("confirm");
    }
    payment.hasRedirected = true;
    shop.tell("redirect", { address });
  }

  async function showCode(session) {
    const text = document.getElementById("qr-text");
    if (text.value !== "") return;
    text.value = await server.call("retrieve-qr-data", session);
    document.querySelector("img.qr").src = `/pay/${page.merchantId}/qr/${encodeURIComponent(session.payment_session_id)}`;
    showPart("scan");
  }

  /** After a success the payment stays in progress for this page, so that nothing is paid twice. */
  async function end(session, status) {
    const { sessionId, isCanceled, refusal } = payment;
    if (status === "SUCCESSFUL") {
      showPart("successful");
      return shop.tell("success", { sessionId });
    }
    const { failure_code: code } = await server.call("retrieve-payment-session", session);
    leave();
    // Nothing failed of a session that no payment used, nor of one that ended since the shop's server said no.
    const isEndedForShop = refusal && isCanceled && code === "canceled_by_customer";
    if (!code || isEndedForShop) return setTrouble(refusal ?? "");
    const { text, isOwn } = wordsOf(code);
    failure.querySelector("h2").hidden = code === "canceled_by_customer";
    failure.querySelector("p").textContent = text;
    failure.classList.toggle("bad", !isOwn);
    failure.hidden = false;
    shop.tell("failed", { sessionId, code, message: text });
  }

  /** The words for a failure; the last ones are for all codes that have none of their own. */
  function wordsOf(code) {
    const all = [...document.querySelector("[data-failures]").content.children];
    const found = all.find(({ dataset }) => dataset.code === code) ?? all.at(-1);
    return { text: found.textContent, isOwn: "own" in found.dataset };
  }

  /** Shows the choice again. */
  function leave() {
    setPayment(null);
    document.getElementById("qr-text").value = "";
    document.querySelector("[data-bank]").removeAttribute("href");
    document.querySelector("[data-news]").textContent = "";
    showPart("choice");
    shop.tellChange();
  }

  function fail(error) {
    const isOfFields = error instanceof Refusal && error.code === "INVALID_ARGUMENTS";
    if (!(error instanceof Refusal || error instanceof Unanswered || error.code)) throw error;
    leave();
    if (isOfFields && cardForm.showRefused(error.details)) return;
    setTrouble(page.notReached);
    shop.tellError(error);
  }

  function tellUnanswered(error) {
    if (!(error instanceof Unanswered)) throw error;
    shop.tellError(error);
  }

  /** The session ends with its payment, if that may be given up; else what becomes of the payment is shown. */
  function giveUp() {
    if (!payment?.askAtOnce) return;
    payment.mustCancel = true;
    payment.askAtOnce();
  }

  async function cancelNow(session) {
    payment.isCanceled = await server.call("cancel-payment-session", session) || payment.isCanceled;
    payment.mustCancel = false;
  }

  /** The shop's server did not initiate the payment, or its answer was lost: the payment is given up or followed. */
  function refuse({ sessionId, message }) {
    if (payment?.sessionId !== sessionId) return;
    payment.refusal = message || page.notReached;
    giveUp();
  }

  cardForm.prepare();
  prepareCopy();
  form?.addEventListener("submit", submit);
  for (const another of document.querySelectorAll("[data-another-way]")) another.addEventListener("click", giveUp);
  shop.meet({ begin: () => shop.tell("ready"), apply, cancel: giveUp, rejected: refuse });
})();

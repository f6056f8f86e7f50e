// The payment form in a frame. It speaks with the shop's page over one port, which it takes from the installation's
// origin only. No card number, code or token is ever sent over it.
(() => {
  const page = document.body.dataset;
  const INITIATION_SECONDS = 300;
  const form = document.querySelector("[data-pay]");
  const button = form?.querySelector(".main");
  const failure = document.querySelector("[data-failure]");
  const color = document.createElement("link");
  color.rel = "stylesheet";

  let port = null;
  let options = {};
  let lastChange = "";

  /** The payment in progress: `sessionId` (once there is one), `startedAt`, `isGivenUp`, `hasRedirected`. */
  let payment = null;

  function tell(type, more = {}) {
    port.postMessage({ type, ...more });
  }

  // ---- The port

  function takePort(event) {
    const isShops = event.origin === page.origin && event.source === parent;
    if (!isShops || event.data?.till !== "port" || event.ports.length !== 1) return;
    removeEventListener("message", takePort);
    [port] = event.ports;
    port.onmessage = ({ data }) => receive(data);
  }

  function receive(message) {
    if (message.type === "options") begin(message.options);
    if (message.type === "update") apply({ ...options, ...message.options });
    if (message.type === "submit") submit();
    if (message.type === "cancel") giveUp();
    if (message.type === "focus") chosenRadio()?.focus();
  }

  function begin(given) {
    apply(given);
    document.body.hidden = false;
    new ResizeObserver(tellHeight).observe(document.body);
    tell("ready");
    tellChange();
  }

  function apply(given) {
    options = given;
    const root = document.documentElement;
    if (["light", "dark"].includes(options.scheme)) root.dataset.scheme = options.scheme;
    else delete root.dataset.scheme;
    applyColor();
    if (!form) return;
    button.hidden = !options.button;
    for (const method of form.querySelectorAll(".method")) {
      const radio = method.querySelector("[type=radio]");
      method.hidden = options.paymentMethods ? !options.paymentMethods.includes(radio.value) : false;
      radio.disabled = method.hidden;
    }
    if (!chosenRadio()) form.querySelector("[type=radio]:enabled")?.click();
  }

  function applyColor() {
    if (!options.color) return color.remove();
    const address = `/pay/color/${options.color.slice(1).toLowerCase()}.css`;
    if (color.getAttribute("href") !== address) color.href = address;
    if (!color.isConnected) document.head.append(color);
  }

  function tellHeight() {
    tell("height", { height: Math.ceil(document.body.getBoundingClientRect().height) });
  }

  const chosenRadio = () => form?.querySelector("[type=radio]:checked:enabled");
  const chosenMethod = () => chosenRadio()?.value ?? null;

  function tellChange() {
    const paymentMethod = chosenMethod();
    const complete = paymentMethod !== null && (paymentMethod !== "CARD" || cardForm.isComplete());
    const change = JSON.stringify({ complete, paymentMethod });
    if (change === lastChange) return;
    lastChange = change;
    tell("change", { complete, paymentMethod });
  }

  // ---- Paying

  async function submit() {
    const method = chosenMethod();
    if (payment || !method || (method === "CARD" && !cardForm.check())) return;
    setPayment({ startedAt: performance.now() });
    failure.hidden = true;
    setTrouble("");
    try {
      const selection = { payment_method: method, amount: options.amount, currency: options.currency };
      payment.sessionId = await select({ ...selection, ...customerArguments(), ...(await methodArguments(method)) });
      cardForm.empty();
      showPart("processing");
      tell("session", { sessionId: payment.sessionId });
      payment.askAtOnce = followNews(follow, { refused: fail, unanswered: tellUnanswered });
    } catch (error) {
      fail(error);
    }
  }

  function setPayment(value) {
    payment = value;
    tell("progress", { isOn: value !== null });
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
    if (method !== "CARD") return {};
    return { token: await server.callAgain("tokenize-card", cardForm.card(options.cardUsage ?? "SINGLE")) };
  }

  function customerArguments() {
    const given = Object.entries(options.customer ?? {});
    return Object.fromEntries(given.map(([name, value]) => [`customer_${name}`, value]));
  }

  /** Follows discover-next-action. True at the end. */
  async function follow() {
    const session = { payment_session_id: payment.sessionId };
    const action = await server.call("discover-next-action", session);
    if (action === "WAIT") return isNeverInitiated(session);
    if (action === "REDIRECT") await redirect(session);
    if (action === "DISPLAY_QR") await showCode(session);
    if (action !== "CHECK_STATUS") return false;
    end(await server.call("check-status", session));
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

  async function redirect(session) {
    if (payment.hasRedirected) return;
    const address = await server.call("get-redirect-url", session);
    payment.hasRedirected = true;
    tell("redirect", { address });
  }

  async function showCode(session) {
    const text = document.getElementById("qr-text");
    if (text.value !== "") return;
    text.value = await server.call("retrieve-qr-data", session);
    document.querySelector("img.qr").src = `${location.pathname}/qr/${encodeURIComponent(session.payment_session_id)}`;
    showPart("scan");
  }

  /** After a success the payment stays in progress for this page, so that nothing is paid twice. */
  function end(status) {
    const { sessionId, isGivenUp } = payment;
    if (status === "SUCCESSFUL") {
      showPart("successful");
      return tell("success", { sessionId });
    }
    leave();
    const message = isGivenUp ? page.canceled : page.declined;
    failure.querySelector("p").textContent = message;
    failure.classList.toggle("bad", !isGivenUp);
    failure.hidden = false;
    tell("failed", { sessionId, code: isGivenUp ? "canceled_by_customer" : "payment_declined", message });
  }

  /** Shows the choice again. */
  function leave() {
    setPayment(null);
    document.getElementById("qr-text").value = "";
    document.querySelector("[data-news]").textContent = "";
    showPart("choice");
    tellChange();
  }

  function fail(error) {
    const isOfFields = error instanceof Refusal && error.code === "INVALID_ARGUMENTS";
    if (!(error instanceof Refusal || error instanceof Unanswered || error.code)) throw error;
    leave();
    if (isOfFields && cardForm.showRefused(error.details)) return;
    setTrouble(page.notReached);
    tell("error", { code: error.code, message: error.message });
  }

  function tellUnanswered(error) {
    if (!(error instanceof Unanswered)) throw error;
    tell("error", { code: error.code, message: error.message });
  }

  async function giveUp() {
    const { sessionId, askAtOnce } = payment ?? {};
    if (!askAtOnce) return;
    try {
      const hasChanged = await server.callAgain("cancel-payment-session", { payment_session_id: sessionId });
      if (hasChanged && payment) payment.isGivenUp = true;
      askAtOnce();
    } catch (error) {
      tellUnanswered(error);
    }
  }

  if (parent === window) return;
  cardForm.prepare();
  prepareCopy();
  form?.addEventListener("submit", (event) => { event.preventDefault(); submit(); });
  form?.addEventListener("input", tellChange);
  document.querySelector("[data-another-way]").addEventListener("click", giveUp);
  addEventListener("message", takePort);
  parent.postMessage({ till: "hello" }, page.origin);
})();

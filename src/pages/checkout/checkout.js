// The checkout page: it pays without leaving the page, asks for news, and loads itself again when the state has
// changed, so that the server shows every state. Without it everything but new cards works by the form.
(() => {
  const page = document.body.dataset;
  const GO_ON_SECONDS = 2;

  /** The state that the server would show for what discover-next-action says. */
  const STATE_OF_ACTION = { WAIT: "processing", REDIRECT: "confirm", DISPLAY_QR: "scan", CHECK_STATUS: "ended" };

  const checkout = { checkout_id: page.checkoutId };
  const sessionArguments = (sessionId) => ({ payment_session_id: sessionId });

  /** The address of this page itself. A reload never pays, since the form is always answered by a redirect. */
  function showAgain() {
    cardForm.empty();
    location.reload();
  }

  // ---- News

  /** What is done about news that the server refuses, or that do not come. */
  const unheard = {
    refused(error) {
      host.tellError(error);
      showAgain();
    },
    unanswered: (error) => host.tellError(error),
  };

  /** True when the page that the server would show is another one, which is then loaded. */
  async function hasChanged() {
    const now = await server.call("retrieve-checkout", checkout);
    let isSame = now.status === "OPEN" && now.payment_session_id === page.sessionId;
    if (isSame) {
      const action = await server.call("discover-next-action", sessionArguments(page.sessionId));
      isSame = STATE_OF_ACTION[action] === page.state;
    }
    if (!isSame) showAgain();
    return !isSame;
  }

  /** The choice is shown again when it was paid or is being paid elsewhere, in another tab. */
  async function checkWhenVisible() {
    if (document.visibilityState !== "visible" || isPaying) return;
    try {
      const now = await server.call("retrieve-checkout", checkout);
      const isIdle = now.payment_session_id === null
        || (await server.call("discover-next-action", sessionArguments(now.payment_session_id))) === "CHECK_STATUS";
      if (!isPaying && (now.status !== "OPEN" || !isIdle)) showAgain();
    } catch {
      // The choice stays usable without news.
    }
  }

  // ---- Paying

  const form = document.querySelector("[data-pay]");
  const button = form?.querySelector(".main");
  let isPaying = false;

  function setPaying(value) {
    isPaying = value;
    host.setPaying(value);
    if (value) button.setAttribute("aria-disabled", "true");
    else button.removeAttribute("aria-disabled");
  }

  /** What the chosen radio button means. */
  function chosen() {
    const [method, cardId] = form.elements.payment_method.value.split(":");
    return { method, cardId };
  }

  async function pay(event) {
    event.preventDefault();
    if (isPaying) return;
    const { method, cardId } = chosen();
    const isNewCard = method === "CARD" && !cardId && cardForm.hasFields;
    if (isNewCard && !cardForm.check()) return;
    setPaying(true);
    setTrouble("");
    try {
      const more = isNewCard ? await tokenArguments() : otherArguments(method, cardId);
      const sessionId = await payCheckout({ payment_method: method, ...more });
      cardForm.empty();
      showPart("processing");
      followPayment(sessionId);
    } catch (error) {
      setPaying(false);
      endUnpaid(error);
    }
  }

  async function tokenArguments() {
    const isSaved = document.getElementById("save-card")?.checked ?? false;
    const card = cardForm.card(isSaved ? "MULTIPLE" : "SINGLE");
    const token = await server.callAgain("tokenize-card", card);
    return isSaved ? { token, save_card: true } : { token };
  }

  function otherArguments(method, cardId) {
    if (cardId) return { card_id: cardId };
    return method === "INSTALLMENT" ? { installment_plan_id: form.elements.installment_plan_id.value } : {};
  }

  /** Asks for the payment. A lost answer is asked for again with the same key, so there is one payment. */
  function payCheckout(more) {
    return server.callAgain("pay-checkout", { ...checkout, ...more }, server.newIdempotencyKey());
  }

  function endUnpaid(error) {
    if (!(error instanceof Unanswered || error instanceof Refusal)) throw error;
    const isOfArguments = error.code === "INVALID_ARGUMENTS";
    if (isOfArguments && cardForm.showRefused(error.details)) return;
    host.tellError(error);
    if (error instanceof Refusal && !isOfArguments) showAgain();
    else setTrouble(page.notReached);
  }

  /** Follows the payment that "Pay" began: only here does the page go to an issuer or bank by itself. */
  function followPayment(sessionId) {
    const askAtOnce = followNews(async () => {
      const action = await server.call("discover-next-action", sessionArguments(sessionId));
      if (action === "WAIT") return false;
      if (action === "REDIRECT") host.goTo(await server.call("get-redirect-url", sessionArguments(sessionId)));
      else showAgain();
      return true;
    }, unheard);
    setTimeout(askAtOnce, 500);
  }

  // ---- The states

  function prepareChoice() {
    cardForm.prepare();
    if (!form) return;
    form.reset();
    cardForm.empty();
    form.addEventListener("submit", pay);
    document.addEventListener("visibilitychange", checkWhenVisible);
  }

  /** Counts the time down. It is shown in its last quarter only. */
  function countDown(timer) {
    const ends = performance.now() + Number(timer.dataset.secondsLeft) * 1000;
    const shownFrom = Number(timer.dataset.secondsWhole) / 4;
    const text = timer.querySelector("bdi");
    setInterval(() => {
      const seconds = Math.max(0, Math.ceil((ends - performance.now()) / 1000));
      timer.hidden = seconds > shownFrom;
      text.textContent = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
    }, 500);
  }

  function goOn() {
    const outcome = document.querySelector("[data-goes-on]");
    if (outcome) setTimeout(() => location.replace(outcome.dataset.shop), GO_ON_SECONDS * 1000);
  }

  /** Changes the language at once, but not while it is chosen with the keyboard: then by Enter, or when it is left. */
  function prepareLanguage() {
    const languages = document.querySelector("[data-language]");
    if (!languages) return;
    const select = languages.elements.lang;
    const shown = select.value;
    let isByKeyboard = false;
    const change = () => { if (select.value !== shown) languages.submit(); };
    select.addEventListener("pointerdown", () => { isByKeyboard = false; });
    select.addEventListener("keydown", (event) => {
      isByKeyboard = true;
      if (event.key === "Enter") change();
    });
    select.addEventListener("change", () => { if (!isByKeyboard) change(); });
    select.addEventListener("blur", change);
  }

  /** After the page has loaded itself again, a screen reader is led to what is new. */
  function leadToNews() {
    const [navigation] = performance.getEntriesByType("navigation");
    if (navigation?.type === "reload") document.querySelector("section [tabindex]")?.focus();
  }

  /** A page that the browser kept shows what was, so it is loaded again. */
  addEventListener("pageshow", (event) => { if (event.persisted) showAgain(); });

  host.begin(() => {
    prepareLanguage();
    prepareCopy();
    prepareSave();
    if (page.state === "choosing") prepareChoice();
    if (page.sessionId) followNews(hasChanged, unheard);
    const timer = document.querySelector("[data-seconds-left]");
    if (timer) countDown(timer);
    goOn();
    leadToNews();
  });
})();

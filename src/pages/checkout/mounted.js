// The host of the checkout's page in a frame of the shop's page, which hears what becomes of the payment. Each
// document of the frame takes a port of its own, since the page loads itself again with every state.
const host = (() => {
  const page = document.body.dataset;
  const MOVING_SECONDS = 5;

  /** Calls `start` once the shop's page has handed the port over. */
  function begin(start) {
    document.addEventListener("submit", (event) => {
      if (event.target.matches("[data-pay]")) return;
      event.preventDefault();
      giveUp();
    });
    shop.meet({
      begin() {
        tellState();
        start();
      },
      cancel: giveUp,
    });
  }

  /** Tells the state. A failure comes before `ready`, so that one from before the mount is known as such. */
  function tellState() {
    const sessionId = page.lastSessionId;
    if (page.failureCode) shop.tell("failed", { sessionId, code: page.failureCode, message: page.failure });
    shop.tell("ready");
    if (page.state === "successful") shop.tell("success", { sessionId });
    if (page.state === "expired") shop.tell("expired");
  }

  /** The customer gives up the payment in progress. Whatever became of it is shown. */
  async function giveUp() {
    if (!page.sessionId) return;
    try {
      await server.callAgain("cancel-payment-session", { payment_session_id: page.sessionId });
      location.reload();
    } catch (error) {
      tellError(error);
      if (error instanceof Unanswered) setTrouble(page.notReached);
      else location.reload();
    }
  }

  /** Only the shop's page moves its window. Should it stay, the page shows the link to the issuer or bank. */
  function goTo(address) {
    shop.tell("redirect", { address });
    setTimeout(() => location.reload(), MOVING_SECONDS * 1000);
  }

  /** The state that follows tells of a checkout which takes no new payment. */
  function tellError(error) {
    if (error.code !== "INVALID_STATE") shop.tellError(error);
  }

  return { begin, setPaying: (isOn) => shop.tell("progress", { isOn }), tellError, goTo };
})();

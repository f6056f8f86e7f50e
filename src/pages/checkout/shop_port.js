// The port to the shop's page, which both forms in a frame take from the installation's origin only. No card number,
// code or token is ever sent over it.
const shop = (() => {
  const form = document.querySelector("[data-pay]");
  const button = form?.querySelector(".main");
  const color = document.createElement("link");
  color.rel = "stylesheet";

  let port = null;
  let options = {};
  let lastChange = "";

  function tell(type, more = {}) {
    port.postMessage({ type, ...more });
  }

  /**
   * Says hello to the shop's page, and receives from it. `begin` is called once its options are applied, `apply` with
   * all options when some have changed, the others when the shop asks for it.
   */
  function meet({ begin, apply = () => {}, cancel, rejected }) {
    const { origin } = document.body.dataset;

    function applyAll(given) {
      options = given;
      applyLook();
      apply(options);
    }

    function receive({ type, options: given, ...more }) {
      if (type === "options") {
        applyAll(given);
        show(begin);
      }
      if (type === "update") applyAll({ ...options, ...given });
      if (type === "submit") form?.requestSubmit();
      if (type === "cancel") cancel();
      if (type === "focus") chosenInput()?.focus();
      if (type === "ping") tell("pong");
      if (type === "rejected") rejected?.(more);
    }

    function takePort(event) {
      const isShops = event.origin === origin && event.source === parent;
      if (!isShops || event.data?.till !== "port" || event.ports.length !== 1) return;
      removeEventListener("message", takePort);
      [port] = event.ports;
      port.onmessage = ({ data }) => receive(data);
    }

    if (parent === window) return;
    addEventListener("message", takePort);
    parent.postMessage({ till: "hello" }, origin);
  }

  function show(begin) {
    document.body.hidden = false;
    new ResizeObserver(tellHeight).observe(document.body);
    form?.addEventListener("input", tellChange);
    begin();
    tellChange();
  }

  function applyLook() {
    const root = document.documentElement;
    if (["light", "dark"].includes(options.scheme)) root.dataset.scheme = options.scheme;
    else delete root.dataset.scheme;
    if (button) button.hidden = !options.button;
    applyColor();
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

  const chosenInput = () => form?.querySelector("[name=payment_method]:is(:checked, [type=hidden]):enabled");

  /** The chosen method, and the saved card of it. */
  function chosen() {
    const [paymentMethod, cardId] = (chosenInput()?.value ?? "").split(":");
    return { paymentMethod: paymentMethod || null, cardId };
  }

  function tellChange() {
    const { paymentMethod, cardId } = chosen();
    const needsFields = paymentMethod === "CARD" && !cardId;
    const complete = paymentMethod !== null && (!needsFields || cardForm.isComplete());
    const change = JSON.stringify({ complete, paymentMethod });
    if (change === lastChange) return;
    lastChange = change;
    tell("change", { complete, paymentMethod });
  }

  const tellError = ({ code, message }) => tell("error", { code, message });

  return { meet, tell, tellChange, tellError, chosen, options: () => options };
})();

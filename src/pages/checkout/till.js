// The client SDK of a shop's own page. It sets one global, `Till`, whose one function shows a payment form in a frame.
// Card numbers are typed in the frame: this script never sees them.
"use strict";
(() => {
  const source = new URL(document.currentScript.src);
  const base = source.origin + source.pathname.replace(/\/js\/.*$/, "");
  const HELLO_SECONDS = 3;
  const LOCALES = ["en", "th", "ja", "de", "ar"];
  const METHODS = ["CARD", "INSTALLMENT", "PROMPTPAY", "MOBILE_BANKING"];

  const OFFLINE = { code: "OFFLINE", message: "The payment form could not be loaded." };
  const BLOCKED = {
    code: "BLOCKED",
    message: "The payment form is not allowed on this page: its origin is not the installation's identifier.",
  };

  const isText = (value) => typeof value === "string" && value !== "";
  const matches = (form) => (value) => typeof value === "string" && form.test(value);
  const among = (words) => (value) => words.includes(value);
  const isFunction = (value) => typeof value === "function";

  function isMethods(value) {
    return Array.isArray(value) && value.length > 0 && value.every(among(METHODS));
  }

  function isCustomer(value) {
    const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
    const isField = ([name, text]) => ["email", "mobile", "name"].includes(name) && isText(text);
    return isObject && Object.entries(value).every(isField);
  }

  const REQUIRED = ["merchantId", "installationId", "amount", "currency", "onPaymentSessionReady"];
  const CHANGEABLE = ["amount", "locale", "color", "scheme"];

  /** Each option, what it must be, and the words for it. */
  const OPTIONS = {
    merchantId: [isText, "a string"],
    installationId: [isText, "a string"],
    amount: [matches(/^[1-9][0-9]{0,15}$/), "a string of digits, in minor units"],
    currency: [matches(/^[A-Z]{3}$/), "an ISO 4217 code"],
    paymentMethods: [isMethods, `an array of some of ${METHODS.join(", ")}`],
    locale: [among(LOCALES), `one of ${LOCALES.join(", ")}`],
    customer: [isCustomer, "an object of the strings email, mobile and name"],
    cardUsage: [among(["SINGLE", "MULTIPLE"]), "SINGLE or MULTIPLE"],
    color: [matches(/^#[0-9a-fA-F]{6}$/), "a colour as #rrggbb"],
    scheme: [among(["light", "dark", "auto"]), "light, dark or auto"],
    button: [(value) => typeof value === "boolean", "true or false"],
    onReady: [isFunction, "a function"],
    onChange: [isFunction, "a function"],
    onPaymentSessionReady: [isFunction, "a function"],
    onPaymentSuccess: [isFunction, "a function"],
    onPaymentFailed: [isFunction, "a function"],
    onError: [isFunction, "a function"],
  };

  /** Throws a TypeError that names the first wrong option. An option that is undefined is not given. */
  function check(name, given, known, required) {
    if (typeof given !== "object" || given === null) throw new TypeError(`${name}: options must be an object`);
    const options = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
    for (const [option, value] of Object.entries(options)) {
      if (!known.includes(option)) throw new TypeError(`${name}: there is no option "${option}"`);
      const [isRight, words] = OPTIONS[option];
      if (!isRight(value)) throw new TypeError(`${name}: option "${option}" must be ${words}`);
    }
    const missing = required.find((option) => !(option in options));
    if (missing) throw new TypeError(`${name}: option "${missing}" is required`);
    return options;
  }

  function placeOf(where) {
    const element = typeof where === "string" ? document.querySelector(where) : where;
    if (!(element instanceof Element)) throw new TypeError("Till.mount: there is no such element");
    return element;
  }

  let mounted = null;

  function mount(where, given) {
    const options = check("Till.mount", given, Object.keys(OPTIONS), REQUIRED);
    const place = placeOf(where);
    if (mounted) throw new TypeError("Till.mount: a payment form is mounted already; call its unmount() first");
    mounted = new MountedForm(place, options);
    const form = mounted;
    return Object.freeze({
      submit: () => form.send("submit"),
      cancel: () => form.send("cancel"),
      focus: () => form.focus(),
      update: (changes) => form.update(check("update", changes, CHANGEABLE, [])),
      unmount: () => form.unmount(),
    });
  }

  class MountedForm {
    constructor(place, options) {
      this.options = options;
      this.isInProgress = false;
      this.onMessage = (event) => this.meet(event);
      this.frame = this.makeFrame();
      addEventListener("message", this.onMessage);
      this.load();
      place.append(this.frame);
    }

    makeFrame() {
      const frame = document.createElement("iframe");
      frame.title = "Payment form";
      frame.allow = "clipboard-write";
      Object.assign(frame.style, { display: "block", width: "100%", height: "0", border: "0" });
      frame.addEventListener("load", () => this.expectHello());
      return frame;
    }

    /** Loads the frame. It has a channel of its own, which keeps what is sent before it is there. */
    load() {
      const { merchantId, installationId, locale } = this.options;
      const path = `/frame/${encodeURIComponent(merchantId)}/${encodeURIComponent(installationId)}`;
      this.port?.close();
      const { port1, port2 } = new MessageChannel();
      this.port = port1;
      this.portOfFrame = port2;
      this.port.onmessage = ({ data }) => this.receive(data);
      this.send("options", { options: sendable(this.options) });
      this.showScheme();
      this.frame.src = base + path + (locale ? `?lang=${locale}` : "");
    }

    /** Loads a new frame in place of the present one, whose document could otherwise ask for the new one's port. */
    loadAgain() {
      clearTimeout(this.helloTimer);
      const present = this.frame;
      this.frame = this.makeFrame();
      this.frame.style.height = present.style.height;
      this.load();
      present.replaceWith(this.frame);
    }

    /** Gives the frame the scheme of the shop's page, or the other that is asked for. */
    showScheme() {
      const { scheme } = this.options;
      this.frame.style.colorScheme = scheme === "light" || scheme === "dark" ? scheme : "";
    }

    /** Hands the port over, once, to a frame that says hello from this script's own origin. */
    meet(event) {
      const isFrames = event.origin === source.origin && event.source === this.frame.contentWindow;
      if (!isFrames || event.data?.till !== "hello" || !this.portOfFrame) return;
      clearTimeout(this.helloTimer);
      this.frame.contentWindow.postMessage({ till: "port" }, source.origin, [this.portOfFrame]);
      this.portOfFrame = null;
    }

    /** A frame that has loaded and says nothing was not allowed here, or could not be reached. */
    expectHello() {
      clearTimeout(this.helloTimer);
      if (!this.portOfFrame) return;
      this.helloTimer = setTimeout(() => {
        this.options.onError?.(navigator.onLine ? BLOCKED : OFFLINE);
      }, HELLO_SECONDS * 1000);
    }

    receive(message) {
      const { options } = this;
      const { sessionId, code, complete, paymentMethod } = message;
      switch (message.type) {
        case "ready": return options.onReady?.();
        case "height": this.frame.style.height = `${message.height}px`; return undefined;
        case "change": return options.onChange?.({ complete, paymentMethod });
        case "progress": return this.setInProgress(message.isOn);
        case "session": return options.onPaymentSessionReady(sessionId);
        case "redirect": return goTo(message.address);
        case "success": return options.onPaymentSuccess?.(sessionId);
        case "failed": return options.onPaymentFailed?.(sessionId, { code, message: message.message });
        case "error": return options.onError?.({ code, message: message.message });
        default: return undefined;
      }
    }

    /** Another language waits for the end of a payment, since the frame is loaded again for it. */
    setInProgress(isOn) {
      this.isInProgress = isOn;
      if (!isOn && this.awaitsLocale) this.changeLocale();
    }

    changeLocale() {
      this.awaitsLocale = this.isInProgress;
      if (!this.awaitsLocale) this.loadAgain();
    }

    update(changes) {
      const isOtherLocale = "locale" in changes && changes.locale !== this.options.locale;
      this.options = { ...this.options, ...changes };
      this.showScheme();
      if (isOtherLocale) this.changeLocale();
      else this.send("update", { options: changes });
    }

    send(type, more = {}) {
      this.port?.postMessage({ type, ...more });
    }

    focus() {
      this.frame.focus();
      this.send("focus");
    }

    unmount() {
      if (mounted !== this) return;
      mounted = null;
      removeEventListener("message", this.onMessage);
      clearTimeout(this.helloTimer);
      this.port.close();
      this.port = null;
      this.frame.remove();
    }
  }

  /** The options without functions, which no message can carry. */
  function sendable(options) {
    return Object.fromEntries(Object.entries(options).filter(([, value]) => !isFunction(value)));
  }

  /** Moves the shop's window to an issuer or bank. */
  function goTo(address) {
    const { protocol, href } = new URL(address);
    if (protocol === "https:" || protocol === "http:") location.assign(href);
  }

  Object.defineProperty(window, "Till", { value: Object.freeze({ mount }), enumerable: true });
})();

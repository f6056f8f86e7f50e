// The client SDK of a shop's own page. It sets one global, `Till`, whose one function shows a payment form in a frame.
// Card numbers are typed in the frame: this script never sees them.
"use strict";
(() => {
  const source = new URL(document.currentScript.src);
  const base = source.origin + source.pathname.replace(/\/js\/.*$/, "");
  const ANSWER_SECONDS = 3;
  const RETRY_SECONDS = 10;
  const WORDS_MAX = 200;
  const LOCALES = ["en", "th", "ja", "de", "ar"];
  const METHODS = ["CARD", "INSTALLMENT", "PROMPTPAY", "MOBILE_BANKING"];

  /** The codes of onError. Another code of a call is told as UNAVAILABLE. */
  const ERRORS = [
    "BLOCKED", "OFFLINE", "UNAVAILABLE", "RATE_LIMITED", "MERCHANT_SUSPENDED", "NOT_FOUND", "NOT_SUPPORTED",
    "INVALID_ARGUMENTS", "AMOUNT_EXCEEDS_LIMIT", "NOT_READY",
  ];

  const OFFLINE = { code: "OFFLINE", message: "The payment form could not be loaded. It is tried again." };
  const GONE = { code: "UNAVAILABLE", message: "The payment form could not be shown again. It is tried again." };
  const BLOCKED = {
    code: "BLOCKED",
    message: "The payment form is not allowed on this page: its origin is not the installation's identifier, the "
      + "address is not one of an open shop, or a policy of the page forbids the frame.",
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

  /** The two last segments of a checkout's address; null when it is none of this script's server. */
  function segmentsOf(address) {
    if (typeof address !== "string" || !address.startsWith(`${base}/pay/`)) return null;
    return /^([\w-]+)\/([\w.-]+)$/.exec(address.slice(`${base}/pay/`.length))?.slice(1) ?? null;
  }

  const REQUIRED = ["merchantId", "installationId", "amount", "currency", "onPaymentSessionReady"];
  const WITHOUT_CHECKOUT = [...REQUIRED, "paymentMethods", "customer", "cardUsage"];
  const WITH_CHECKOUT = ["checkout", "onExpired"];
  const CHANGEABLE = ["amount", "locale", "color", "scheme"];

  /** Each option, what it must be, and the words for it. */
  const OPTIONS = {
    checkout: [segmentsOf, `the address that start-checkout answered, as a string that begins with ${base}/pay/`],
    merchantId: [isText, "a string"],
    installationId: [isText, "a string"],
    amount: [matches(/^[1-9][0-9]{0,15}$/), "a string of digits, in minor units"],
    currency: [matches(/^[A-Z]{3}$/), "an ISO 4217 code"],
    paymentMethods: [isMethods, `an array of some of ${METHODS.join(", ")}`],
    customer: [isCustomer, "an object of the strings email, mobile and name"],
    cardUsage: [among(["SINGLE", "MULTIPLE"]), "SINGLE or MULTIPLE"],
    locale: [among(LOCALES), `one of ${LOCALES.join(", ")}`],
    color: [matches(/^#[0-9a-fA-F]{6}$/), "a colour as #rrggbb"],
    scheme: [among(["light", "dark", "auto"]), "light, dark or auto"],
    button: [(value) => typeof value === "boolean", "true or false"],
    onReady: [isFunction, "a function"],
    onChange: [isFunction, "a function"],
    onPaymentSessionReady: [isFunction, "a function"],
    onPaymentSuccess: [isFunction, "a function"],
    onPaymentFailed: [isFunction, "a function"],
    onExpired: [isFunction, "a function"],
    onError: [isFunction, "a function"],
  };

  /** Throws a TypeError that names the first wrong option. An option that is undefined is not given. */
  function check(name, given, known, excluded, required) {
    if (typeof given !== "object" || given === null) throw new TypeError(`${name}: options must be an object`);
    const options = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
    for (const [option, value] of Object.entries(options)) {
      if (!known.includes(option)) throw new TypeError(`${name}: there is no option "${option}"`);
      if (excluded.names.includes(option)) throw new TypeError(`${name}: option "${option}" ${excluded.words}`);
      const [isRight, words] = OPTIONS[option];
      if (!isRight(value)) throw new TypeError(`${name}: option "${option}" must be ${words}`);
    }
    const missing = required.find((option) => !(option in options));
    if (missing) throw new TypeError(`${name}: option "${missing}" is required`);
    return options;
  }

  /** The options that do not go with the others. */
  function excludedBy({ checkout } = {}) {
    return checkout === undefined
      ? { names: WITH_CHECKOUT, words: "needs \"checkout\"" }
      : { names: WITHOUT_CHECKOUT, words: "does not go with \"checkout\"" };
  }

  function placeOf(where) {
    const element = typeof where === "string" ? document.querySelector(where) : where;
    if (!(element instanceof Element)) throw new TypeError("Till.mount: there is no such element");
    return element;
  }

  let mounted = null;

  function mount(where, given) {
    const excluded = excludedBy(given ?? {});
    const required = excluded.names === WITH_CHECKOUT ? REQUIRED : [];
    const options = check("Till.mount", given, Object.keys(OPTIONS), excluded, required);
    const place = placeOf(where);
    if (mounted) throw new TypeError("Till.mount: a payment form is mounted already; call its unmount() first");
    mounted = new MountedForm(place, options);
    const form = mounted;
    return Object.freeze({
      submit: () => form.send("submit"),
      update: (changes) => form.update(check("update", changes, CHANGEABLE, excluded, [])),
      cancel: () => form.send("cancel"),
      focus: () => form.focus(),
      unmount: () => form.unmount(),
    });
  }

  class MountedForm {
    constructor(place, options) {
      const { checkout, merchantId, installationId } = options;
      this.options = options;
      this.segments = checkout ? segmentsOf(checkout) : [merchantId, installationId];
      this.checkoutId = checkout ? this.segments[1].split(".")[0] : null;
      this.isReady = false;
      this.isInProgress = false;
      /** What was told once and is not told again. */
      this.told = {};
      this.onMessage = (event) => this.meet(event);
      addEventListener("message", this.onMessage);
      this.frame = this.makeFrame();
      place.append(this.frame);
    }

    makeFrame() {
      const { locale } = this.options;
      const frame = document.createElement("iframe");
      frame.title = "Payment form";
      frame.allow = "clipboard-write; web-share";
      Object.assign(frame.style, { display: "block", width: "100%", height: "0", border: "0" });
      frame.addEventListener("load", () => this.expectAnswer());
      frame.src = `${base}/frame/${this.segments.map(encodeURIComponent).join("/")}${locale ? `?lang=${locale}` : ""}`;
      this.showScheme(frame);
      return frame;
    }

    /** Loads the form again, in a new frame: a present one would be in the history of the window. */
    loadAgain() {
      if (mounted !== this) return;
      const present = this.frame;
      this.frame = this.makeFrame();
      this.frame.style.height = present.style.height;
      present.replaceWith(this.frame);
    }

    /** Gives a frame the scheme of the shop's page, or the other that is asked for. */
    showScheme(frame) {
      const { scheme } = this.options;
      frame.style.colorScheme = scheme === "light" || scheme === "dark" ? scheme : "";
    }

    /**
     * Hands a port over to a document of the frame that says hello from this script's own origin: once to each, since
     * the form loads itself again with every state of a checkout. The port of the document before is closed.
     */
    meet(event) {
      const isFrames = event.origin === source.origin && event.source === this.frame.contentWindow;
      if (!isFrames || event.data?.till !== "hello") return;
      clearTimeout(this.timer);
      this.port?.close();
      const { port1, port2 } = new MessageChannel();
      this.port = port1;
      this.port.onmessage = ({ data }) => this.receive(data);
      this.frame.contentWindow.postMessage({ till: "port" }, source.origin, [port2]);
      this.send("options", { options: sendable(this.options) });
    }

    /** A frame that has loaded and says nothing was not allowed here, could not be reached, or is gone. */
    expectAnswer() {
      clearTimeout(this.timer);
      this.send("ping");
      this.timer = setTimeout(() => this.miss(), ANSWER_SECONDS * 1000);
    }

    miss() {
      const error = navigator.onLine ? (this.isReady ? GONE : BLOCKED) : OFFLINE;
      if (error !== BLOCKED) this.timer = setTimeout(() => this.loadAgain(), RETRY_SECONDS * 1000);
      this.options.onError?.(error);
    }

    receive(message) {
      clearTimeout(this.timer);
      const { options } = this;
      const { sessionId, code, complete, paymentMethod } = message;
      switch (message.type) {
        case "ready": return this.becomeReady();
        case "height": this.frame.style.height = `${message.height}px`; return undefined;
        case "change": return options.onChange?.({ complete, paymentMethod });
        case "progress": return this.setInProgress(message.isOn);
        case "session": return this.initiate(sessionId);
        case "redirect": return goTo(message.address);
        case "success": return this.tellOnce("success", sessionId, options.onPaymentSuccess);
        case "failed": return this.tellFailure(sessionId, { code, message: message.message });
        case "expired": return this.tellOnce("expired", true, () => options.onExpired?.());
        case "error": return this.tellError(code, message.message);
        default: return undefined;
      }
    }

    tellError(code, message) {
      this.options.onError?.({ code: ERRORS.includes(code) ? code : GONE.code, message });
    }

    becomeReady() {
      this.setInProgress(false);
      if (this.isReady) return;
      this.isReady = true;
      this.options.onReady?.();
    }

    /** A rejection is handed to the form, which shows the choice with the words of the shop's server. */
    async initiate(sessionId) {
      try {
        await this.options.onPaymentSessionReady(sessionId);
      } catch (error) {
        const words = typeof error?.message === "string" ? error.message : "";
        this.send("rejected", { sessionId, message: Array.from(words).slice(0, WORDS_MAX).join("") });
      }
    }

    /** Each document of a checkout's frame tells its state, so what is known is left out. */
    tellOnce(what, sessionId, callback, ...failure) {
      const isKnown = this.told[what] === sessionId;
      this.told[what] = sessionId;
      if (isKnown) return;
      if (this.checkoutId === null) callback?.(sessionId, ...failure);
      else callback?.({ checkoutId: this.checkoutId, paymentSessionId: sessionId, ...failure[0] });
    }

    /** What failed before the form was there is shown by it, and is no news. */
    tellFailure(sessionId, failure) {
      this.tellOnce("failed", sessionId, this.isReady ? this.options.onPaymentFailed : undefined, failure);
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
      this.showScheme(this.frame);
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
      clearTimeout(this.timer);
      this.port?.close();
      this.port = null;
      this.frame.remove();
    }
  }

  /** The options that the form needs. No message can carry functions; the address of a checkout is the frame's own. */
  function sendable(options) {
    const isSent = ([name, value]) => name !== "checkout" && !isFunction(value);
    return Object.fromEntries(Object.entries(options).filter(isSent));
  }

  /** Moves the shop's window to an issuer or bank. */
  function goTo(address) {
    const { protocol, href } = new URL(address);
    if (protocol === "https:" || protocol === "http:") location.assign(href);
  }

  Object.defineProperty(window, "Till", { value: Object.freeze({ mount }), enumerable: true });
})();

// What every page with card fields does: it calls the server, and checks and shapes what is typed. A card's number is
// sent to tokenize-card and nowhere else.
"use strict";

/** The server's refusal of a call. */
class Refusal extends Error {
  constructor([code, message, details]) {
    super(message);
    this.code = code;
    this.details = details;
  }
}

/** No answer from the server (OFFLINE), or one that says to try again (RATE_LIMITED, UNAVAILABLE). */
class Unanswered extends Error {
  constructor(code, retrySeconds = 0) {
    super("There was no answer. Try again.");
    this.code = code;
    this.retrySeconds = retrySeconds;
  }
}

const server = (() => {
  const ANSWER_SECONDS = 20;
  const ATTEMPTS = 5;
  const { merchantId, installationId } = document.body.dataset;

  /** Makes one call, and throws a Refusal or an Unanswered. */
  async function call(name, more, idempotencyKey) {
    const headers = { "Content-Type": "application/json" };
    if (idempotencyKey) headers["Idempotency-Key"] = idempotencyKey;
    const body = JSON.stringify({ merchant_id: merchantId, installation_id: installationId, ...more });
    const abort = new AbortController();
    const timer = setTimeout(() => abort.abort(), ANSWER_SECONDS * 1000);
    try {
      const init = { method: "POST", headers, body, signal: abort.signal, credentials: "omit", cache: "no-store" };
      const response = await fetch(`/sdk/${name}`, init);
      if (response.status === 200) return await response.json();
      if (response.status === 400) throw new Refusal(await response.json());
      const code = response.status === 429 ? "RATE_LIMITED" : "UNAVAILABLE";
      throw new Unanswered(code, Number(response.headers.get("Retry-After")) || 0);
    } catch (error) {
      throw error instanceof Refusal || error instanceof Unanswered ? error : new Unanswered("OFFLINE");
    } finally {
      clearTimeout(timer);
    }
  }

  /** Makes a call again until it is answered, at most five times, and tells of each that was not. */
  async function callAgain(name, more, idempotencyKey) {
    for (let attempt = 1; ; attempt += 1) {
      try {
        const answer = await call(name, more, idempotencyKey);
        tellTrouble(null);
        return answer;
      } catch (error) {
        if (!(error instanceof Unanswered) || attempt === ATTEMPTS) throw error;
        tellTrouble(error);
        await pause(Math.max(error.retrySeconds, Math.min(2 ** attempt, 10)));
      }
    }
  }

  /** Waits, but goes on at once when the connection is back. */
  function pause(seconds) {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, seconds * 1000);
      addEventListener("online", () => { clearTimeout(timer); resolve(); }, { once: true });
    });
  }

  /** A key that nobody can guess, also where the page did not come by TLS. */
  function newIdempotencyKey() {
    const bytes = crypto.getRandomValues(new Uint8Array(16));
    return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  }

  return { call, callAgain, newIdempotencyKey };
})();

/** Shows or takes away what is wrong with the connection. */
function tellTrouble(error) {
  const { lost, tooMany } = document.body.dataset;
  setTrouble(error ? (error.code === "RATE_LIMITED" ? tooMany : lost) : "");
}

function setTrouble(text) {
  const trouble = document.querySelector("[data-trouble]");
  if (trouble.textContent !== text) trouble.textContent = text;
}

/**
 * Asks for news until `ask` answers true: every 2 seconds, slower up to 10, and at once when the page becomes visible
 * or the connection is back. A refusal ends it. Answers a function that asks at once.
 */
function followNews(ask, { refused, unanswered = () => {} }) {
  const SECONDS_MIN = 2;
  const SECONDS_MAX = 10;
  let seconds = SECONDS_MIN;
  let timer = 0;
  let isAsking = false;

  async function askNow() {
    if (isAsking) return;
    isAsking = true;
    clearTimeout(timer);
    let pauseSeconds = seconds;
    try {
      if (await ask()) return;
      tellTrouble(null);
    } catch (error) {
      if (error instanceof Refusal) return refused(error);
      tellTrouble(error);
      unanswered(error);
      pauseSeconds = Math.max(seconds, error.retrySeconds ?? 0);
    }
    isAsking = false;
    seconds = Math.min(seconds * 1.1, SECONDS_MAX);
    timer = setTimeout(askNow, pauseSeconds * 1000);
  }

  function askAtOnce() {
    if (document.visibilityState !== "visible") return;
    seconds = SECONDS_MIN;
    askNow();
  }
  document.addEventListener("visibilitychange", askAtOnce);
  addEventListener("online", askAtOnce);
  timer = setTimeout(askNow, seconds * 1000);
  return askAtOnce;
}

/** Shows one part of the page, and says it to a screen reader. */
function showPart(name) {
  for (const part of document.querySelectorAll("[data-part]")) part.hidden = part.dataset.part !== name;
  if (name !== "choice") document.querySelector(`[data-part="${name}"] h2`).focus();
}

/** The button that copies the text of a QR code. */
function prepareCopy() {
  const button = document.querySelector("[data-copy]");
  if (!button) return;
  const text = document.getElementById("qr-text");
  button.hidden = false;
  button.addEventListener("click", async () => {
    if (navigator.clipboard) await navigator.clipboard.writeText(text.value).catch(() => copySelected(text));
    else copySelected(text);
    document.querySelector("[data-news]").textContent = button.dataset.copy;
  });
}

/** The link to the picture of a QR code opens the system's share sheet where there is one, and else downloads it. */
function prepareSave() {
  const link = document.querySelector("[data-save]");
  const fileOf = (bytes) => new File(bytes, link.download, { type: "image/png" });
  let isShared = true;
  if (!link || !navigator.canShare?.({ files: [fileOf([])] })) return;
  link.addEventListener("click", async (event) => {
    if (!isShared) return;
    event.preventDefault();
    try {
      await navigator.share({ files: [fileOf([await (await fetch(link.href)).blob()])] });
    } catch (error) {
      isShared = error.name === "AbortError";
      if (!isShared) link.click();
    }
  });
}

function copySelected(text) {
  text.select();
  document.execCommand("copy");
}

const cardForm = (() => {
  const inputs = {
    number: document.getElementById("card-number"),
    expiration_date: document.getElementById("expiry-date"),
    security_code: document.getElementById("security-code"),
    name: document.getElementById("name-on-card"),
  };
  /** None where a card is entered at the acquirer's page. */
  const fields = inputs.number ? inputs : {};

  /** Latin digits instead of those of the Arabic, Persian and Thai scripts, and of full width. */
  function latin(text) {
    const digit = (beginning) => (character) => String(character.charCodeAt(0) - beginning);
    return text
      .replace(/[\u0660-\u0669]/g, digit(0x660))
      .replace(/[\u06f0-\u06f9]/g, digit(0x6f0))
      .replace(/[\u0e50-\u0e59]/g, digit(0xe50))
      .replace(/[\uff10-\uff19]/g, digit(0xff10));
  }

  const digitsOf = (text) => latin(text).replace(/\D/g, "");
  const isAmex = (number) => /^3[47]/.test(number);

  /** The schemes by the first digits of their numbers, as the server tells them. */
  const SCHEMES = [
    ["VISA", /^4/],
    ["MASTERCARD", /^(5[1-5]|222[1-9]|22[3-9]|2[3-6]|27[01]|2720)/],
    ["AMEX", /^3[47]/],
    ["JCB", /^35(2[89]|[3-8])/],
    ["UNIONPAY", /^62/],
    ["DISCOVER", /^(6011|64[4-9]|65)/],
    ["DINERS", /^3(0[0-5]|[689])/],
  ];

  /** Luhn's check digit: ISO/IEC 7812-1, annex B. */
  function hasCheckDigit(number) {
    let sum = 0;
    for (let place = 0; place < number.length; place += 1) {
      const doubled = Number(number[number.length - 1 - place]) * (place % 2 + 1);
      sum += doubled > 9 ? doubled - 9 : doubled;
    }
    return sum % 10 === 0;
  }

  function shownNumber(text) {
    const digits = digitsOf(text).slice(0, 19);
    const groups = isAmex(digits) ? /^(.{1,4})(.{1,6})?(.{1,5})?(.+)?$/ : /^(.{1,4})(.{1,4})?(.{1,4})?(.{1,4})?(.+)?$/;
    return digits === "" ? "" : groups.exec(digits).slice(1).filter(Boolean).join(" ");
  }

  /** A month and a year as typed or filled in: `1/30`, `01 / 2030`, `01-30`, `0130`. */
  function readExpiry(text) {
    const forms = [/^\s*(\d{1,2})[^\d\p{L}]{1,4}(?:20)?(\d{2})\s*$/u, /^\s*(\d{2})(?:20)?(\d{2})\s*$/];
    const found = forms.map((form) => form.exec(latin(text))).find(Boolean);
    if (!found || Number(found[1]) < 1 || Number(found[1]) > 12) return null;
    return { month: found[1].padStart(2, "0"), year: found[2] };
  }

  /** One slash, whatever was typed between month and year. What is before the caret is not completed while it is typed. */
  function shownExpiry(text, caret) {
    const isAtEnd = caret === text.length;
    const found = readExpiry(text);
    if (found && isAtEnd && digitsOf(text).length >= 4) return `${found.month}/${found.year}`;
    const [, start, separator, rest] = /^\s*(\d*)(\D*)(.*)$/.exec(latin(text));
    const month = start.slice(0, 2);
    const year = start.slice(2) + digitsOf(rest);
    const isAlone = isAtEnd && (separator === "" ? Number(month) > 1 : Number(month) > 0);
    if (month.length < 2 && !isAlone) return month + (separator && "/") + year;
    const yearMax = year.startsWith("20") || !isAtEnd ? 4 : 2;
    return `${month.padStart(2, "0")}/${year.slice(0, yearMax)}`;
  }

  /** Shapes a field while it is typed in. The caret stays behind what was typed. Nothing is shaped by deleting. */
  function shapeWith(field, shown) {
    field.addEventListener("input", (event) => {
      if (event.isComposing || event.inputType?.startsWith("delete")) return;
      const { value: typed, selectionStart: caret } = field;
      const text = shown(typed, caret);
      if (text === typed) return;
      field.value = text;
      if (document.activeElement === field) {
        const place = caret === typed.length ? text.length : placeAfter(text, typed.slice(0, caret));
        field.setSelectionRange(place, place);
      }
    });
  }

  /** The place behind as many digits as there are in `before`, and behind the separator with which it may end. */
  function placeAfter(text, before) {
    let left = digitsOf(before).length;
    let place = 0;
    while (left > 0 && place < text.length) {
      if (/\d/.test(text[place])) left -= 1;
      place += 1;
    }
    return /\D$/.test(latin(before)) && /\D/.test(text[place] ?? "") ? place + 1 : place;
  }

  /** The mark of the scheme in the field of the number, and the length of its security code. */
  function showScheme() {
    const number = digitsOf(fields.number.value);
    const [scheme] = SCHEMES.find(([, digits]) => digits.test(number)) ?? [null];
    const brand = document.querySelector("[data-brand]");
    brand.toggleAttribute("hidden", scheme === null);
    if (scheme) {
      brand.firstElementChild.setAttribute("href", `#mark-${scheme}`);
      brand.setAttribute("aria-label", document.getElementById(`mark-${scheme}`).dataset.name);
    }
    fields.security_code.placeholder = scheme === "AMEX" ? "1234" : "123";
  }

  const judges = {
    number: (text) => {
      const number = digitsOf(text);
      if (number === "") return "missing";
      return number.length >= 12 && number.length <= 19 && hasCheckDigit(number) ? null : "wrong";
    },
    expiration_date: (text) => {
      const expiry = readExpiry(text);
      if (!expiry) return "wrong";
      return isPast(expiry) ? "expired" : null;
    },
    security_code: (text) => {
      const number = digitsOf(fields.number.value);
      const length = isAmex(number) ? 4 : 3;
      const code = digitsOf(text).length;
      if (code === length || (number === "" && (code === 3 || code === 4))) return null;
      return length === 4 ? "four" : "missing";
    },
    name: (text) => (text.trim() === "" ? "missing" : null),
  };

  /** True when the card's last month is over in the last time zone of the world, twelve hours behind UTC. */
  function isPast({ month, year }) {
    const last = new Date(Date.now() - 12 * 3600 * 1000);
    return (2000 + Number(year)) * 12 + Number(month) < last.getUTCFullYear() * 12 + last.getUTCMonth() + 1;
  }

  function setFault(field, word) {
    const text = word ? field.dataset[word] ?? field.dataset.wrong ?? field.dataset.missing : "";
    document.getElementById(`${field.id}-fault`).textContent = text;
    if (word) field.setAttribute("aria-invalid", "true");
    else field.removeAttribute("aria-invalid");
  }

  /** Shows the faults, and sets the focus on the first. True when there is none. */
  function show(words) {
    let first = null;
    for (const [name, field] of Object.entries(fields)) {
      setFault(field, words[name] ?? null);
      if (words[name]) first ??= field;
    }
    first?.focus();
    return first === null;
  }

  function check() {
    return show(Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, judges[name](field.value)])));
  }

  /** True when a card could be sent. Nothing is shown. */
  function isComplete() {
    return Object.entries(fields).every(([name, field]) => judges[name](field.value) === null);
  }

  function card(usage) {
    const { month, year } = readExpiry(fields.expiration_date.value);
    return {
      number: digitsOf(fields.number.value),
      name: fields.name.value.trim(),
      expiration_date: `${month}/${year}`,
      security_code: digitsOf(fields.security_code.value),
      usage,
    };
  }

  /** Shows the faults that the server found. False when none is a field's. */
  function showRefused(details) {
    const names = Array.isArray(details) ? details.map(({ argument }) => argument) : [];
    return !show(Object.fromEntries(names.map((name) => [name, "wrong"])));
  }

  function empty() {
    for (const field of Object.values(fields)) {
      field.value = "";
      setFault(field, null);
    }
    if (fields.number) showScheme();
  }

  /** Judges a field again once it was faulty and is changed. */
  function forgive(name, field) {
    field.addEventListener("input", () => {
      if (field.hasAttribute("aria-invalid") && judges[name](field.value) === null) setFault(field, null);
    });
  }

  function judgeWhenLeft(name, field) {
    field.addEventListener("change", () => {
      if (field.value.trim() !== "") setFault(field, judges[name](field.value));
    });
  }

  function prepare() {
    if (!fields.number) return;
    document.querySelector("[data-no-script]").hidden = true;
    document.querySelector("[data-card]").hidden = false;
    shapeWith(fields.number, shownNumber);
    shapeWith(fields.expiration_date, shownExpiry);
    fields.number.addEventListener("input", showScheme);
    for (const [name, field] of Object.entries(fields)) {
      forgive(name, field);
      judgeWhenLeft(name, field);
    }
    // When a page is left, a browser writes what its fields hold to the disk.
    addEventListener("pagehide", empty);
  }

  return { hasFields: Boolean(fields.number), prepare, check, isComplete, card, showRefused, empty };
})();

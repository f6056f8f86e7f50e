"""Currencies as Stripe has them: decimals that amounts are given in, and the smallest and largest amounts."""

from refusals import invalid

NO_DECIMALS = set("bif clp djf gnf jpy kmf krw mga pyg rwf vnd vuv xaf xof xpf".split())
THREE_DECIMALS = set("bhd jod kwd omr tnd".split())
# Two decimals in amounts, though the currency has none: amounts are whole hundreds.
WHOLE_UNITS = set("isk ugx".split())
TWO_DECIMALS = set(
    "aed afn all amd ang aoa ars aud awg azn bam bbd bdt bgn bmd bnd bob brl bsd bwp byn bzd cad cdf chf cny cop crc "
    "cve czk dkk dop dzd egp etb eur fjd fkp gbp gel gip gmd gtq gyd hkd hnl htg huf idr ils inr jmd kes kgs khr kyd "
    "kzt lak lbp lkr lrd lsl mad mdl mkd mmk mnt mop mur mvr mwk mxn myr mzn nad ngn nio nok npr nzd pab pen pgk php "
    "pkr pln qar ron rsd rub sar sbd scr sek sgd shp sll sos srd std szl thb tjs top try ttd twd tzs uah usd uyu uzs "
    "wst xcd yer zar zmw".split()
)
SMALLEST = {
    "aed": 200, "aud": 50, "brl": 50, "cad": 50, "chf": 50, "czk": 1500, "dkk": 250, "eur": 50, "gbp": 30, "hkd": 400,
    "huf": 17500, "inr": 50, "jpy": 50, "mxn": 1000, "myr": 200, "nok": 300, "nzd": 50, "pln": 200, "ron": 200,
    "sek": 300, "sgd": 50, "thb": 1000, "usd": 50,
}
LARGEST = 99_999_999


def exponent(currency):
    """Decimals of an amount in a currency, or None for a currency that Stripe does not take."""
    if currency in NO_DECIMALS:
        return 0
    if currency in THREE_DECIMALS:
        return 3
    return 2 if currency in TWO_DECIMALS or currency in WHOLE_UNITS else None


def check(amount, currency, param="amount"):
    """Refuses what Stripe does not charge."""
    decimals = exponent(currency)
    if decimals is None:
        raise invalid(f"Invalid currency: {currency}.", param="currency")
    smallest = SMALLEST.get(currency, 1)
    if amount < smallest:
        raise invalid(f"Amount must be at least {shown(smallest, currency)}", code="amount_too_small", param=param)
    if amount > LARGEST:
        raise invalid(f"Amount must be no more than {shown(LARGEST, currency)}", code="amount_too_large", param=param)
    if decimals == 3 and amount % 10:
        raise invalid("The last digit of an amount in a currency of three decimals must be 0.", param=param)
    if currency in WHOLE_UNITS and amount % 100:
        raise invalid("The last two digits of an amount in this currency must be 00.", param=param)


def shown(amount, currency):
    """An amount as a customer reads it: `12.50 THB`."""
    decimals = exponent(currency) or 0
    if decimals == 0:
        return f"{amount} {currency.upper()}"
    whole, part = divmod(amount, 10**decimals)
    return f"{whole}.{part:0{decimals}} {currency.upper()}"

//! Acquirers: those that Till knows, and the accounts that merchants have at them.

use std::fmt;

use crate::ids::AcquirerId;
use crate::money::Currency;
use crate::payment_method::PaymentMethod;
use crate::text::Name;
use crate::time::Millis;

/// The maximum number of accounts of one merchant: they are part of its bounded state.
pub const ACQUIRERS_MAX: usize = 10;
/// The time for which an account stays after the last payment or refund of it was made, in seconds: 180 days, within
/// which a customer can dispute it.
pub const ACCOUNT_KEPT_SECONDS: u64 = 180 * 86_400;

word_enum! {
    /// An acquirer that Till knows.
    pub enum AcquirerName: name {
        /// The built-in one, which moves no money.
        Sandbox => "sandbox",
        /// Stripe.
        Stripe => "stripe",
    }

    /// The kind of money that an account moves.
    pub enum AccountMode: name {
        /// Play money.
        Test => "TEST",
        /// Real money.
        Live => "LIVE",
    }

    /// The place where customers enter a card.
    pub enum CardEntry: name {
        /// A page of the acquirer: Till never has the number.
        Page => "PAGE",
        /// A form of Till or of the shop: the acquirer is sent the number.
        Number => "NUMBER",
    }

    /// The state of an account, as this process knows it from the acquirer's answers. It is not stored.
    pub enum AccountState: name {
        /// Calls are made.
        Ready => "READY",
        /// The acquirer refuses the secret.
        CredentialsRefused => "CREDENTIALS_REFUSED",
        /// The acquirer takes no card numbers from servers of this account.
        CardNumbersRefused => "CARD_NUMBERS_REFUSED",
        /// The acquirer gives no answer.
        NotAnswering => "NOT_ANSWERING",
    }

    /// A secret of an account, in the vault.
    pub enum AccountSecret {
        /// The secret with which Till calls the acquirer.
        Calls,
        /// The secret with which the acquirer signs its notices.
        Notices,
    }
}

/// All that Till must know of an acquirer before it calls it: a row of one table.
#[derive(Debug)]
pub struct AcquirerOffer {
    /// The name for people.
    pub display_name: &'static str,
    /// The payment methods that it carries out.
    pub methods: &'static [PaymentMethod],
    /// The currencies whose amounts it has with other digits after the point than ISO 4217, or does not take at all,
    /// of those with two digits or none: it takes no others. None when it takes all, with the digits of ISO 4217.
    currencies_left_out: Option<&'static [&'static str]>,
    /// The beginnings of its secrets, with the mode of the account; none for an acquirer without accounts.
    secrets: &'static [(&'static str, AccountMode)],
}

static SANDBOX: AcquirerOffer =
    AcquirerOffer { display_name: "Sandbox", methods: &PaymentMethod::ALL, currencies_left_out: None, secrets: &[] };

/// Source: Stripe's documents of supported currencies and of API keys.
static STRIPE: AcquirerOffer = AcquirerOffer {
    display_name: "Stripe",
    methods: &[PaymentMethod::Card, PaymentMethod::PromptPay],
    currencies_left_out: Some(&[
        "BOV", "BTN", "CHE", "CHW", "COU", "CUC", "CUP", "ERN", "GHS", "HRK", "IRR", "ISK", "KPW", "MGA", "MRU", "MXV",
        "SDG", "SLL", "SSP", "STN", "SVC", "SYP", "TMT", "UGX", "USN", "UYI", "VED", "VES", "XAD", "ZWG", "ZWL",
    ]),
    secrets: &[
        ("sk_test_", AccountMode::Test),
        ("rk_test_", AccountMode::Test),
        ("sk_live_", AccountMode::Live),
        ("rk_live_", AccountMode::Live),
    ],
};

impl AcquirerName {
    /// Those at which merchants have accounts.
    pub const WITH_ACCOUNTS: [AcquirerName; 1] = [AcquirerName::Stripe];
    /// The names of those.
    pub const NAMES_WITH_ACCOUNTS: [&str; 1] = [AcquirerName::Stripe.name()];

    /// Its row of the table.
    #[must_use]
    pub const fn offer(self) -> &'static AcquirerOffer {
        match self {
            AcquirerName::Sandbox => &SANDBOX,
            AcquirerName::Stripe => &STRIPE,
        }
    }
}

impl AcquirerOffer {
    /// True when its amounts of a currency have the digits after the point of ISO 4217, as Till's have.
    #[must_use]
    pub fn takes(&self, currency: Currency) -> bool {
        let has_digits = currency.is_money() && matches!(currency.minor_digits(), 0 | 2);
        self.currencies_left_out.is_none_or(|left_out| has_digits && !left_out.contains(&currency.code()))
    }

    /// The mode of the account of a secret; none for a text that is no secret of this acquirer.
    #[must_use]
    pub fn mode_of_secret(&self, secret: &str) -> Option<AccountMode> {
        self.secrets.iter().find(|(beginning, _)| secret.starts_with(beginning)).map(|(_, mode)| *mode)
    }
}

/// The party that carries a payment, a payout or the payments of a method out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AcquirerRef {
    /// The sandbox, which needs no account.
    Sandbox,
    /// An acquirer, with the merchant's account there.
    Account(AcquirerName, AcquirerId),
}

impl AcquirerRef {
    /// The acquirer.
    #[must_use]
    pub const fn name(self) -> AcquirerName {
        match self {
            AcquirerRef::Sandbox => AcquirerName::Sandbox,
            AcquirerRef::Account(name, _) => name,
        }
    }

    /// The account; none for the sandbox.
    #[must_use]
    pub const fn account_id(self) -> Option<AcquirerId> {
        match self {
            AcquirerRef::Sandbox => None,
            AcquirerRef::Account(_, id) => Some(id),
        }
    }
}

/// As calls name it: the sandbox by its name, an account by its id.
impl fmt::Display for AcquirerRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AcquirerRef::Sandbox => f.write_str(AcquirerName::Sandbox.name()),
            AcquirerRef::Account(_, id) => id.fmt(f),
        }
    }
}

/// A merchant's account at an acquirer. Its secrets are in the vault.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AcquirerAccount {
    /// Its id.
    pub id: AcquirerId,
    /// The acquirer.
    pub acquirer: AcquirerName,
    /// A name for people.
    pub name: Name,
    /// The kind of money that it moves.
    pub mode: AccountMode,
    /// The acquirer's own id of it; none while no secret of it has been tried.
    pub account: Option<String>,
    /// The place where customers enter a card.
    pub card_entry: CardEntry,
    /// The beginning and the end of the secret, by which people know it again.
    pub secret_hint: String,
    /// True when there is a secret for notices.
    pub has_webhook_secret: bool,
    /// The time at which it was added.
    pub created_at: Millis,
}

impl AcquirerAccount {
    /// What payments and settings name it by.
    #[must_use]
    pub const fn reference(&self) -> AcquirerRef {
        AcquirerRef::Account(self.acquirer, self.id)
    }
}

/// What payments and refunds of an account mean for its removal. There is a row from its first payment on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AcquirerUse {
    /// The number of its payments that are open, or of which a refund is.
    pub open_payments: u64,
    /// The time at which the last payment or refund of it was made.
    pub last_at: Millis,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_currency_is_taken_with_the_digits_of_iso_4217_only() {
        let takes = |code: &[u8; 3]| AcquirerName::Stripe.offer().takes(Currency::from_bytes(*code));
        for code in [b"THB", b"USD", b"JPY", b"XPF"] {
            assert!(takes(code), "{}", Currency::from_bytes(*code));
        }
        // Two digits there and none in ISO 4217, or the other way round; three digits, or four; no money.
        for code in [b"ISK", b"UGX", b"MGA", b"KWD", b"UYW", b"XXX"] {
            assert!(!takes(code), "{}", Currency::from_bytes(*code));
            assert!(AcquirerName::Sandbox.offer().takes(Currency::from_bytes(*code)));
        }
    }

    /// A currency that is new in the list of all must be looked up in Stripe's before it is taken.
    #[test]
    fn no_currency_is_taken_unseen() {
        let letters = || b'A'..=b'Z';
        let codes =
            letters().flat_map(|one| letters().flat_map(move |two| letters().map(move |last| [one, two, last])));
        let known = codes.filter_map(|code| std::str::from_utf8(&code).ok()?.parse::<Currency>().ok());
        assert_eq!(known.filter(|currency| AcquirerName::Stripe.offer().takes(*currency)).count(), 130);
    }

    #[test]
    fn the_beginning_of_a_secret_tells_the_mode_of_its_account() {
        let mode = |secret| AcquirerName::Stripe.offer().mode_of_secret(secret);
        assert_eq!(mode("sk_test_51abc"), Some(AccountMode::Test));
        assert_eq!(mode("rk_live_51abc"), Some(AccountMode::Live));
        assert_eq!(mode("pk_live_51abc"), None, "a key for browsers is no secret");
        assert_eq!(AcquirerName::Sandbox.offer().mode_of_secret("sk_test_51abc"), None);
    }

    #[test]
    fn accounts_are_at_all_acquirers_that_have_secrets() {
        let with_secrets: Vec<AcquirerName> =
            AcquirerName::ALL.into_iter().filter(|name| !name.offer().secrets.is_empty()).collect();
        assert_eq!(with_secrets, AcquirerName::WITH_ACCOUNTS);
        assert_eq!(AcquirerName::WITH_ACCOUNTS.map(AcquirerName::name), AcquirerName::NAMES_WITH_ACCOUNTS);
    }
}

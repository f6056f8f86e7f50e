//! `POST /admin/add-acquirer`, `find-acquirer`, `list-acquirers`, `update-acquirer`, `remove-acquirer`: accounts at
//! acquirers

use till_actors::acquirer::{AccountSecrets, UnansweredOutcome};
use till_actors::{AccountStanding, Answered, Secret};
use till_domain::acquirer::{AccountMode, AccountState, AcquirerAccount, AcquirerName, CardEntry};
use till_domain::command::{AcquirerChange, AddAcquirer, Caller, Command, KnownAccount, UpdateAcquirer};
use till_domain::event::Answer;
use till_domain::ids::{AcquirerId, MerchantId};
use till_domain::records::{AcquirerAccounts, Rows};
use till_domain::refusal::Refusal;
use till_protocol::api_error::{CallEffect, RETRY_AFTER_SECONDS};
use till_protocol::arguments::id;
use till_protocol::fault::Fault;
use till_protocol::field;
use till_protocol::fields::Fields;
use till_storage::vault::ACCOUNT_SECRET_MAX_BYTES;
use zeroize::Zeroizing;

use super::about_merchant::{MERCHANT_ARGUMENT, MERCHANT_NOT_FOUND, check_exists};
use crate::endpoints::forms::{BOOLEAN, NAME, own_text, words};
use crate::endpoints::prelude::*;
use crate::service::{read_list_page, refused, reply_of};

pub(super) const ENDPOINTS: Endpoints<Operator> = &[
    Endpoint(&ADD_ACQUIRER, &add_acquirer),
    Endpoint(&FIND_ACQUIRER, &find_acquirer),
    Endpoint(&LIST_ACQUIRERS, &list_acquirers),
    Endpoint(&UPDATE_ACQUIRER, &update_acquirer),
    Endpoint(&REMOVE_ACQUIRER, &remove_acquirer),
];

/// The smallest number of characters of a secret, so that its hint tells little of it.
const SECRET_MIN: usize = 24;
/// The first characters of a secret in its hint.
const HINT_FIRST: usize = 8;
/// The last characters of a secret in its hint.
const HINT_LAST: usize = 4;

const SECRET: Field<Zeroizing<String>> = Field {
    value_type: ValueType::Text(
        Text::of(SECRET_MIN, ACCOUNT_SECRET_MAX_BYTES, "sk_test_EXAMPLE000000000000000000").matching("^[!-~]+$"),
    ),
    parse: |value| {
        let text = Zeroizing::new(own_text(value)?);
        let has_form = text.bytes().all(|byte| byte.is_ascii_graphic());
        let is_fit = has_form && (SECRET_MIN..=ACCOUNT_SECRET_MAX_BYTES).contains(&text.len());
        let rule =
            || format!("must be {SECRET_MIN} to {ACCOUNT_SECRET_MAX_BYTES} printable ASCII characters, no spaces");
        is_fit.then_some(text).ok_or_else(rule)
    },
};

/// The acquirers at which there are accounts.
const ACQUIRER: Field<AcquirerName> = Field {
    value_type: ValueType::words(&AcquirerName::NAMES_WITH_ACCOUNTS),
    parse: |value| field::one_of(&AcquirerName::WITH_ACCOUNTS, AcquirerName::name)(value),
};

/// The argument that names the account.
pub(super) const ACQUIRER_ARGUMENT: Required<AcquirerId> =
    id::<AcquirerId>().required("The account (`acq_...`).").with_name("acquirer_id");

const WEBHOOK_SECRET_DOCS: &str = "The secret with which the acquirer signs its notices. Without it they are refused, \
    and payments that wait for the acquirer are only asked for from time to time.";
const CARD_ENTRY_DOCS: &str = "Where customers enter a card: `PAGE`, a page of the acquirer, or `NUMBER`, a form of \
    Till or of the shop, for accounts whose acquirer takes card numbers from servers.";
const UNCHECKED_DOCS: &str = "True to take the secret without trying it at the acquirer; false when left out.";

const STATE_DOCS: &str = "Its state, by the acquirer's answers to this server. `CREDENTIALS_REFUSED`: the acquirer \
    refuses the secret, and calls wait for another. `CARD_NUMBERS_REFUSED`: it takes no card numbers from servers of \
    this account; ask it to take raw card data through its API, or set `card_entry` to `PAGE`. `NOT_ANSWERING`: calls \
    wait until it answers.";

/// The refusal of an unknown account.
pub(super) const ACQUIRER_NOT_FOUND: DeclaredError =
    DeclaredError::new(Code::NotFound, "No merchant has this id, or no account of this merchant.");
const NOT_TRIED: DeclaredError = DeclaredError::new(
    Code::Unavailable,
    "The acquirer gave no answer when the secret was tried, and nothing was changed.",
)
.with(r#"{"outcome": "not_done"}"#);

/// The last is true when the secret is tried first.
const ADDED: ArgumentSet<(MerchantId, AddAcquirer, AccountSecrets, bool)> = arguments!({
    merchant_id: MERCHANT_ARGUMENT,
    acquirer: ACQUIRER.required("The acquirer."),
    name: NAME.required("A name for people.").such_as("\"Shop in Bangkok\""),
    secret: SECRET.required("The secret with which its API is called. No answer and no log has it."),
    webhook_secret: SECRET.optional(WEBHOOK_SECRET_DOCS),
    card_entry: words!(CardEntry)
        .optional("Where customers enter a card; `PAGE` when left out. See `update-acquirer`."),
    unchecked: BOOLEAN.optional(UNCHECKED_DOCS).such_as("true").in_examples(),
} judged by |fields: &mut Fields<'_>| {
    if let Some(Err(error)) = acquirer.zip(secret.as_ref()).map(|(acquirer, secret)| untried(acquirer, secret)) {
        fields.fault(error);
    }
} => {
    let known = untried(acquirer, &secret).ok()?;
    let (card_entry, has_webhook_secret) = (card_entry.unwrap_or(CardEntry::Page), webhook_secret.is_some());
    let command = AddAcquirer { acquirer, name, known, card_entry, has_webhook_secret };
    let secrets = AccountSecrets { calls: Some(secret), notices: webhook_secret };
    (merchant_id, command, secrets, unchecked != Some(true))
});

static ADD_ACQUIRER: Declaration = Declaration {
    name: "add-acquirer",
    summary: "Adds a merchant's account at an acquirer and answers its id (`acq_...`).",
    docs: "The secret is tried by a call that changes nothing. An account of real money (`LIVE`) is taken only while \
        the merchant has no payment and no account of play money; with it the merchant's methods on the sandbox are \
        disabled. Payment methods use the account once `configure-payment-method` names it.",
    arguments: ADDED.declared,
    returns: Returns::Id(AcquirerId::PREFIX),
    errors: &[
        MERCHANT_NOT_FOUND,
        DeclaredError::new(
            Code::Conflict,
            "The merchant has ten accounts, or this one already: details name the `limit`, or its `acquirer_id`.",
        )
        .with(r#"{"limit": 10}"#),
        DeclaredError::new(Code::NotSupported, "The merchant has a test clock."),
        DeclaredError::new(Code::InvalidState, "Play money and real money would stand in one ledger.")
            .with(r#"{"mode": "TEST"}"#),
        NOT_TRIED,
    ],
    ..Declaration::command(Package::Admin, "acquirers")
};

object! {
    /// An account at an acquirer.
    ACQUIRER_ACCOUNT "acquirer" as AcquirerShape<'a> of (
        account: &'a AcquirerAccount,
        standing: AccountStanding,
        notices_url: Option<String>
    ) {
        acquirer_id: Id(AcquirerId::PREFIX) = account.id, "Its id (`acq_...`).";
        acquirer: type(ValueType::words(&AcquirerName::NAMES_WITH_ACCOUNTS)) = account.acquirer, "The acquirer.";
        name: STRING = account.name, "The name for people.", such_as("Shop in Bangkok");
        mode: words_of(AccountMode) = account.mode, "`TEST` for play money, `LIVE` for real money.";
        account: STRING or null = account.account,
            "The acquirer's own id of it; null while no secret was tried.", such_as("acct_1EXAMPLE");
        card_entry: words_of(CardEntry) = account.card_entry, "Where customers enter a card.";
        secret_hint: STRING = account.secret_hint,
            "The first eight and the last four characters of the secret.", such_as("sk_test_...0000");
        has_webhook_secret: BOOLEAN = account.has_webhook_secret, "True when notices of the acquirer can be verified.";
        notices_url: STRING or null = notices_url,
            "The address to give the acquirer for its notices; null without `public_url`.",
            such_as("https://till.example/acquirers/acq_01h2e8kqvbfwea724h75qc655w/notices");
        state: words_of(AccountState) = standing.state, STATE_DOCS;
        state_since: TIMESTAMP = standing.since, "The time since which it has this state.";
        last_answer_at: TIMESTAMP or null = standing.last_answer_at,
            "The time of the acquirer's last answer to this server.";
        created_at: TIMESTAMP = account.created_at, "The time at which it was added.";
    }
}

const NAMED: ArgumentSet<(MerchantId, AcquirerId)> = arguments!({ merchant_id: MERCHANT_ARGUMENT,
    acquirer_id: ACQUIRER_ARGUMENT } => (merchant_id, acquirer_id));

static FIND_ACQUIRER: Declaration = Declaration {
    name: "find-acquirer",
    summary: "Returns a merchant's account at an acquirer, without its secrets.",
    arguments: NAMED.declared,
    returns: Returns::Object(&ACQUIRER_ACCOUNT),
    errors: &[ACQUIRER_NOT_FOUND],
    ..Declaration::query(Package::Admin, "acquirers")
};

const LIST: ArgumentSet<(MerchantId, ListPageRequest<AcquirerId>)> = arguments!({
    merchant_id: MERCHANT_ARGUMENT,
    page: list_page::<AcquirerId>(),
} => (merchant_id, page));

static LIST_ACQUIRERS: Declaration = Declaration {
    name: "list-acquirers",
    summary: "Lists a merchant's accounts at acquirers, newest first.",
    arguments: LIST.declared,
    returns: Returns::ListPage(&ACQUIRER_ACCOUNT),
    errors: &[MERCHANT_NOT_FOUND],
    ..Declaration::query(Package::Admin, "acquirers")
};

const UPDATED: ArgumentSet<(MerchantId, UpdateAcquirer, AccountSecrets, bool)> = arguments!({
    merchant_id: MERCHANT_ARGUMENT,
    acquirer_id: ACQUIRER_ARGUMENT,
    name: NAME.optional("The new name.").such_as("\"Shop in Chiang Mai\""),
    secret: SECRET.optional("The new secret, of the same account. Calls under way keep the old one."),
    webhook_secret: SECRET.optional(WEBHOOK_SECRET_DOCS),
    card_entry: words!(CardEntry).optional(CARD_ENTRY_DOCS),
    unchecked: BOOLEAN.optional(UNCHECKED_DOCS).such_as("true").in_examples(),
} => {
    let has_webhook_secret = webhook_secret.is_some();
    let command = UpdateAcquirer { acquirer_id, name, known: None, card_entry, has_webhook_secret };
    (merchant_id, command, AccountSecrets { calls: secret, notices: webhook_secret }, unchecked != Some(true))
});

static UPDATE_ACQUIRER: Declaration = Declaration {
    name: "update-acquirer",
    summary: "Changes an account at an acquirer; `false` when nothing changed.",
    docs: "An argument that is left out changes nothing. Captures, voids and refunds that the acquirer refused to \
        answer wait for the new secret, and go on at once.",
    arguments: UPDATED.declared,
    errors: &[
        ACQUIRER_NOT_FOUND,
        DeclaredError::new(Code::Conflict, "The secret is one of another account: payments stay with theirs."),
        NOT_TRIED,
    ],
    ..Declaration::command(Package::Admin, "acquirers")
};

static REMOVE_ACQUIRER: Declaration = Declaration {
    name: "remove-acquirer",
    summary: "Removes an account at an acquirer permanently, erases its secrets, and answers `true`.",
    docs: "Its payments can be read as before, and neither refunded nor reversed.",
    arguments: NAMED.declared,
    errors: &[
        ACQUIRER_NOT_FOUND,
        DeclaredError::new(
            Code::InvalidState,
            "A payment method is enabled at it, or a payment or refund of it is open or younger than 180 days: \
                details say which.",
        )
        .with(r#"{"open_payments": 0, "removable_at": 1767225600}"#),
    ],
    ..Declaration::command(Package::Admin, "acquirers")
};

/// `POST /admin/add-acquirer`
async fn add_acquirer(service: Shared, call: Call<Operator>) -> Result<Reply, ApiError> {
    let (merchant_id, mut command, secrets, is_tried) = call.fields().parse(&ADDED)?;
    let changing = Changing { service: &service, call: &call, merchant_id };
    if let (true, Some(secret)) = (is_tried, &secrets.calls) {
        let change = AcquirerChange::Add(command.clone());
        if let Some(kept) = changing.judge_and_try(change, command.acquirer, secret, &mut command.known).await? {
            return Ok(kept);
        }
    }
    let answered = changing.submit(AcquirerChange::Add(command), Some(secrets)).await?;
    if let (Answer::Acquirer(id), true) = (answered.answer, is_tried) {
        service.engine().accounts().note_answer(id, service.now());
    }
    Ok(reply_of(answered))
}

/// `POST /admin/find-acquirer`
async fn find_acquirer(service: Shared, call: Call<Operator>) -> Result<Reply, ApiError> {
    let (merchant_id, acquirer_id) = call.fields().parse(&NAMED)?;
    check_exists(&service, merchant_id)?;
    let account = service.reader(merchant_id).await?.get::<AcquirerAccounts>(acquirer_id)?;
    let account = account.ok_or_else(|| refused(&Refusal::AcquirerNotFound))?;
    Ok(Reply::new(&shape(&service, &account)))
}

/// `POST /admin/list-acquirers`
async fn list_acquirers(service: Shared, call: Call<Operator>) -> Result<Reply, ApiError> {
    let (merchant_id, request) = call.fields().parse(&LIST)?;
    check_exists(&service, merchant_id)?;
    let page = read_list_page::<AcquirerAccounts>(&service.reader(merchant_id).await?, request)?;
    let page = page.map(|account: &AcquirerAccount| shape(&service, account));
    Reply::list_page(&page.with_filters(&[("merchant_id", Some(merchant_id.to_string()))]))
}

/// `POST /admin/update-acquirer`
async fn update_acquirer(service: Shared, call: Call<Operator>) -> Result<Reply, ApiError> {
    let (merchant_id, mut command, secrets, is_tried) = call.fields().parse(&UPDATED)?;
    let (id, changing) = (command.acquirer_id, Changing { service: &service, call: &call, merchant_id });
    check_exists(&service, merchant_id)?;
    // The rules refuse an unknown account: the call may be a repeated one, answered before the account was removed.
    let account = service.reader(merchant_id).await?.get::<AcquirerAccounts>(id)?;
    if let (Some(account), Some(secret)) = (account, &secrets.calls) {
        let mut known = untried(account.acquirer, secret).map_err(|fault| ApiError::invalid_arguments(&[fault]))?;
        if is_tried {
            let change = AcquirerChange::Update(UpdateAcquirer { known: Some(known.clone()), ..command.clone() });
            if let Some(kept) = changing.judge_and_try(change, account.acquirer, secret, &mut known).await? {
                return Ok(kept);
            }
        }
        command.known = Some(known);
    }
    let was_tried = command.known.as_ref().is_some_and(|known| known.account.is_some());
    let answered = changing.submit(AcquirerChange::Update(command), Some(secrets)).await?;
    let accounts = service.engine().accounts();
    if answered.answer == Answer::Changed(true) {
        accounts.renew(id, service.now());
    }
    if was_tried {
        accounts.note_answer(id, service.now());
    }
    Ok(reply_of(answered))
}

/// `POST /admin/remove-acquirer`
async fn remove_acquirer(service: Shared, call: Call<Operator>) -> Result<Reply, ApiError> {
    let (merchant_id, acquirer_id) = call.fields().parse(&NAMED)?;
    let changing = Changing { service: &service, call: &call, merchant_id };
    let answered = changing.submit(AcquirerChange::Remove(acquirer_id), None).await?;
    service.engine().accounts().remove(acquirer_id);
    Ok(reply_of(answered))
}

/// A call that changes a merchant's accounts.
struct Changing<'a> {
    service: &'a Service,
    call: &'a Call<Operator>,
    merchant_id: MerchantId,
}

impl Changing<'_> {
    /// Judges a change, then tries its secret and notes the account that it is of. Returns the kept answer of an
    /// earlier call with the same key instead.
    async fn judge_and_try(
        &self,
        change: AcquirerChange,
        acquirer: AcquirerName,
        secret: &Zeroizing<String>,
        known: &mut KnownAccount,
    ) -> Result<Option<Reply>, ApiError> {
        let judged = self.submit(AcquirerChange::Judge(Box::new(change)), None).await?;
        if judged.replayed {
            return Ok(Some(reply_of(judged)));
        }
        self.call.give_permit_back();
        match self.service.engine().acquirers().check(acquirer, secret.clone(), known.mode).await {
            Ok(account) => known.account = Some(account),
            Err(error) if error.outcome == UnansweredOutcome::CredentialsRefused => {
                return Err(ApiError::invalid_arguments(&[Fault::invalid("secret", "is refused by the acquirer")]));
            }
            Err(error) => {
                tracing::warn!(acquirer = acquirer.name(), %error, "a secret could not be tried");
                return Err(ApiError::unavailable(CallEffect::NotDone, RETRY_AFTER_SECONDS)
                    .with_note("The acquirer gave no answer; unchecked: true takes the secret without trying it."));
            }
        }
        Ok(None)
    }

    async fn submit(&self, change: AcquirerChange, secrets: Option<AccountSecrets>) -> Result<Answered, ApiError> {
        let Changing { service, call, merchant_id } = *self;
        check_exists(service, merchant_id)?;
        call.log_subject(merchant_id, None);
        let command = Command::ChangeAcquirer(merchant_id, change);
        service.submit(call, merchant_id, Caller::Operator, command, secrets.map(Secret::OfAccount)).await
    }
}

/// What is known of the account of a secret that was not tried, or the fault of a text that is none.
fn untried(acquirer: AcquirerName, secret: &str) -> Result<KnownAccount, Fault> {
    let mode = acquirer.offer().mode_of_secret(secret);
    let fault = || Fault::invalid("secret", format!("is no secret with which {} is called", acquirer.name()));
    Ok(KnownAccount { mode: mode.ok_or_else(fault)?, account: None, secret_hint: hint(secret) })
}

/// The beginning and the end of a secret, whose form was checked.
fn hint(secret: &str) -> String {
    let (first, last) = (secret.get(..HINT_FIRST), secret.get(secret.len().saturating_sub(HINT_LAST)..));
    format!("{}...{}", first.unwrap_or_default(), last.unwrap_or_default())
}

fn shape<'a>(service: &Service, account: &'a AcquirerAccount) -> AcquirerShape<'a> {
    let standing = service.engine().accounts().standing(account.id, account.created_at);
    let notices_url = service.public_url().map(|url| format!("{url}/acquirers/{}/notices", account.id));
    AcquirerShape::new(account, standing, notices_url)
}

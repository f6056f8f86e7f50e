//! The kinds of objects: how they are found and listed, and which of their attributes may change.

/// A kind of objects.
#[derive(Debug)]
pub(super) struct ObjectKind {
    /// The attribute with an object's id, and the argument that names the object.
    pub(super) id: &'static str,
    /// The merchants' endpoint that lists them, newest first; empty when there is none.
    pub(super) list: &'static str,
    /// The merchants' endpoint that finds one of them; empty when there is none.
    pub(super) find: &'static str,
    /// The attribute by which an object is recognized whose id is not known: no two calls have the same value. Empty
    /// when there is none.
    pub(super) name: &'static str,
    /// True when a second object of the same name is refused, with the id of the first.
    pub(super) is_unique: bool,
    /// The attributes that may get another value. All others keep theirs, see [`super::shown`].
    pub(super) changing: &'static [&'static str],
}

const PLAIN: ObjectKind = ObjectKind { id: "", list: "", find: "", name: "", is_unique: false, changing: &[] };

pub(super) static SESSION: ObjectKind = ObjectKind { id: "payment_session_id", ..PLAIN };

pub(super) static PAYMENT: ObjectKind = ObjectKind {
    id: "payment_id",
    list: "list-payments",
    find: "find-payment",
    name: "payment_session_id",
    is_unique: true,
    changing: &[
        "status",
        "operation",
        "last_operation",
        "expires_at",
        "capturable",
        "voidable",
        "reversible",
        "refundable",
    ],
};

pub(super) static REFUND: ObjectKind = ObjectKind {
    id: "refund_id",
    list: "list-refunds",
    find: "find-refund",
    name: "external_id",
    is_unique: true,
    ..PLAIN
};

pub(super) static PAYOUT: ObjectKind = ObjectKind {
    id: "payout_id",
    list: "list-payouts",
    find: "find-payout",
    name: "external_id",
    is_unique: true,
    ..PLAIN
};

pub(super) static TOPUP: ObjectKind = ObjectKind {
    id: "topup_id",
    list: "list-topups",
    find: "find-topup",
    name: "external_id",
    is_unique: true,
    ..PLAIN
};

/// Only the ledger shows invoices.
pub(super) static INVOICE: ObjectKind =
    ObjectKind { id: "invoice_id", list: "balance-history", name: "external_id", is_unique: true, ..PLAIN };

pub(super) static DISPUTE: ObjectKind = ObjectKind {
    id: "dispute_id",
    list: "list-disputes",
    find: "find-dispute",
    name: "reason",
    changing: &["status"],
    ..PLAIN
};

pub(super) static KEY: ObjectKind = ObjectKind {
    id: "key_id",
    list: "list-keys",
    find: "find-key",
    name: "name",
    changing: &["name", "last_used_at"],
    ..PLAIN
};

pub(super) static INVITATION: ObjectKind = ObjectKind {
    id: "invitation_id",
    list: "list-user-invitations",
    name: "email",
    is_unique: true,
    // A server that is started again has another port.
    changing: &["status", "url"],
    ..PLAIN
};

pub(super) static USER: ObjectKind =
    ObjectKind { id: "user_id", list: "list-users", name: "invitation_id", is_unique: true, ..PLAIN };

pub(super) static ENTRY: ObjectKind =
    ObjectKind { id: "entry_id", list: "balance-history", changing: &["status"], ..PLAIN };

pub(super) static ACTIVITY: ObjectKind = ObjectKind { id: "activity_log_id", list: "list-activity-logs", ..PLAIN };

pub(super) static STATEMENT: ObjectKind = ObjectKind { id: "statement_id", list: "list-statements", ..PLAIN };

/// The kinds that have a list of their own.
pub(super) static LISTED: [&ObjectKind; 11] =
    [&PAYMENT, &REFUND, &PAYOUT, &TOPUP, &DISPUTE, &KEY, &INVITATION, &USER, &ENTRY, &ACTIVITY, &STATEMENT];

/// The kinds whose objects calls make, and lists show.
pub(super) static MADE: [&ObjectKind; 9] =
    [&PAYMENT, &REFUND, &PAYOUT, &TOPUP, &INVOICE, &DISPUTE, &KEY, &INVITATION, &USER];

impl ObjectKind {
    /// True when an object is found by the external id that its own call gave it.
    pub(super) fn has_external_id(&self) -> bool {
        self.id == PAYMENT.id || (self.name == "external_id" && !self.find.is_empty())
    }
}

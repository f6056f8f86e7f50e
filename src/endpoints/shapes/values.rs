//! Values of the domain in the form in which answers have them.

use till_domain::acquirer::{AccountMode, AccountState, AcquirerName, AcquirerRef, CardEntry};
use till_domain::activity::{ActivityType, Actor};
use till_domain::card::{CardExpiry, CardScheme};
use till_domain::checkout::{CheckoutStatus, Locale};
use till_domain::customer_action::{AuthenticationFlow, AuthenticationStatus};
use till_domain::dispute::DisputeStatus;
use till_domain::each_id;
use till_domain::failure::FailureCode;
use till_domain::ledger::{Direction, EntryStatus, EntryType};
use till_domain::merchant::{Color, PaymentMethod, Platform};
use till_domain::money::{AmountMinor, Currency};
use till_domain::payment::{CaptureMode, OperationKind, PaymentStatus};
use till_domain::payout::PayoutStatus;
use till_domain::refund::RefundStatus;
use till_domain::role::Role;
use till_domain::session::InterestBearer;
use till_domain::statement::Month;
use till_domain::text::{
    AcquirerCode, Description, DestinationUrl, Email, Evidence, ExternalId, HeaderName, HolderName,
    InstallationIdentifier, Mobile, Name, PersonName, Reason, ReturnUrl, TimeZone,
};
use till_domain::time::Millis;
use till_domain::webhook::{WebhookEventKind, WebhookStatus};
use till_storage::deliveries::DeliveryStatus;

use super::object::answer_values;
use crate::server_status::ServerState;

answer_values! {
    AcquirerCode Description DestinationUrl Email Evidence ExternalId HeaderName HolderName InstallationIdentifier
    Mobile Name PersonName Reason ReturnUrl TimeZone => |text| text.as_str();

    AccountMode AccountState AcquirerName ActivityType AuthenticationFlow AuthenticationStatus CaptureMode CardEntry
    CardScheme CheckoutStatus DeliveryStatus Direction
    DisputeStatus EntryStatus EntryType FailureCode InterestBearer Locale OperationKind PaymentMethod PaymentStatus
    PayoutStatus Platform RefundStatus Role ServerState
    WebhookEventKind WebhookStatus => |word| word.name();

    AcquirerRef => |acquirer| acquirer.to_string();
    Actor => |actor| actor.type_name();
    AmountMinor => |amount| amount.get();
    CardExpiry => |expiry| format!("{:02}/{:02}", expiry.month, expiry.year % 100);
    Color => |color| color.to_string();
    Currency => |currency| currency.code();
    Millis => |time| time.unix_seconds();
    Month => |month| month.to_string();
}

/// An id is its text.
macro_rules! ids {
    ($($id:ty)+) => {
        answer_values! { $($id)+ => |id| id.to_string(); }
    };
}

each_id!(ids);

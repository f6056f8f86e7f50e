//! A request's body: the checks before it is read, and reading it within its limit.

use std::future::poll_fn;
use std::mem;
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use actix_web::dev::Payload;
use actix_web::http::header::{AUTHORIZATION, CONTENT_ENCODING, CONTENT_TYPE, HeaderMap, HeaderValue};
use futures_util::{FutureExt, StreamExt};
use zeroize::Zeroize;

use crate::api_error::{ApiError, Code};
use crate::connection::announced_length;
use crate::declaration::{Declaration, PIPELINE, Package};
use crate::fault::Fault;
use crate::fields::unknown_arguments;
use crate::json::{Bounds, ExpectedValue, Malformed, Object, UNKNOWN_NAMES_MAX, Unread, read_object};
use crate::memory_budget::{Exhausted, MemoryBudget, Reservation};
use crate::pipelining::Sink;

/// The media type of every body.
const JSON: &str = "application/json";

/// The media type of forms.
const FORM: &str = "application/x-www-form-urlencoded";

/// The time limit for a body to arrive. A mebibyte in this time is 35 kB/s.
const ARRIVAL_MAX: Duration = Duration::from_secs(30);

/// Bytes of a body that are not counted in the budget: usual calls are smaller than this, and there are no more of them
/// than connections.
const UNCOUNTED_BYTES: usize = 16 * 1024;

/// Bytes of a body whose values are not counted: whatever values they encode, these take less than a hundred times as
/// much memory.
const UNWEIGHED_BYTES: usize = 1024;

/// Bytes of all large bodies in memory at once, read whole or in part, including their values: 256 MiB.
const LARGE_BODIES_BYTES_MAX: usize = 256 << 20;

/// Bytes of an unread body that are read after a refusal, so that the connection can be kept.
const DISCARDED_BYTES_MAX: usize = 64 * 1024;

/// The time limit for reading them.
const DISCARD_MAX: Duration = Duration::from_millis(250);

/// The delay of the refusal of a body that is too large. No more of the body is read in this time, so that callers who
/// send such bodies without a pause take little time from others.
pub(super) const TOO_LARGE_PAUSE: Duration = Duration::from_millis(250);

/// The advised delay before a retry when there was no memory for a body, in seconds.
const RETRY_AFTER_SECONDS: u32 = 1;

/// The budget of large bodies, of one listener.
pub(super) fn budget() -> MemoryBudget {
    MemoryBudget::of(LARGE_BODIES_BYTES_MAX)
}

/// Reserves memory for a body of this size and for its values.
fn reserve(share: &mut Reservation, body_bytes: usize) -> Result<(), ApiError> {
    let grown = share.grow_to(body_bytes.saturating_sub(UNCOUNTED_BYTES));
    grown.map_err(|Exhausted| ApiError::overloaded(RETRY_AFTER_SECONDS))
}

/// Bytes of a pipeline whose own request has no `Authorization`: 64 KiB.
const PIPELINE_WITHOUT_KEY_BYTES_MAX: usize = 64 * 1024;

/// The name of the declaration of all raw endpoints.
pub(super) const RAW_BODY: &str = "raw-body";

/// The limit of a body.
#[derive(Debug, Clone, Copy)]
enum BodyLimit {
    /// That of an interface.
    Package(Package),
    PipelineWithoutKey,
    /// That of a raw endpoint, which has the size of a merchant's.
    Raw,
}

impl BodyLimit {
    fn of(declaration: &Declaration, headers: &HeaderMap) -> BodyLimit {
        if declaration.name == PIPELINE && !headers.contains_key(AUTHORIZATION) {
            return BodyLimit::PipelineWithoutKey;
        }
        if declaration.name == RAW_BODY { BodyLimit::Raw } else { BodyLimit::Package(declaration.package) }
    }

    fn bytes(self) -> usize {
        match self {
            BodyLimit::Package(package) => package.body_bytes_max(),
            BodyLimit::PipelineWithoutKey => PIPELINE_WITHOUT_KEY_BYTES_MAX,
            BodyLimit::Raw => Package::Merchants.body_bytes_max(),
        }
    }

    fn subject(self) -> String {
        match self {
            BodyLimit::Package(package) => format!("/{}", package.segment()),
            BodyLimit::PipelineWithoutKey => "a pipeline without Authorization".to_owned(),
            BodyLimit::Raw => "this address".to_owned(),
        }
    }
}

/// The bytes of a body, with their reservation.
pub(super) struct BodyBytes {
    text: Text,
    share: Reservation,
    limit: BodyLimit,
}

impl BodyBytes {
    /// An empty body of a call to this endpoint.
    pub(super) fn empty(budget: &MemoryBudget, declaration: &Declaration) -> BodyBytes {
        BodyBytes::with_capacity(0, budget, declaration, BodyLimit::Package(declaration.package))
    }

    fn with_capacity(capacity: usize, budget: &MemoryBudget, declaration: &Declaration, limit: BodyLimit) -> BodyBytes {
        let (bytes, carries_card_data) = (Vec::with_capacity(capacity), declaration.flags.carries_card_data);
        BodyBytes { text: Text { bytes, carries_card_data }, share: budget.reservation(), limit }
    }

    /// The bytes.
    pub(super) fn as_bytes(&self) -> &[u8] {
        &self.text.bytes
    }

    /// Their number.
    pub(super) fn len(&self) -> usize {
        self.text.bytes.len()
    }

    /// A copy of the bytes, for a call that may have to be restarted. They are few, and not counted.
    pub(super) fn copied(&self) -> BodyBytes {
        let text = Text { bytes: self.text.bytes.clone(), carries_card_data: self.text.carries_card_data };
        BodyBytes { text, share: self.share.budget().reservation(), limit: self.limit }
    }

    /// Adds bytes that arrived of a body of `announced` bytes. All reserved bytes count as taken, since the buffer
    /// exists twice while it grows.
    fn add(&mut self, chunk: &[u8], announced: usize) -> Result<(), ApiError> {
        let length = self.text.bytes.len() + chunk.len();
        let bytes_max = self.limit.bytes();
        if length > bytes_max {
            return Err(too_large(self.limit));
        }
        if length > self.text.bytes.capacity() {
            let most = if announced > 0 { announced } else { bytes_max };
            let capacity = room_for(length, self.text.bytes.capacity(), most);
            reserve(&mut self.share, capacity)?;
            self.text = self.text.grown_to(capacity);
        }
        self.text.bytes.extend_from_slice(chunk);
        Ok(())
    }
}

/// The body of a pipeline's step is written here instead of being read from a connection.
impl Sink for BodyBytes {
    fn push(&mut self, piece: &str) -> Result<(), ApiError> {
        self.add(piece.as_bytes(), 0)
    }
}

/// The received part of a body. A body that may hold card data is overwritten when it is dropped, whatever the outcome
/// of the call; the web server's own copy of it is not.
struct Text {
    bytes: Vec<u8>,
    carries_card_data: bool,
}

impl Text {
    /// A copy with a larger capacity, which replaces the smaller one.
    fn grown_to(&self, capacity: usize) -> Text {
        let mut bytes = Vec::with_capacity(capacity);
        bytes.extend_from_slice(&self.bytes);
        Text { bytes, carries_card_data: self.carries_card_data }
    }
}

impl Drop for Text {
    fn drop(&mut self) {
        if self.carries_card_data {
            self.bytes.zeroize();
        }
    }
}

/// The arguments of a call. Those with card data are overwritten after the call.
pub(super) struct Body {
    members: Object,
    carries_card_data: bool,
    share: Reservation,
}

impl Body {
    pub(super) fn members(&self) -> &Object {
        &self.members
    }

    /// Parses the arguments of a call to this endpoint. The values that were parsed before a refusal are overwritten as
    /// well.
    pub(super) fn parse(bytes: BodyBytes, declaration: &'static Declaration) -> Result<Body, ApiError> {
        let BodyBytes { text, share, limit: _ } = bytes;
        let mut body = Body { members: Object::new(), carries_card_data: text.carries_card_data, share };
        let mut values = Values { declaration, share: &mut body.share, text: text.bytes.len(), taken: 0, reserved: 0 };
        match read_object(&text.bytes, &mut body.members, &mut values) {
            Ok(()) => Ok(body),
            Err(Unread::Malformed(malformed)) => Err(ApiError::malformed(&malformed)),
            Err(Unread::UnknownNames) => Err(too_many_unknown_names(declaration, &body.members)),
            Err(Unread::NoRoom) => Err(ApiError::overloaded(RETRY_AFTER_SECONDS)),
        }
    }
}

/// The sink of the values of a body while it is parsed: it knows the arguments of the endpoint, and counts the memory
/// that the values take.
struct Values<'s> {
    declaration: &'static Declaration,
    share: &'s mut Reservation,
    /// Bytes of the text itself.
    text: usize,
    taken: usize,
    reserved: usize,
}

impl Bounds for Values<'_> {
    fn expected(&self, name: &str) -> ExpectedValue {
        let arguments = self.declaration.arguments;
        match self.declaration.position(name).and_then(|position| arguments.get(position)) {
            None => ExpectedValue::Nothing,
            Some(argument) if argument.value_type.is_container() => ExpectedValue::Container,
            Some(_) => ExpectedValue::Single,
        }
    }

    /// Reserves memory in growing steps, since other calls reserve from the same budget at the same time.
    fn take(&mut self, bytes: usize) -> bool {
        self.taken += bytes;
        if self.text <= UNWEIGHED_BYTES || self.taken <= self.reserved {
            return true;
        }
        self.reserved = self.taken + self.taken / 8;
        let bytes_max = self.share.budget().bytes_max();
        reserve(self.share, (self.text + self.reserved).min(bytes_max)).is_ok()
    }
}

impl Drop for Body {
    fn drop(&mut self) {
        if self.carries_card_data {
            self.members.values_mut().for_each(Zeroize::zeroize);
        }
    }
}

/// Refuses a body that is not plain `application/json`. Parameters of the media type are ignored.
pub(super) fn check_media_type(headers: &HeaderMap) -> Result<(), ApiError> {
    check_only_type(headers, JSON, "Send the body with Content-Type: application/json.")
}

/// Refuses a body that is not a plain form.
pub(super) fn check_form_media_type(headers: &HeaderMap) -> Result<(), ApiError> {
    check_only_type(headers, FORM, "Send the form with Content-Type: application/x-www-form-urlencoded.")
}

fn check_only_type(headers: &HeaderMap, expected: &str, message: &'static str) -> Result<(), ApiError> {
    let mut types = headers.get_all(CONTENT_TYPE);
    let only = types.next().filter(|_| types.next().is_none());
    if !only.is_some_and(|value| value == expected || is_of_type(value, expected)) {
        return Err(ApiError::new(Code::UnsupportedMediaType, message));
    }
    let is_plain = |value: &str| value.split(',').all(|coding| coding.trim().eq_ignore_ascii_case("identity"));
    if !headers.get_all(CONTENT_ENCODING).all(|value| value.to_str().is_ok_and(is_plain)) {
        return Err(ApiError::new(Code::UnsupportedMediaType, "Send the body without Content-Encoding."));
    }
    Ok(())
}

fn is_of_type(value: &HeaderValue, expected: &str) -> bool {
    let media_type = value.to_str().ok().and_then(|value| value.split(';').next());
    media_type.is_some_and(|name| name.trim().eq_ignore_ascii_case(expected))
}

/// Refuses a body that is announced to be larger than its limit, after a pause.
pub(super) async fn refuse_announced(headers: &HeaderMap, declaration: &Declaration) -> Result<(), ApiError> {
    let limit = BodyLimit::of(declaration, headers);
    if announced_length(headers) <= limit.bytes() {
        return Ok(());
    }
    tokio::time::sleep(TOO_LARGE_PAUSE).await;
    Err(too_large(limit))
}

/// Reads the whole body of a call to this endpoint, and never more than its limit.
pub(super) async fn read(
    headers: &HeaderMap,
    payload: &mut Payload,
    budget: &MemoryBudget,
    declaration: &Declaration,
) -> Result<BodyBytes, ApiError> {
    let (announced, limit) = (announced_length(headers), BodyLimit::of(declaration, headers));
    refuse_announced(headers, declaration).await?;
    // An announced length alone takes no memory.
    let bytes = BodyBytes::with_capacity(announced.min(UNCOUNTED_BYTES), budget, declaration, limit);
    let mut collected = pin!(collect(payload, announced, bytes));
    if let Some(collected) = with_the_head(&mut collected).await {
        return collected;
    }
    tokio::time::timeout(ARRIVAL_MAX, collected).await.unwrap_or_else(|_| Err(incomplete()))
}

/// The body when it arrived together with its head, as nearly all do. Such a body needs no timer. In the turn in which
/// a head arrives, the web server polls the call twice: before and after it hands over what came with the head. So the
/// second poll comes by itself, even when no more of the body arrives.
async fn with_the_head<T>(mut collected: impl Future<Output = T> + Unpin) -> Option<T> {
    let mut is_first_poll = true;
    poll_fn(|context| match collected.poll_unpin(context) {
        Poll::Ready(bytes) => Poll::Ready(Some(bytes)),
        Poll::Pending if mem::take(&mut is_first_poll) => Poll::Pending,
        Poll::Pending => Poll::Ready(None),
    })
    .await
}

/// Reads the rest of a small body, so that the connection can be kept for the next request. For a large body, or one
/// that does not arrive, it does not wait: the connection is closed after the answer.
pub(super) async fn discard(headers: &HeaderMap, payload: &mut Payload) {
    if announced_length(headers) > DISCARDED_BYTES_MAX {
        return;
    }
    let _late = tokio::time::timeout(DISCARD_MAX, async {
        let mut left = DISCARDED_BYTES_MAX;
        while let Some(Ok(chunk)) = payload.next().await {
            let Some(less) = left.checked_sub(chunk.len()) else { return };
            left = less;
        }
    })
    .await;
}

async fn collect(payload: &mut Payload, announced: usize, mut bytes: BodyBytes) -> Result<BodyBytes, ApiError> {
    while let Some(chunk) = payload.next().await {
        bytes.add(&chunk.map_err(|_| incomplete())?, announced)?;
    }
    Ok(bytes)
}

/// Bytes to reserve for a body that has outgrown its reservation of `before` bytes, has now `length` bytes, and may
/// grow to `most`.
fn room_for(length: usize, before: usize, most: usize) -> usize {
    (2 * before).min(most).max(length)
}

fn too_large(limit: BodyLimit) -> ApiError {
    let (bytes, subject) = (limit.bytes(), limit.subject());
    let message = format!("The body is larger than {bytes} bytes, the limit of {subject}. Send less in one call.");
    ApiError::new(Code::BodyTooLarge, message).ending_connection()
}

/// The refusal of a body with so many unknown names that the rest was not read. It does not list missing arguments.
fn too_many_unknown_names(declaration: &'static Declaration, members: &Object) -> ApiError {
    let faults: Vec<Fault> = unknown_arguments(declaration, members).collect();
    let note =
        format!("Reading stopped at {UNKNOWN_NAMES_MAX} unknown arguments; there may be further faults after them.");
    ApiError::invalid_arguments(&faults).with_note(&note)
}

fn incomplete() -> ApiError {
    let message = "the body did not arrive whole: it was cut off, its chunks are malformed, or it took longer than 30 \
        seconds; send it again on a new connection";
    ApiError::malformed(&Malformed::new(message)).ending_connection()
}

#[cfg(test)]
mod tests {
    use actix_web::http::header::HeaderName;

    use super::*;
    use crate::declaration::{Argument, Flags, Returns, ValueType};

    const MERCHANTS: BodyLimit = BodyLimit::Package(Package::Merchants);

    static ALL: Declaration = Declaration {
        name: "take-all",
        package: Package::Merchants,
        group: "tests",
        summary: "Takes any array.",
        docs: "",
        arguments: &[Argument::required("all", ValueType::Array(&ValueType::ANY), "The array.")],
        returns: Returns::Boolean,
        errors: &[],
        flags: Flags::CARD_INTAKE,
    };

    fn headers(pairs: &[(HeaderName, &str)]) -> HeaderMap {
        let pairs = pairs.iter().map(|(name, value)| {
            (name.clone(), HeaderValue::from_str(value).unwrap_or_else(|error| panic!("{error}")))
        });
        let mut headers = HeaderMap::new();
        pairs.for_each(|(name, value)| headers.append(name, value));
        headers
    }

    #[test]
    fn large_bodies_share_a_budget_and_small_ones_do_not_count() {
        let budget = MemoryBudget::of(100);
        let (mut first, mut second) = (budget.reservation(), budget.reservation());
        assert!(reserve(&mut first, UNCOUNTED_BYTES + 61).is_ok() && reserve(&mut second, UNCOUNTED_BYTES).is_ok());
        let refused = reserve(&mut second, UNCOUNTED_BYTES + 40);
        assert!(refused.is_err_and(|error| error.code() == Code::Unavailable));
    }

    #[test]
    fn values_reserve_memory_that_is_returned_after_the_call() {
        let budget = MemoryBudget::of(1 << 20);
        let text = |text: String| Text { bytes: text.into_bytes(), carries_card_data: false };
        let of = |body: String| BodyBytes { text: text(body), share: budget.reservation(), limit: MERCHANTS };
        let all = |items: usize| format!("{{\"all\":[{}0]}}", "0,".repeat(items));
        let first = Body::parse(of(all(10_000)), &ALL);
        assert!(first.is_ok());
        let second = Body::parse(of(all(13_000)), &ALL);
        assert!(second.is_err_and(|error| error.code() == Code::Unavailable));
        drop(first);
        assert!(Body::parse(of(all(13_000)), &ALL).is_ok());
        assert_eq!(budget.reservation().grow_to(1 << 20), Ok(()), "nothing is taken any more");
    }

    #[test]
    fn a_body_of_many_unknown_names_gets_a_bounded_answer() {
        let members: Vec<String> = (0..5_000).map(|number| format!("\"x{number}\":1")).collect();
        let text = Text { bytes: format!("{{{}}}", members.join(",")).into_bytes(), carries_card_data: false };
        let refused = Body::parse(BodyBytes { text, share: budget().reservation(), limit: MERCHANTS }, &ALL).err();
        let Some(error) = refused else { panic!("accepted") };
        assert_eq!(error.details().and_then(|details| details.as_array()).map(Vec::len), Some(UNKNOWN_NAMES_MAX));
        assert!(error.message().contains("stopped at 100"), "{}", error.message());
    }

    #[test]
    fn values_of_an_incomplete_body_with_card_data_are_overwritten() {
        let (mut members, mut room) = (Object::new(), budget().reservation());
        let mut values = Values { declaration: &ALL, share: &mut room, text: 0, taken: 0, reserved: 0 };
        let outcome = read_object(br#"{"number":"4242424242424242","x"#, &mut members, &mut values);
        assert!(matches!(outcome, Err(Unread::Malformed(_))) && members.contains_key("number"));
    }

    #[test]
    fn a_body_that_grows_keeps_its_text_and_its_card_data_mark() {
        let text = Text { bytes: b"4242".to_vec(), carries_card_data: true };
        let grown = text.grown_to(100);
        assert_eq!((grown.bytes.as_slice(), grown.carries_card_data), (&b"4242"[..], true));
        assert!((100..200).contains(&grown.bytes.capacity()));
    }

    #[test]
    fn a_body_reserves_at_most_twice_its_length() {
        for (most, chunk) in [(1 << 20, 1_000), (900_000, 40_000), (1 << 16, 7_000), (20_000, 16_000)] {
            let (mut length, mut capacity) = (0, UNCOUNTED_BYTES.min(most));
            while length + chunk <= most {
                length += chunk;
                if length > capacity {
                    capacity = room_for(length, capacity, most);
                }
                let bound = (2 * length).max(UNCOUNTED_BYTES).min(most);
                assert!((length..=bound).contains(&capacity), "{length} of {most}: {capacity}");
            }
        }
    }

    #[test]
    fn json_is_taken_with_any_parameters() {
        for value in ["application/json", "Application/JSON", "application/json; charset=utf-8", "application/json;x=y"]
        {
            assert!(check_media_type(&headers(&[(CONTENT_TYPE, value)])).is_ok(), "{value}");
        }
        assert!(
            check_media_type(&headers(&[(CONTENT_TYPE, "application/json"), (CONTENT_ENCODING, "identity")])).is_ok()
        );
    }

    #[test]
    fn any_other_media_type_or_encoding_is_refused() {
        for pairs in [
            &[][..],
            &[(CONTENT_TYPE, "text/plain")],
            &[(CONTENT_TYPE, "application/jsonx")],
            &[(CONTENT_TYPE, "application/problem+json")],
            &[(CONTENT_TYPE, "application/json"), (CONTENT_TYPE, "text/plain")],
            &[(CONTENT_TYPE, "application/json"), (CONTENT_ENCODING, "gzip")],
            &[(CONTENT_TYPE, "")],
        ] {
            let refused =
                check_media_type(&headers(pairs)).is_err_and(|error| error.code() == Code::UnsupportedMediaType);
            assert!(refused, "{pairs:?}");
        }
    }
}

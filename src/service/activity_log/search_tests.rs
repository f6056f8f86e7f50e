//! Searches over a log in memory: each filter alone and together, both ways, against a plain look through everything.

use std::collections::BTreeMap;
use std::sync::Arc;

use till_domain::activity::{ActivityObject, ActivityType, PlanSwitch};
use till_domain::apply::apply_rows;
use till_domain::command::Caller;
use till_domain::event::{Event, Mutation};
use till_domain::ids::{DisputeId, IdPosition, KeyId, MerchantId, PaymentId, PayoutId, RawId, RefundId, UserId};
use till_domain::plan::{GROWTH, SCALE};
use till_domain::records::{AnyKey, MemoryRows};
use till_domain::text::Email;
use till_storage::family::Family;
use till_storage::rows::{RowError, RowReader, Visit};
use till_storage::shapes::{MerchantPersonal, MerchantReader, encode_row, row_key};
use till_storage::vault::{Keyring, RootKey};

use super::*;
use crate::service::activity_log::terms::{Addresses, Terms};

const MERCHANT: MerchantId = MerchantId::from_bytes([0xa1; 16]);
const OTHER_MERCHANT: MerchantId = MerchantId::from_bytes([0xa2; 16]);
/// When the first entry is recorded, in milliseconds.
const START: u64 = 1_750_000_000_000;
const ENTRIES: u64 = 1_500;

/// Rows as they stand on disk.
#[derive(Default)]
struct Rows(BTreeMap<(Family, Vec<u8>), Vec<u8>>);

impl RowReader for Rows {
    fn get(&self, family: Family, key: &[u8]) -> Result<Option<Vec<u8>>, RowError> {
        Ok(self.0.get(&(family, key.to_vec())).cloned())
    }

    fn visit(
        &self,
        family: Family,
        lower: &[u8],
        upper: &[u8],
        direction: ScanDirection,
        visit: &mut Visit<'_>,
    ) -> Result<(), RowError> {
        if lower >= upper {
            return Ok(());
        }
        let mut range = self.0.range((family, lower.to_vec())..(family, upper.to_vec()));
        let mut next = || match direction {
            ScanDirection::Forward => range.next(),
            ScanDirection::Backward => range.next_back(),
        };
        while let Some(((_, key), value)) = next()
            && visit(key, value).is_continue()
        {}
        Ok(())
    }
}

/// Numbers that a seed decides.
struct Dice(u64);

impl Dice {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }

    fn once_in(&mut self, times: u64) -> bool {
        self.below(times) == 0
    }

    fn pick<T: Clone>(&mut self, of: &[T]) -> T {
        of[usize::try_from(self.below(u64::try_from(of.len()).expect("small"))).expect("small")].clone()
    }
}

fn raw(number: u64) -> RawId {
    RawId::new(IdPosition { millis: START, counter: 0 }, number)
}

/// Addresses of most entries that have one.
const USUAL: [&str; 7] = [
    "alice@shop.example",
    "bob@shop.example",
    "cleo@shop.example",
    "dan@shop.example",
    "eve@shop.example",
    "sam@till.example",
    "pay_0@x.example",
];
/// Addresses of few.
const RARE: [&str; 5] = ["r1@rare.example", "r2@rare.example", "r3@rare.example", "r4@rare.example", "r5@rare.example"];

fn email(text: &str) -> Email {
    Email::new(text).expect("an address of a test")
}

fn emails() -> Vec<Email> {
    USUAL.iter().chain(&RARE).map(|text| email(text)).collect()
}

fn drawn_email(dice: &mut Dice) -> Email {
    email(if dice.once_in(40) { dice.pick(&RARE) } else { dice.pick(&USUAL) })
}

fn payment(number: u64) -> PaymentId {
    PaymentId::from_raw(raw(number % 6))
}

/// An entry of any type about anything, those included that nothing creates yet.
fn activity(number: u64, dice: &mut Dice) -> Activity {
    let at = START + number * 700 / 3;
    let counter = u16::try_from(number % 3).expect("small");
    let id = ActivityId::from_raw(RawId::new(IdPosition { millis: at, counter }, number));
    let actor = match dice.below(4) {
        0 => Actor::ApiKey(KeyId::from_raw(raw(dice.below(3)))),
        1 => Actor::User { email: Some(drawn_email(dice)) },
        2 => Actor::User { email: None },
        _ => Actor::System,
    };
    let which = dice.below(6);
    let object = match dice.below(5) {
        0 => ActivityObject::Payment(payment(which)),
        1 => ActivityObject::Refund(RefundId::from_raw(raw(which))),
        2 => ActivityObject::Dispute(DisputeId::from_raw(raw(which))),
        3 => ActivityObject::Payout(PayoutId::from_raw(raw(which))),
        _ => ActivityObject::Merchant(MERCHANT),
    };
    let entry = Activity::new(id, Millis(at), dice.pick(&ActivityType::ALL), actor, object);
    let is_about_user = ActivityType::TEAM.contains(&entry.activity_type);
    Activity {
        parent: dice.once_in(2).then(|| payment(which + 1)),
        user_email: is_about_user.then(|| drawn_email(dice)),
        plan_switch: dice.once_in(9).then(|| PlanSwitch { new: SCALE.named(), previous: GROWTH.named() }),
        ..entry
    }
}

/// A log as it stands on disk, and what stands in it, newest first.
struct Log {
    rows: Rows,
    keyring: Arc<Keyring>,
    entries: Vec<Activity>,
}

impl Log {
    fn seeded(seed: u64) -> Log {
        let mut dice = Dice(seed);
        let mut entries: Vec<Activity> = (0..ENTRIES).map(|number| activity(number, &mut dice)).collect();
        let root = RootKey::from_hex(&"0123456789abcdef".repeat(4)).expect("a root key of a test");
        let (keyring, _) = Keyring::create(&root).expect("a key ring can be made");
        let mut log = Log { rows: Rows::default(), keyring: Arc::new(keyring), entries: Vec::new() };
        log.write(MERCHANT, &entries);
        log.write(OTHER_MERCHANT, &[activity(0, &mut dice)]);
        entries.reverse();
        log.entries = entries;
        log
    }

    /// Writes entries as events do, whatever they are about.
    fn write(&mut self, merchant: MerchantId, entries: &[Activity]) {
        let user_id = UserId::from_raw(raw(0));
        let event = |activity: &Activity| Event::UserRemoved { user_id, activity: activity.clone() };
        let events = entries.iter().map(event).collect();
        let last_id = IdPosition::default();
        let mutation = Mutation { at: Millis(START), caller: Caller::System, last_id, answer: None, events };
        let mut rows = MemoryRows::default();
        apply_rows(&mutation, &mut rows).expect("nothing is changed that is not there");
        let mut personal = MerchantPersonal::new(merchant, Arc::clone(&self.keyring), Rows::default());
        for (key, row) in rows.iter() {
            let value = encode_row(row, key, &mut personal).expect("nothing is sealed");
            self.rows.0.insert(row_key(merchant, key, &personal), value);
        }
    }

    fn try_page(&self, selection: &Selection, request: PageRequest<ActivityId>) -> Result<Window, ApiError> {
        let rows: Box<dyn RowReader + '_> = Box::new(&self.rows);
        let view = MerchantReader::new(MERCHANT, Some(Arc::clone(&self.keyring)), rows);
        let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime can be made");
        runtime.block_on(Search { view: &view, selection }.page(request))
    }

    fn page(&self, selection: &Selection, request: PageRequest<ActivityId>) -> Window {
        self.try_page(selection, request).unwrap_or_else(|error| panic!("{error:?}"))
    }

    /// Every entry, page by page from the newest, and then back from the oldest page.
    fn walk(&self, selection: &Selection, per_page: u16) -> (Vec<Activity>, Vec<Activity>) {
        let (mut there, mut back) = (Vec::new(), Vec::new());
        let mut window = self.page(selection, PageRequest { per_page, cursor: None });
        assert!(!window.beside.newer);
        while window.beside.older {
            let last = window.entries.last().expect("a page that is followed by another is full").id;
            there.append(&mut window.entries);
            window = self.page(selection, PageRequest { per_page, cursor: Some(Cursor::After(last)) });
            assert!(window.beside.newer);
        }
        there.extend(window.entries.iter().cloned());
        loop {
            let first = window.entries.first().map(|first| first.id);
            back.splice(0..0, window.entries);
            let Some(first) = first.filter(|_| window.beside.newer) else { return (there, back) };
            window = self.page(selection, PageRequest { per_page, cursor: Some(Cursor::Before(first)) });
            assert!(window.beside.older);
        }
    }
}

/// Filters and what they mean, said without any index.
#[derive(Debug, Clone, Default)]
struct Query {
    types: Option<Vec<ActivityType>>,
    actor_email: Option<Email>,
    actor_key: Option<KeyId>,
    object: Option<ActivityObject>,
    parent: Option<PaymentId>,
    recorded: Option<(u64, u64)>,
    terms: Option<String>,
}

impl Query {
    fn drawn(dice: &mut Dice) -> Query {
        let mut query = Query::default();
        for _ in 0..=dice.below(3) {
            match dice.below(8) {
                0 => query.types = Some(vec![dice.pick(&ActivityType::ALL)]),
                1 => query.types = Some(ActivityType::DISPUTE.to_vec()),
                2 => query.actor_email = Some(dice.pick(&emails())),
                3 => query.actor_key = Some(KeyId::from_raw(raw(dice.below(4)))),
                4 => query.object = Some(activity(0, dice).object),
                5 => query.parent = Some(payment(dice.below(6))),
                6 => {
                    let from = START + dice.below(ENTRIES * 250);
                    query.recorded = Some((from, from + dice.below(100_000)));
                }
                _ => query.terms = Some(Query::drawn_terms(dice)),
            }
        }
        query
    }

    fn drawn_terms(dice: &mut Dice) -> String {
        let whole = activity(0, dice).object.id_text();
        let part = whole[usize::try_from(dice.below(20)).expect("small")..].to_owned();
        let words =
            ["ALICE", "@shop", "@rare", "sam", "example", "pay_", "PAY_0", "nobody@", "m", "rfn_", &whole, &part];
        dice.pick(&words).to_owned()
    }

    fn selection(&self) -> Selection {
        let mut selection = Selection::default();
        let mut narrow = |indexes: Option<Vec<ActivityIndex>>| {
            if let Some(indexes) = indexes {
                selection.any_of(indexes);
            }
        };
        narrow(self.types.as_ref().map(|types| types.iter().copied().map(ActivityIndex::Type).collect()));
        narrow(self.actor_email.clone().map(|email| vec![ActivityIndex::ActorEmail(email)]));
        narrow(self.actor_key.map(|key_id| vec![ActivityIndex::ActorKey(key_id)]));
        narrow(self.object.map(|object| vec![ActivityIndex::Object(object)]));
        narrow(self.parent.map(|parent| vec![ActivityIndex::Parent(parent)]));
        let terms = self.terms.as_ref().map(|text| {
            let mut matching = emails();
            matching.retain(|email| email.as_str().contains(&text.to_lowercase()));
            Terms::new(text, &Addresses { matching, all: emails().len() }, Some(&emails()))
        });
        match terms {
            Some(Terms::Indexes(indexes)) => selection.any_of(indexes),
            Some(Terms::ManyAddresses { exact, among, text }) => selection.any_of_likely_among(exact, among, text),
            Some(Terms::Rows(text)) => selection.containing(text),
            None => {}
        }
        if let Some((from, until)) = self.recorded {
            selection.recorded(Millis(from), Millis(until));
        }
        selection
    }

    fn passes(&self, entry: &Activity) -> bool {
        let actor_email = if let Actor::User { email } = &entry.actor { email.clone() } else { None };
        let actor_key = if let Actor::ApiKey(key_id) = entry.actor { Some(key_id) } else { None };
        let texts = [
            actor_email.as_ref().map(|email| email.as_str().to_owned()),
            entry.user_email.as_ref().map(|email| email.as_str().to_owned()),
            Some(entry.object.id_text()),
            entry.parent.map(|parent| parent.to_string()),
        ];
        self.types.as_ref().is_none_or(|types| types.contains(&entry.activity_type))
            && self.actor_email.as_ref().is_none_or(|email| actor_email.as_ref() == Some(email))
            && self.actor_key.is_none_or(|key_id| actor_key == Some(key_id))
            && self.object.is_none_or(|object| entry.object == object)
            && self.parent.is_none_or(|parent| entry.parent == Some(parent))
            && self.recorded.is_none_or(|(from, until)| (from..until).contains(&entry.at.0))
            && self.terms.as_ref().is_none_or(|terms| {
                let terms = terms.to_lowercase();
                texts.iter().flatten().any(|text| text.contains(&terms))
            })
    }
}

#[test]
fn filters_alone_and_together_are_exact_and_page_both_ways() {
    let log = Log::seeded(1);
    let mut dice = Dice(2);
    let mut found = 0;
    for _ in 0..400 {
        let query = Query::drawn(&mut dice);
        let expected: Vec<Activity> = log.entries.iter().filter(|entry| query.passes(entry)).cloned().collect();
        let per_page = u16::try_from(1 + dice.below(100)).expect("small");
        let (there, back) = log.walk(&query.selection(), per_page);
        assert_eq!(there, expected, "{query:?}");
        assert_eq!(back, expected, "{query:?} backwards");
        found += expected.len();
    }
    assert!(found > 10_000, "the filters find something: {found}");
}

#[test]
fn every_type_is_found_by_its_filter_and_the_group_by_its_three() {
    let log = Log::seeded(3);
    let of = |types: &[ActivityType]| {
        let query = Query { types: Some(types.to_vec()), ..Query::default() };
        log.walk(&query.selection(), 100).0
    };
    let each: Vec<Vec<Activity>> = ActivityType::ALL.iter().map(|found| of(&[*found])).collect();
    for (entries, expected) in each.iter().zip(ActivityType::ALL) {
        assert!(entries.len() > 10 && entries.iter().all(|entry| entry.activity_type == expected), "{expected:?}");
    }
    let group = of(&ActivityType::DISPUTE);
    let [challenged, conceded, escalated] = [5, 6, 7].map(|place: usize| each[place].len());
    assert_eq!(group.len(), challenged + conceded + escalated);
    assert!(group.is_sorted_by(|newer, older| newer.id > older.id));
}

#[test]
fn a_cursor_that_names_nothing_stands_for_its_place() {
    let log = Log::seeded(4);
    let query = Query { types: Some(vec![ActivityType::RefundCreated]), ..Query::default() };
    let all = log.walk(&query.selection(), 100).0;
    let between = ActivityId::from_raw(RawId::new(IdPosition { millis: all[3].at.0 + 1, counter: 9 }, 0));
    let page = |cursor| log.page(&query.selection(), PageRequest { per_page: 2, cursor: Some(cursor) }).entries;
    assert_eq!(page(Cursor::After(between)), all[3..5]);
    assert_eq!(page(Cursor::Before(between)), all[1..3]);
}

#[test]
fn ends_of_time_and_of_ids_are_no_special_places() {
    let log = Log::seeded(5);
    let mut nothing = Selection::default();
    nothing.recorded(Millis(0), Millis(0));
    let mut everything = Selection::default();
    everything.recorded(Millis(0), Millis(u64::MAX));
    assert!(log.walk(&nothing, 10).0.is_empty());
    assert_eq!(log.walk(&everything, 100).0.len(), log.entries.len());
    for (cursor, beside) in [
        (Cursor::After(ActivityId::from_bytes([0; 16])), Beside { newer: true, older: false }),
        (Cursor::Before(ActivityId::from_bytes([u8::MAX; 16])), Beside { newer: false, older: true }),
    ] {
        assert_eq!(
            log.page(&everything, PageRequest { per_page: 1, cursor: Some(cursor) }),
            Window { entries: Vec::new(), beside }
        );
    }
}

#[test]
fn beside_a_page_without_entries_is_what_passes_the_filters_the_cursors_own_entry_too() {
    let log = Log::seeded(7);
    let query = Query { types: Some(vec![ActivityType::RefundCreated]), ..Query::default() };
    let all = log.walk(&query.selection(), 100).0;
    let (newest, oldest) = (all[0].id, all[all.len() - 1].id);
    let page = |selection: &Selection, cursor| log.page(selection, PageRequest { per_page: 2, cursor: Some(cursor) });
    let beside = |newer, older| Window { entries: Vec::new(), beside: Beside { newer, older } };
    assert_eq!(page(&query.selection(), Cursor::After(oldest)), beside(true, false));
    assert_eq!(page(&query.selection(), Cursor::Before(newest)), beside(false, true));
    let recorded = |at: Millis| Query { recorded: Some((at.0, at.0 + 1)), ..query.clone() }.selection();
    let only = recorded(all[0].at);
    assert_eq!(page(&only, Cursor::After(newest)), beside(true, false), "the cursor's own entry is one");
    let nothing = recorded(Millis(START - 1));
    assert_eq!(page(&nothing, Cursor::After(newest)), beside(false, false));
}

#[test]
fn an_index_that_names_an_entry_that_is_not_there_is_an_error_and_no_gap() {
    let mut log = Log::seeded(6);
    let personal = MerchantReader::new(MERCHANT, None, Rows::default());
    log.rows.0.remove(&row_key(MERCHANT, &AnyKey::Activities(log.entries[0].id), &personal));
    let query = Query { types: Some(vec![log.entries[0].activity_type]), ..Query::default() };
    assert!(log.try_page(&query.selection(), PageRequest { per_page: 1, cursor: None }).is_err());
}

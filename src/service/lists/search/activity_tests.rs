//! Searches of an activity log in memory: each filter alone and together, both ways, against a plain look through
//! everything.

use till_domain::activity::{Activity, ActivityObject, ActivityType, Actor, PlanSwitch};
use till_domain::cursor::Cursor;
use till_domain::event::Event;
use till_domain::ids::{
    ActivityId, DisputeId, IdPosition, KeyId, MerchantId, PaymentId, PayoutId, RawId, RefundId, UserId,
};
use till_domain::plan::{GROWTH, SCALE};
use till_domain::records::AnyKey;
use till_domain::text::Email;
use till_domain::time::Millis;
use till_protocol::field::ListPageRequest;
use till_storage::rows::Beside;
use till_storage::shapes::{ActivityIndex, MerchantReader, row_key};

use super::activity_terms::{ActivityTerms, Addresses};
use super::search::{Selection, Window};
use super::test_list::{Dice, MERCHANT, Rows, START, TestList};

const OTHER_MERCHANT: MerchantId = MerchantId::from_bytes([0xa2; 16]);
const ENTRIES: u64 = 1_500;

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
/// Addresses of few entries: so many addresses that the rows are looked at first, in vain.
const RARE: [&str; 7] = [
    "r1@rare.example",
    "r2@rare.example",
    "r3@rare.example",
    "r4@rare.example",
    "r5@rare.example",
    "r6@rare.example",
    "r7@rare.example",
];

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
    let actor = match dice.number_below(4) {
        0 => Actor::ApiKey(KeyId::from_raw(raw(dice.number_below(3)))),
        1 => Actor::User { email: Some(drawn_email(dice)) },
        2 => Actor::User { email: None },
        _ => Actor::System,
    };
    let which = dice.number_below(6);
    let object = match dice.number_below(5) {
        0 => ActivityObject::Payment(payment(which)),
        1 => ActivityObject::Refund(RefundId::from_raw(raw(which))),
        2 => ActivityObject::Dispute(DisputeId::from_raw(raw(which))),
        3 => ActivityObject::Payout(PayoutId::from_raw(raw(which))),
        _ => ActivityObject::Merchant(MERCHANT),
    };
    let entry = Activity::new(id, Millis(at), dice.pick(&ActivityType::ALL), actor, object);
    let is_about_user = matches!(
        entry.activity_type,
        ActivityType::UserInvited | ActivityType::InvitationAccepted | ActivityType::UserRemoved
    );
    Activity {
        parent: dice.once_in(2).then(|| payment(which + 1)),
        user_email: is_about_user.then(|| drawn_email(dice)),
        plan_switch: dice.once_in(9).then(|| PlanSwitch { new: SCALE.named_plan(), previous: GROWTH.named_plan() }),
        ..entry
    }
}

/// A stored log, and its entries, newest first.
struct Log {
    list: TestList,
    entries: Vec<Activity>,
}

impl Log {
    fn seeded(seed: u64) -> Log {
        let mut dice = Dice(seed);
        let mut entries: Vec<Activity> = (0..ENTRIES).map(|number| activity(number, &mut dice)).collect();
        let mut list = TestList::new();
        write(&mut list, MERCHANT, &entries);
        write(&mut list, OTHER_MERCHANT, &[activity(0, &mut dice)]);
        list.store();
        entries.reverse();
        Log { list, entries }
    }

    fn page(&self, selection: &Selection<ActivityIndex>, request: ListPageRequest<ActivityId>) -> Window<Activity> {
        self.list.page(selection, request)
    }

    fn walk(&self, selection: &Selection<ActivityIndex>, per_page: u16) -> (Vec<Activity>, Vec<Activity>) {
        self.list.walk(selection, per_page, |entry| entry.id)
    }
}

/// Writes entries as events do, each about anything.
fn write(list: &mut TestList, merchant: MerchantId, entries: &[Activity]) {
    let user_id = UserId::from_raw(raw(0));
    let event = |activity: &Activity| Event::UserRemoved { user_id, activity: activity.clone() };
    list.write(merchant, entries.iter().map(event).collect());
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
    fn draw(dice: &mut Dice) -> Query {
        let mut query = Query::default();
        for _ in 0..=dice.number_below(3) {
            match dice.number_below(8) {
                0 => query.types = Some(vec![dice.pick(&ActivityType::ALL)]),
                1 => query.types = Some(ActivityType::DISPUTE.to_vec()),
                2 => query.actor_email = Some(dice.pick(&emails())),
                3 => query.actor_key = Some(KeyId::from_raw(raw(dice.number_below(4)))),
                4 => query.object = Some(activity(0, dice).object),
                5 => query.parent = Some(payment(dice.number_below(6))),
                6 => {
                    let from = START + dice.number_below(ENTRIES * 250);
                    query.recorded = Some((from, from + dice.number_below(100_000)));
                }
                _ => query.terms = Some(Query::drawn_terms(dice)),
            }
        }
        query
    }

    fn drawn_terms(dice: &mut Dice) -> String {
        let whole = activity(0, dice).object.id_text();
        let part = whole[usize::try_from(dice.number_below(20)).expect("small")..].to_owned();
        let words =
            ["ALICE", "@shop", "@rare", "sam", "example", "pay_", "PAY_0", "nobody@", "m", "rfn_", &whole, &part];
        dice.pick(&words).to_owned()
    }

    fn selection(&self) -> Selection<ActivityIndex> {
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
            ActivityTerms::new(text, Addresses { matching, all: emails().len() })
        });
        if let Some(terms) = terms {
            terms.select(&mut selection);
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
        let query = Query::draw(&mut dice);
        let expected: Vec<Activity> = log.entries.iter().filter(|entry| query.passes(entry)).cloned().collect();
        let per_page = u16::try_from(1 + dice.number_below(100)).expect("small");
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
    let page = |cursor| log.page(&query.selection(), ListPageRequest { per_page: 2, cursor: Some(cursor) }).entries;
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
            log.page(&everything, ListPageRequest { per_page: 1, cursor: Some(cursor) }),
            Window { entries: Vec::new(), beside }
        );
    }
}

#[test]
fn the_neighbours_of_an_empty_page_pass_the_filters() {
    let log = Log::seeded(7);
    let query = Query { types: Some(vec![ActivityType::RefundCreated]), ..Query::default() };
    let all = log.walk(&query.selection(), 100).0;
    let (newest, oldest) = (all[0].id, all[all.len() - 1].id);
    let page = |selection: &Selection<ActivityIndex>, cursor| {
        log.page(selection, ListPageRequest { per_page: 2, cursor: Some(cursor) })
    };
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
fn a_missing_indexed_entry_is_an_error_and_no_gap() {
    let mut log = Log::seeded(6);
    let personal = MerchantReader::new(MERCHANT, None, Rows::default());
    log.list.rows.0.remove(&row_key(MERCHANT, &AnyKey::Activities(log.entries[0].id), &personal));
    let query = Query { types: Some(vec![log.entries[0].activity_type]), ..Query::default() };
    assert!(log.list.try_page(&query.selection(), ListPageRequest { per_page: 1, cursor: None }).is_err());
}

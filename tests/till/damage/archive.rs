//! The promise about a damaged segment of the archive: `till archive verify`, a restore and a start that needs it name
//! the file, or nothing is missing. Only the last write of the open segment may count as torn by a crash, as
//! `docs/storage-format.md` says: then a message says so, and everything except that write is there.

use super::campaign::Detection;
use super::image::{Copy, Image, archiving, name_of, start};
use super::kinds::Damage;
use super::restored::{CommandOutput, Restored, restore, run, with_archive};
use crate::harness::{Server, text};

/// The words of the message about a write that counts as torn.
const TORN: &str = "is torn";

/// Checks the promise for a damaged archive.
pub(super) fn judge(image: &Image, copy: &Copy, damage: &Damage) -> Detection {
    let archive = copy.archive();
    let verified = run(&["archive", "verify", text(&archive)], copy, &damage.what);
    let outcome = match restore(copy, "early", "from-archive", &with_archive(&archive), &damage.what) {
        Restored::Refused(reason) => {
            assert_named(&reason, damage);
            assert_ne!(verified.code, Some(0), "{}: a restore refuses what verify passes", damage.what);
            Detection::Restore
        }
        Restored::Serves(server, printed) => judge_restored(image, &server, &printed, &verified, damage),
    };
    if verified.code != Some(0) {
        assert_named(&verified.text, damage);
    }
    judge_going_on(image, copy, damage);
    outcome
}

fn assert_named(printed: &str, damage: &Damage) {
    let is_named = printed.contains(&name_of(&damage.file)) && printed.contains("offset ");
    assert!(is_named, "{}: the place is not named: {printed}", damage.what);
}

fn judge_restored(
    image: &Image,
    server: &Server,
    printed: &str,
    verified: &CommandOutput,
    damage: &Damage,
) -> Detection {
    let is_torn = printed.contains(TORN);
    assert!(!is_torn || name_of(&damage.file).ends_with(".open"), "{}: a closed segment is not torn", damage.what);
    assert_eq!(is_torn, verified.text.contains(TORN), "{}: {}", damage.what, verified.text);
    assert_served(image, server, u64::from(is_torn), damage);
    match verified.code {
        Some(0) if is_torn => Detection::Torn,
        Some(0) => Detection::Harmless,
        // The restore did not need that segment: the checkpoint has its commits.
        _ => Detection::Verify,
    }
}

/// Checks that everything is there except `lost` of the last commits.
fn assert_served(image: &Image, server: &Server, lost: u64, damage: &Damage) {
    let refused: usize =
        image.witnesses.iter().map(|witness| witness.ask_all(&witness.shop.on(server), &damage.what)).sum();
    assert_eq!(refused, 0, "{}: calls were refused", damage.what);
    let there = image.last_topups(server);
    assert_eq!(there + lost, image.topups_acknowledged(), "{}: of the last commits", damage.what);
}

/// A server that is to continue the archive refuses it by name, or continues; then a restore has everything that it
/// acknowledged, or names what is damaged or missing.
fn judge_going_on(image: &Image, copy: &Copy, damage: &Damage) {
    let data = copy.data();
    let mut server = match archiving(start(), &data).try_server_on(&data, None) {
        Err(message) => return assert_named(&message, damage),
        Ok(server) => server,
    };
    image.add_last_topup(&server);
    assert_served_and(image, &server, 1, damage);
    assert!(server.stop(), "{}: a stop ends well", damage.what);
    let archive = copy.archive();
    match restore(copy, "early", "after-going-on", &with_archive(&archive), &damage.what) {
        Restored::Refused(reason) if reason.contains("are not in the archive") => {}
        Restored::Refused(reason) => assert_named(&reason, damage),
        Restored::Serves(server, _) => assert_served_and(image, &server, 1, damage),
    }
}

/// Checks that everything is there, with `more` further commits.
fn assert_served_and(image: &Image, server: &Server, more: u64, damage: &Damage) {
    let there = image.last_topups(server);
    assert_eq!(there, image.topups_acknowledged() + more, "{}: of the last commits", damage.what);
}

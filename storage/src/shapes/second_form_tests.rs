//! A second form of a shape, as a later release adds one: made up, since there is none yet.

use till_domain::records::Unreadable;

use super::codec::{self, Decode, Out, ShapeError};
use super::frozen;
use super::personal::{NoPersonal, Personal};
use super::shape::Shape;
use super::tables::{FIRST_ROW_FORMAT, decode_form, push_form};
use crate::{frozen_enum, frozen_struct};

/// A value of the domain that got a label after its first release.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Parcel {
    grams: u64,
    label: Option<String>,
}

#[derive(Debug, Decode)]
pub(super) struct ParcelOne {
    grams: u64,
}

impl ParcelOne {
    const fn holds(parcel: &Parcel) -> bool {
        parcel.label.is_none()
    }
}

impl Shape<Parcel> for ParcelOne {
    fn write(parcel: &Parcel, personal: &mut dyn Personal, out: &mut Out) -> Result<(), Unreadable> {
        u64::write(&parcel.grams, personal, out)
    }

    fn unpack(self, _: &dyn Personal) -> Result<Parcel, ShapeError> {
        Ok(Parcel { grams: self.grams, label: None })
    }
}

frozen_struct! {
    ParcelTwo of Parcel {
        grams: u64,
        label: Option<String>,
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Notice {
    Sent(Parcel),
    Lost,
}

frozen_enum! {
    NoticeOne of Notice {
        Sent(parcel: ParcelOne) if ParcelOne::holds(parcel),
        Lost,
        SentV2 of Sent(parcel: ParcelTwo),
    }
}

fn parcel(label: Option<&str>) -> Parcel {
    Parcel { grams: 7, label: label.map(str::to_owned) }
}

fn push(row: &Parcel) -> Result<Vec<u8>, Unreadable> {
    let (mut bytes, personal) = (Vec::new(), &mut NoPersonal);
    let written = push_form!(Parcels, row, personal, &mut bytes; ParcelOne, if ParcelOne::holds, else 2 ParcelTwo);
    written.map(|()| bytes)
}

fn read(bytes: &[u8]) -> Result<Parcel, ShapeError> {
    let personal = &NoPersonal;
    decode_form!(Parcels, bytes, personal; ParcelOne, else 2 ParcelTwo)
}

#[test]
fn a_row_is_written_in_the_first_form_that_holds_it_and_read_in_any() {
    for (row, bytes) in [(parcel(None), vec![1, 7]), (parcel(Some("a")), vec![2, 7, 1, 1, b'a'])] {
        assert_eq!(push(&row), Ok(bytes.clone()));
        assert_eq!(read(&bytes), Ok(row));
    }
    assert_eq!(read(&[3, 7]), Err(ShapeError::UnknownFormat { what: "Parcels", found: 3 }));
}

#[test]
fn an_event_that_its_first_form_cannot_hold_is_written_in_the_later_one_at_the_end() {
    let events = [
        (Notice::Sent(parcel(None)), vec![1, 0, 7]),
        (Notice::Lost, vec![1, 1]),
        (Notice::Sent(parcel(Some("a"))), vec![1, 2, 7, 1, 1, b'a']),
    ];
    for (event, bytes) in events {
        assert_eq!(frozen::encode::<NoticeOne, _>("notice", 1, &event), Ok(bytes.clone()));
        assert_eq!(frozen::decode::<NoticeOne, _>("notice", 1, &bytes), Ok(event));
    }
    let newer = frozen::decode::<NoticeOne, Notice>("notice", 1, &[1, 3]);
    assert!(matches!(newer, Err(ShapeError::Undecodable { .. })), "{newer:?}");
}

//! The activity log with its indexes, each in the order in which it is listed.

use crate::activity::{Activity, Actor};
use crate::ids::ActivityId;
use crate::records::{
    Activities, ActivitiesByActorEmail, ActivitiesByActorKey, ActivitiesByEmail, ActivitiesByObject,
    ActivitiesByParent, ActivitiesByType, ActivitiesWithEmail, ActivityEmails, EmailUse, Present, RowsMut, Unreadable,
};
use crate::text::Email;

/// Writes an entry and all its index rows.
pub(super) fn log_activity(activity: &Activity, rows: &mut impl RowsMut) -> Result<(), Unreadable> {
    let id = activity.id;
    rows.put::<Activities>(id, activity.clone());
    rows.put::<ActivitiesByType>((activity.activity_type, id), Present);
    rows.put::<ActivitiesByObject>((activity.object, id), Present);
    if let Some(parent) = activity.parent {
        rows.put::<ActivitiesByParent>((parent, id), Present);
    }
    if let Some(email) = &activity.user_email {
        index_email(email, id, rows);
        note_email(email, false, rows)?;
    }
    match &activity.actor {
        Actor::User { email: Some(email) } => {
            rows.put::<ActivitiesByActorEmail>((email.clone(), id), Present);
            index_email(email, id, rows);
            note_email(email, true, rows)
        }
        Actor::ApiKey(key_id) => {
            rows.put::<ActivitiesByActorKey>((*key_id, id), Present);
            Ok(())
        }
        Actor::User { email: None } | Actor::System => Ok(()),
    }
}

/// Writes the index rows of an address that an entry has.
fn index_email(email: &Email, id: ActivityId, rows: &mut impl RowsMut) {
    rows.put::<ActivitiesByEmail>((email.clone(), id), Present);
    rows.put::<ActivitiesWithEmail>(id, Present);
}

/// Keeps an address in the dictionary. An address that has belonged to the merchant once is marked so for ever.
pub(super) fn note_email(email: &Email, belongs: bool, rows: &mut impl RowsMut) -> Result<(), Unreadable> {
    let known = rows.get::<ActivityEmails>(email.clone())?;
    let has_belonged = belongs || known.is_some_and(|known| known.has_belonged);
    let noted = EmailUse { has_belonged };
    if known != Some(noted) {
        rows.put::<ActivityEmails>(email.clone(), noted);
    }
    Ok(())
}

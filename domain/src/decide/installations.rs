//! Installations of the client SDK: added, changed, removed.

use super::context::{Context, Decision};
use crate::command::{AddInstallation, UpdateInstallation};
use crate::event::{Answer, Event};
use crate::ids::InstallationId;
use crate::merchant::{INSTALLATIONS_MAX, Installation};
use crate::records::MerchantState;
use crate::refusal::Refusal;

pub(super) fn add_installation(
    state: &MerchantState,
    command: &AddInstallation,
    context: &mut Context<'_>,
) -> Result<(Decision, Answer), Refusal> {
    if state.installations.len() >= INSTALLATIONS_MAX {
        return Err(Refusal::TooMany { kind: "installations", limit: INSTALLATIONS_MAX });
    }
    let installation = Installation {
        id: context.mint(),
        name: command.name.clone(),
        platform: command.platform,
        identifier: command.identifier.clone(),
        created_at: context.now,
    };
    let answer = Answer::Installation(installation.id);
    Ok((Decision::one(Event::InstallationAdded(installation)), answer))
}

pub(super) fn update_installation(
    state: &MerchantState,
    command: &UpdateInstallation,
) -> Result<(Decision, Answer), Refusal> {
    let before = state.installations.get(&command.installation_id).ok_or(Refusal::InstallationNotFound)?;
    let after = Installation {
        name: command.name.as_ref().unwrap_or(&before.name).clone(),
        identifier: command.identifier.as_ref().unwrap_or(&before.identifier).clone(),
        ..before.clone()
    };
    if after == *before {
        return Ok((Decision::nothing(), Answer::Changed(false)));
    }
    Ok((Decision::one(Event::InstallationUpdated(after)), Answer::Changed(true)))
}

/// Everything that was made at it stays: its sessions can be paid, and its tokens be selected at other installations.
pub(super) fn remove_installation(
    state: &MerchantState,
    installation_id: InstallationId,
) -> Result<(Decision, Answer), Refusal> {
    if !state.installations.contains_key(&installation_id) {
        return Err(Refusal::InstallationNotFound);
    }
    Ok((Decision::one(Event::InstallationRemoved { installation_id }), Answer::Changed(true)))
}

//! The address at which the owner of the demo merchant joins, to open in a browser.

use std::io::Write;

use anyhow::bail;
use till_actors::Denied;
use till_domain::command::{Caller, Command, InviteUser, Request, TeamChange};
use till_domain::event::Answer;
use till_domain::ids::MerchantId;
use till_domain::refusal::Refusal;
use till_domain::role::Role;
use till_domain::text::Email;

use super::first_session::Reached;
use super::merchant::Demo;
use crate::service::Shared;

/// The address by which the owner signs in. Nothing is sent to it.
const EMAIL: &str = "owner@till.example";

/// Invites the owner, unless that was done before, and prints the address at which to join, later to sign in.
pub(super) async fn invite_and_print(service: &Shared, demo: &Demo, reached: &Reached) -> anyhow::Result<()> {
    let merchant_id: MerchantId = demo.merchant_id.parse()?;
    let invite = InviteUser { email: Email::new(EMAIL)?, role: Role::Owner, refund_limit: None };
    let command = Command::ChangeTeam(merchant_id, TeamChange::InviteUser(invite));
    let request = Request { caller: Caller::Operator, idempotency: None, command };
    let invited = service.engine().submit(merchant_id, request, None).await;
    let (does, path) = match invited.map(|invited| invited.answer) {
        Ok(Answer::Invitation(id)) | Err(Denied::Refused(Refusal::AlreadyInvited { invitation_id: id })) => {
            ("joins", service.invitation_path(merchant_id, id))
        }
        Err(Denied::Refused(Refusal::AlreadyMember { user_id: _ })) => {
            ("signs in", format!("/dashboard/{merchant_id}"))
        }
        other => bail!("the owner of the demo merchant was not invited: {other:?}"),
    };
    let address = reached.address(&path);
    let text = format!("\nThe dashboard of the demo merchant, where its owner, {EMAIL}, {does}:\n\n  {address}\n");
    let _ = std::io::stdout().write_all(text.as_bytes()); // The parent process may not be reading.
    Ok(())
}

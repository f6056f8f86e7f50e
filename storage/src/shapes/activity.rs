//! Shapes of the activity log, the team and the plan. The addresses are those of the merchant's and the
//! operator's own staff, not of customers, and are stored in clear.

use till_domain::activity::{Activity, ActivityObject, Actor, PlanSwitch};
use till_domain::plan::{NamedPlan, PlanChoice};
use till_domain::records::EmailUse;
use till_domain::team::{Acceptance, CredentialsReset, Invitation, Seat, SeatChange, SignInCode, User};

use super::declared::{shape_enum, shape_struct};
use super::tag::Tag;

shape_enum! {
    /// The person or program that acted.
    ActorV1 of Actor {
        User { email: Option<String> },
        ApiKey(key_id: [u8; 16]),
        System,
    }
}

shape_enum! {
    /// The object that an activity is about.
    ActivityObjectV1 of ActivityObject {
        Payment(payment_id: [u8; 16]),
        Refund(refund_id: [u8; 16]),
        Dispute(dispute_id: [u8; 16]),
        Payout(payout_id: [u8; 16]),
        Merchant(merchant_id: [u8; 16]),
    }
}

shape_struct! {
    /// A plan under the name that it had.
    NamedPlanV1 of NamedPlan {
        id: [u8; 16],
        name: String,
    }
}

shape_struct! {
    /// The change from one plan to another.
    PlanSwitchV1 of PlanSwitch {
        new: NamedPlanV1,
        previous: NamedPlanV1,
    }
}

shape_struct! {
    /// One entry of the activity log.
    ActivityV1 of Activity {
        id: [u8; 16],
        at: u64,
        activity_type: Tag,
        actor: ActorV1,
        object: ActivityObjectV1,
        parent: Option<[u8; 16]>,
        user_email: Option<String>,
        plan_switch: Option<PlanSwitchV1>,
    }
}

shape_struct! {
    /// The role of an address of the activity log for the merchant.
    EmailUseV1 of EmailUse {
        has_belonged: bool,
    }
}

shape_struct! {
    /// The acceptance of an invitation.
    AcceptanceV1 of Acceptance {
        user_id: [u8; 16],
        at: u64,
    }
}

shape_struct! {
    /// An invitation to the team.
    InvitationV1 of Invitation {
        id: [u8; 16],
        email: String,
        created_at: u64,
        expires_at: u64,
        accepted: Option<AcceptanceV1>,
        role: Tag,
        refund_limit: Option<u64>,
        inviter_id: Option<[u8; 16]>,
    }
}

shape_struct! {
    /// A user: a member of the team.
    UserV1 of User {
        id: [u8; 16],
        email: String,
        invitation_id: [u8; 16],
        created_at: u64,
        role: Tag,
        refund_limit: Option<u64>,
        sessions_ended: u32,
        seat: SeatV1,
    }
}

shape_struct! {
    /// The signing in of a member.
    SeatV1 of Seat {
        credentials_at: Option<u64>,
        last_step: u64,
        recovery_used: u16,
        last_signed_in_at: Option<u64>,
        reset: Option<CredentialsResetV1>,
    }
}

shape_struct! {
    /// A permission to set a member's credentials anew.
    CredentialsResetV1 of CredentialsReset {
        id: [u8; 16],
        expires_at: u64,
    }
}

shape_enum! {
    /// A code of a member.
    SignInCodeV1 of SignInCode {
        Authenticator { step: u64 },
        Recovery { number: u8 },
    }
}

shape_enum! {
    /// A change of a member's seat.
    SeatChangeV1 of SeatChange {
        ResetAllowed(reset: CredentialsResetV1),
        CredentialsSet { part: Tag, step: Option<u64> },
        CodeUsed(code: SignInCodeV1),
        SignedIn(code: SignInCodeV1),
        SessionsEnded,
    }
}

shape_struct! {
    /// A plan that was selected.
    PlanChoiceV1 of PlanChoice {
        plan: NamedPlanV1,
        since: u64,
    }
}

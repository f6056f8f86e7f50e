//! Shape of the activity log. Who acted is no customer, and stands in clear.

use till_domain::activity::{Activity, ActivityObject, ActivityType, Actor};

use super::shape::{shape_enum, shape_struct};

shape_enum! {
    /// What happened.
    ActivityTypeV1 of ActivityType {
        PaymentCaptured,
        PaymentVoided,
    }
}

shape_enum! {
    /// Who did it.
    ActorV1 of Actor {
        User { email: Option<String> },
        ApiKey(key_id: [u8; 16]),
        System,
    }
}

shape_enum! {
    /// To what.
    ActivityObjectV1 of ActivityObject {
        Payment(payment_id: [u8; 16]),
    }
}

shape_struct! {
    /// One entry of the activity log.
    ActivityV1 of Activity {
        id: [u8; 16],
        at: u64,
        activity_type: ActivityTypeV1,
        actor: ActorV1,
        object: ActivityObjectV1,
    }
}

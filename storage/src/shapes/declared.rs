//! Declarations of shapes whose values are shown to an operator.

use till_domain::ids::IdPosition;

/// [`frozen_struct!`], shown to an operator. A field with sealed parts names their labels after `as`, and the struct at
/// its end the subject under whose key they are sealed, by fields before them:
///
/// ```text
/// TokenV1 of Token { id: [u8; 16], card: CardFactsV1 as "token.holder", } sealed under SubjectId::token(*id)
/// ```
macro_rules! shape_struct {
    ($(#[$doc:meta])* $name:ident of $domain:ident { $($field:ident: $kind:ty,)+ }) => {
        $crate::shapes::shape::unshown_struct! { $(#[$doc])* $name of $domain { $($field: $kind,)+ } }
        $crate::shapes::shown::shown_struct! { $domain { $($field),+ } }
    };
    ($(#[$doc:meta])* $name:ident of $domain:ident {
        $($field:ident: $kind:ty $(as $labels:expr)?,)+
    } sealed under $subject:expr) => {
        $crate::shapes::sealed::sealed_struct! {
            $(#[$doc])* $name of $domain { $($field: $kind $(as $labels)?,)+ } sealed under $subject
        }
        #[cfg(test)]
        $crate::shapes::drawn::drawn_struct! { $name of $domain { $($field: $kind,)+ } }
        $crate::shapes::shown::shown_struct! { $domain { $($field),+ } }
    };
}

/// [`frozen_enum!`], shown to an operator.
macro_rules! shape_enum {
    ($($declaration:tt)+) => {
        $crate::frozen_enum! { $($declaration)+ }
        #[cfg(test)]
        $crate::shapes::drawn::drawn_enum! { $($declaration)+ }
        $crate::shapes::shown::shown_enum! { $($declaration)+ }
    };
}

pub(super) use {shape_enum, shape_struct};

shape_struct! {
    /// The position of the last id in its merchant's order.
    IdPositionV1 of IdPosition {
        millis: u64,
        counter: u16,
    }
}

//! Enums whose variants are words: each variant is said once.

/// Declares enums of plain words, each with the list of its variants and the words for them.
///
/// A variant may have a number, as in any enum, and has a word for each function in the head of its enum. Generated are
/// the enum, with the derives that plain words have; `ALL`, an array of its variants in the order of the declaration;
/// and the functions, which return the word of a variant. All of them have the visibility of the enum.
///
/// ```
/// till_domain::word_enum! {
///     /// A side of the road.
///     pub enum Side: name, display_name {
///         /// The side of the heart.
///         Left => "LEFT" | "Left-hand side",
///         /// The other one.
///         Right => "RIGHT" | "Right-hand side",
///     }
/// }
///
/// assert_eq!(Side::ALL, [Side::Left, Side::Right]);
/// assert_eq!(Side::ALL.map(Side::name), ["LEFT", "RIGHT"]);
/// assert_eq!(Side::Right.display_name(), "Right-hand side");
/// ```
#[macro_export]
macro_rules! word_enum {
    ($($(#[$about:meta])* $visibility:vis enum $name:ident $(: $($function:ident),+)? {
        $($(#[$of_variant:meta])* $variant:ident $(= $number:literal)? $(=> $($word:literal)|+)?),+ $(,)?
    })+) => {$(
        $(#[$about])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        $visibility enum $name {
            $($(#[$of_variant])* $variant $(= $number)?),+
        }

        impl $name {
            /// Every one, in the order of the declaration, which documents and disks follow.
            $visibility const ALL: [$name; [$($name::$variant),+].len()] = [$($name::$variant),+];

            $crate::word_enum!(@functions $visibility [$($($function)+)?] $($variant [$($($word)+)?])+);
        }
    )+};
    (@functions $visibility:vis [] $($variant:ident [])+) => {};
    (@functions $visibility:vis [$function:ident $($others:ident)*]
        $($variant:ident [$word:literal $($rest:literal)*])+) => {
        #[doc = concat!("Its `", stringify!($function), "`.")]
        #[must_use]
        $visibility const fn $function(self) -> &'static str {
            match self {
                $(Self::$variant => $word),+
            }
        }

        $crate::word_enum!(@functions $visibility [$($others)*] $($variant [$($rest)*])+);
    };
}

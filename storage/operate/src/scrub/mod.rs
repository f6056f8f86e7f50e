//! Tables at rest are read whole, and the checksum of each of their blocks is compared: by the scrub, slowly, while the
//! server runs, so that damage in a table that nothing reads is found while the checkpoints and archives are kept that
//! can replace it; and by each checkpoint that takes a table which was not read for long.

mod live_tables;
mod table_check;
mod readings;
mod inspector;
mod scrubber;

pub use inspector::{FaultyTable, InspectionError, TableInspector};
pub use scrubber::Scrubber;
pub use table_check::TableFault;

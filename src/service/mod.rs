//! What endpoints stand on: submitting commands, reading rows, telling callers apart, turning refusals into errors.

mod denial;
mod fingerprint;
mod installation;
mod page;
mod reading;
mod shared;

pub use denial::RETRY_AFTER_SECONDS;
pub use installation::{Named, SdkCaller, SdkRate};
pub use page::{ListedRow, Page, read_page, read_page_with_ids};
pub use reading::Reader;
pub use shared::{Answered, Service, Shared};

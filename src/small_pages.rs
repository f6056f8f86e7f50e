//! Memory in small pages only.

use anyhow::Context;

/// Has the system give this process memory in pages of some kilobytes, never of two megabytes. The allocator asks for large
/// ones, and with them whatever is reserved is taken whole when its first byte is written: a body of which 30 kB had come
/// took 900 kB, and what other places bound, by bytes that are used, was no bound.
///
/// # Errors
/// When the system refuses.
pub fn use_small_pages() -> anyhow::Result<()> {
    #[cfg(target_os = "linux")]
    rustix::thread::disable_transparent_huge_pages(true).context("failed to turn large pages of memory off")?;
    Ok(())
}

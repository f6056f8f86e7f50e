//! Memory in small pages.

use anyhow::Context;

/// Makes the system give this process memory in pages of some kilobytes, never of two megabytes. The allocator asks for
/// large pages, with which a whole allocation is resident once its first byte is written: a body of which 30 kB had
/// arrived took 900 kB, and limits in used bytes did not limit the memory.
///
/// # Errors
/// Fails when the system refuses.
pub(crate) fn use_small_pages() -> anyhow::Result<()> {
    #[cfg(target_os = "linux")]
    rustix::thread::disable_transparent_huge_pages(true).context("failed to disable large pages of memory")?;
    Ok(())
}

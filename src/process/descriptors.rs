//! The file descriptors of the process. RocksDB ends a process that has none left for a log or a table, so connections
//! get what the other parts leave.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use till_actors::webhooks::SOCKETS_MAX;

/// The least number of descriptors that a server can do with.
const LIMIT_MIN: u64 = 768;

/// Open table files of the store.
const TABLES_MAX: u64 = 1_024;

/// Sockets of the operator's listener: 256 connections, as many as a quarter of them that are being ended, and 64
/// refusals.
const ADMIN_SOCKETS_MAX: u64 = 384;

/// Everything else: logs and manifests of three databases, 128 tables of the two small ones and 32 of the scrub,
/// listeners, event queues of threads, and files of archive, checkpoints and secrets. Some 150 are open in a busy
/// server.
const OTHERS: (u64, u64) = (256, 500);

/// The descriptors of each part of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct DescriptorShares {
    /// The number that the process may open.
    pub limit: u64,
    /// Table files of the store.
    pub tables: u64,
    /// Sockets of webhooks.
    pub webhook_sockets: u64,
    /// Sockets of the operator's listener.
    pub admin_sockets: u64,
    /// Sockets of the public listener.
    pub public_sockets: u64,
}

impl DescriptorShares {
    /// Shares out the present limit of the process.
    #[must_use]
    pub(crate) fn current() -> DescriptorShares {
        DescriptorShares::of(getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX))
    }

    /// Shares out a limit: what the other parts leave is for the public listener.
    fn of(limit: u64) -> DescriptorShares {
        let tables = (limit / 4).min(TABLES_MAX);
        let webhook_sockets = (limit / 8).min(u64::try_from(SOCKETS_MAX).unwrap_or(u64::MAX));
        let admin_sockets = (limit / 8).min(ADMIN_SOCKETS_MAX);
        let others = (limit / 4).clamp(OTHERS.0, OTHERS.1);
        let public_sockets = limit.saturating_sub(tables + webhook_sockets + admin_sockets + others);
        DescriptorShares { limit, tables, webhook_sockets, admin_sockets, public_sockets }
    }
}

/// Raises the limit of the process to what the system allows it, and returns the shares.
///
/// # Errors
/// Fails when that is too few for a server.
pub(crate) fn raise_limit() -> anyhow::Result<DescriptorShares> {
    let maximum = getrlimit(Resource::Nofile).maximum;
    // When it cannot be raised, the present limit is shared out.
    let _ = setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum });
    let shares = DescriptorShares::current();
    anyhow::ensure!(
        shares.limit >= LIMIT_MIN,
        "the process may open {} files at once, and a server needs {LIMIT_MIN} at least: raise the limit (ulimit -n, \
            LimitNOFILE)",
        shares.limit
    );
    Ok(shares)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shares_of_every_limit_are_within_it() {
        for limit in (LIMIT_MIN..5_000).chain([65_536, 1 << 20, u64::MAX]) {
            let shares = DescriptorShares::of(limit);
            let DescriptorShares { tables, webhook_sockets, admin_sockets, public_sockets, .. } = shares;
            let others = limit.checked_sub(tables + webhook_sockets + admin_sockets + public_sockets);
            assert!(others.is_some_and(|others| others >= OTHERS.0), "{shares:?}");
            let least = [tables, webhook_sockets, admin_sockets, public_sockets].into_iter().min();
            assert!(least.is_some_and(|least| least >= 96), "{shares:?}");
        }
    }
}

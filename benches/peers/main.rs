//! The peers of Till that are programs of our own, and the sources of their load: see `README.md` here.
//!
//! `make bench-compare` runs each as a program, one at a time; `make bench`, which runs all benches, skips them.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Parser;
use clap::error::ErrorKind;

mod noop;
mod fdatasync;
mod harvest;
mod write_ahead;
mod rocks;
mod sessions;

/// The allocator of Till.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// The argument that `cargo bench` adds to the command line of every bench.
const FROM_CARGO_BENCH: &str = "--bench";

/// Till's peers, one at a time.
#[derive(Parser)]
#[command(bin_name = "peers")]
enum Peer {
    /// A handler that parses an initiation, checks nothing and always gives the same answer, behind Till's web server.
    Noop {
        /// Threads that take requests.
        #[arg(long)]
        workers: Option<usize>,
    },
    /// Appends records of one size to a file, each with a sync of its own.
    Fdatasync {
        /// The directory in which the file is made.
        #[arg(long)]
        directory: PathBuf,
        /// Bytes of a record.
        #[arg(long)]
        bytes: usize,
        /// The duration in seconds.
        #[arg(long)]
        seconds: u64,
    },
    /// Writes the batches of a killed server's log again, to a database of its own, in groups.
    Rocksdb {
        /// The data directory of the killed server.
        #[arg(long)]
        from: PathBuf,
        /// The directory in which the database is made.
        #[arg(long)]
        directory: PathBuf,
        /// Commits in a group.
        #[arg(long, value_delimiter = ',')]
        groups: Vec<usize>,
        /// The duration in seconds for each size of groups.
        #[arg(long)]
        seconds: u64,
    },
    /// Describes a killed server's log: writes and bytes of an initiation and of its effects.
    Describe {
        /// The data directory of the killed server.
        #[arg(long)]
        from: PathBuf,
    },
    /// Makes payment sessions on a running server and writes a line with key and session for each.
    Sessions {
        /// The public listener.
        #[arg(long)]
        address: SocketAddr,
        /// The merchants: a JSON array.
        #[arg(long)]
        shops: PathBuf,
        /// Sessions to make.
        #[arg(long)]
        count: usize,
        /// The file for the lines.
        #[arg(long)]
        out: PathBuf,
    },
}

fn main() -> anyhow::Result<()> {
    let (of_cargo, arguments): (Vec<_>, Vec<_>) = std::env::args().partition(|argument| argument == FROM_CARGO_BENCH);
    match Peer::try_parse_from(arguments) {
        Ok(peer) => peer.run(),
        // The other arguments are meant for other benches, such as a filter of names.
        Err(error) if !of_cargo.is_empty() && error.kind() != ErrorKind::DisplayHelp => {
            println!("peers: run by `make bench-compare`");
            Ok(())
        }
        Err(error) => error.exit(),
    }
}

impl Peer {
    fn run(self) -> anyhow::Result<()> {
        match self {
            Peer::Noop { workers } => noop::serve(workers),
            Peer::Fdatasync { directory, bytes, seconds } => fdatasync::measure(&directory, bytes, seconds),
            Peer::Rocksdb { from, directory, groups, seconds } => rocks::measure(&from, &directory, &groups, seconds),
            Peer::Describe { from } => harvest::describe(&from),
            Peer::Sessions { address, shops, count, out } => sessions::make(address, &shops, count, &out),
        }
    }
}

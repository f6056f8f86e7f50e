//! Starts servers, creates merchants and calls endpoints, so that a test contains only its subject.

mod client;
mod dice;
mod secured;
mod program;
mod receiver;
mod server;
mod shop;
mod stage;
mod empty_acquirer;
mod temporary;
mod volume;
mod waiting;
mod wire;

pub(crate) use client::{ApiAnswer, Client};
pub(crate) use dice::{TestDice, from_environment};
pub(crate) use empty_acquirer::empty_acquirer;
pub(crate) use program::{KilledOnDrop, SetOnDrop, copy, run_command, text};
pub(crate) use receiver::{EventReceiver, Manner, dead_url};
pub(crate) use secured::{Pair, Secured, connect, host};
pub(crate) use server::{Server, Start, VAULT_KEY, fetches_its_log, limited, load_tester, ticks, without_room};
pub(crate) use shop::{CARD, Shop, entries_of, id_of_nothing, ids_of, merged, thb};
pub(crate) use stage::{Backstage, Stage};
pub(crate) use temporary::{directory, temporary};
pub(crate) use volume::{Volume, free_bytes};
pub(crate) use waiting::{PATIENCE, first_answer, holds_within, now_seconds, wait_until};
pub(crate) use wire::{RawAnswer, Wire, chunked, received, received_from};

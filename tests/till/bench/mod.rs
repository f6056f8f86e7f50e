//! The load tester, as its users call it.

mod tester;
mod scenarios;
mod customers;
mod servers;
mod secured;
mod searching;
mod comparing;
mod conditions;
mod webhooks;
mod wrong_server;

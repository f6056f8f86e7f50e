//! More calls than the server can or may carry out: limits hold, refusals are quick and clear, and callers that ignore
//! them take nothing from others.

mod background_load;
#[expect(clippy::float_arithmetic, reason = "rates and shares are not amounts")]
mod campaign;
#[expect(clippy::float_arithmetic, reason = "rates and shares are not amounts")]
mod checkpoints;
mod closed_loop;
mod connections;
mod descriptors;
mod heavy_calls;
mod heavy_connections;
mod heavy_load;
mod heavy_loads;
mod heavy_notices;
mod heavy_pages;
mod light_calls;
mod memory;
mod pipelines;
mod rates;
mod refusals;
mod shares;
mod slow_clients;
#[expect(clippy::float_arithmetic, reason = "rates are not amounts")]
mod throughput;

//! One addition to a set.

use serde_json::json;

use super::load_client::LoadClient;
use super::sets::PATH;
use super::world::RunContext;
use crate::recording::{MeasuredStep, Trouble};

/// Adds an item that no other connection or run adds.
pub(super) async fn add(world: &RunContext, client: &mut LoadClient) -> Result<MeasuredStep, Trouble> {
    let shop = &world.stock.shops[world.distribution.draw(&mut client.dice)];
    client.done += 1;
    let item = format!("n{}-{}", client.number, client.done);
    let body = json!({ "key": world.set_key, "path": PATH, "value": item });
    shop.add_to_set.write(body.to_string().as_bytes(), &mut client.request);
    let answer = Trouble::unless_accepted(client.connection.call(&client.request).await)?;
    Trouble::unless_true(&answer)?;
    Ok(MeasuredStep::AddToMetadataSet)
}

//! What a running server reads anew at the operator's word.

use crate::exposition::RELOADS;
use parking_lot::Mutex;

/// Reads something anew; says what was read, or why nothing was and what was in use stays.
type Reload = Box<dyn Fn() -> Result<String, String> + Send>;

/// What can be read anew.
#[derive(Default)]
pub struct Reloads {
    known: Mutex<Vec<(&'static str, Reload)>>,
}

/// What became of one of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reloaded {
    /// Which.
    pub what: &'static str,
    /// What was read, or why nothing was.
    pub outcome: Result<String, String>,
}

impl Reloads {
    /// From now on this is read anew, too.
    pub fn add(&self, what: &'static str, reload: impl Fn() -> Result<String, String> + Send + 'static) {
        for outcome in ["read", "kept"] {
            RELOADS.with_label_values(&[what, outcome]); // There from the start.
        }
        self.known.lock().push((what, Box::new(reload)));
    }

    /// Reads everything anew. What cannot be used is left as it was, and the log says so.
    pub fn carry_out(&self) -> Vec<Reloaded> {
        let known = self.known.lock();
        known.iter().map(|(what, reload)| told(Reloaded { what, outcome: reload() })).collect()
    }
}

fn told(reloaded: Reloaded) -> Reloaded {
    let Reloaded { what, outcome } = &reloaded;
    let label = match outcome {
        Ok(read) => {
            tracing::info!(what, read, "read anew");
            "read"
        }
        Err(reason) => {
            tracing::error!(what, reason, "not read anew: what was in use stays");
            "kept"
        }
    };
    RELOADS.with_label_values(&[*what, label]).inc();
    reloaded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_is_read_whatever_becomes_of_the_others() {
        let reloads = Reloads::default();
        reloads.add("one", || Err("it is empty".to_owned()));
        reloads.add("other", || Ok("two tokens".to_owned()));
        let expected = [
            Reloaded { what: "one", outcome: Err("it is empty".to_owned()) },
            Reloaded { what: "other", outcome: Ok("two tokens".to_owned()) },
        ];
        assert_eq!(reloads.carry_out(), expected);
    }
}

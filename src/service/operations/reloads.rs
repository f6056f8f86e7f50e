//! The files that a running server reads again on request.

use crate::counted::RELOADS;
use parking_lot::Mutex;

/// Reads a file again. Returns a description of its content, or the reason why the previous content is kept.
type Reload = Box<dyn Fn() -> Result<String, String> + Send>;

/// All files that can be read again.
#[derive(Default)]
pub struct Reloads {
    known: Mutex<Vec<(&'static str, Reload)>>,
}

/// The result of one reload.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reloaded {
    pub what: &'static str,
    /// A description of the new content, or the reason why the previous content is kept.
    pub outcome: Result<String, String>,
}

impl Reloads {
    /// Adds a file to every later reload.
    pub fn add(&self, what: &'static str, reload: impl Fn() -> Result<String, String> + Send + 'static) {
        for outcome in ["read", "kept"] {
            RELOADS.with_label_values(&[what, outcome]); // So that the series exists from the start.
        }
        self.known.lock().push((what, Box::new(reload)));
    }

    /// Reads every file again. When one is unusable, its previous content is kept, and the log says so.
    pub fn carry_out(&self) -> Vec<Reloaded> {
        let known = self.known.lock();
        known.iter().map(|(what, reload)| logged(Reloaded { what, outcome: reload() })).collect()
    }
}

fn logged(reloaded: Reloaded) -> Reloaded {
    let Reloaded { what, outcome } = &reloaded;
    let label = match outcome {
        Ok(read) => {
            tracing::info!(what, read, "reloaded");
            "read"
        }
        Err(reason) => {
            tracing::error!(what, reason, "not reloaded: the previous content stays in use");
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
    fn each_file_is_read_also_when_another_fails() {
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

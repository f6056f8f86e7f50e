//! Names of threads that a library starts without a name, as `top -H` shows them.

use std::ffi::CString;

/// Names the calling thread after its kind, with its number among them. The system keeps 15 bytes of it.
pub fn name_thread(kind: &str, number: usize) {
    if let Ok(name) = CString::new(format!("{kind}-{number}")) {
        // A thread without its own name works as well.
        let _unnamed = rustix::thread::set_name(&name);
    }
}

//! The bounds of what the system keeps for a caller who does not read: its bytes, and how long it waits. The system
//! counts both, so that they cost a connection nothing. A listening socket hands its options on to every connection
//! that it accepts.

use std::io;
use std::time::Duration;

use tokio::net::TcpSocket;

/// The size of a connection's send buffer, in which Linux counts its own structures, too: 256 KiB.
const SEND_BUFFER_BYTES: u32 = 256 * 1024;

/// The time after which a connection is ended whose other end took none of the bytes that wait for it.
pub(super) const STALLED_MAX: Duration = Duration::from_secs(20);

/// Sets the bounds for all connections that a socket will accept.
///
/// # Errors
/// Fails when the system does not know them.
pub(super) fn set(socket: &TcpSocket, stalled_max: Duration) -> io::Result<()> {
    // Linux sets twice of what it is asked for.
    socket.set_send_buffer_size(if cfg!(target_os = "linux") { SEND_BUFFER_BYTES / 2 } else { SEND_BUFFER_BYTES })?;
    #[cfg(target_os = "linux")]
    rustix::net::sockopt::set_tcp_user_timeout(socket, u32::try_from(stalled_max.as_millis()).unwrap_or(u32::MAX))?;
    #[cfg(not(target_os = "linux"))]
    let _ = stalled_max; // Only the idle time ends such connections there.
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpStream;
    use tokio::time::{sleep, timeout};

    use super::*;

    /// The longest wait for the system on a slow machine.
    const PATIENCE: Duration = Duration::from_secs(30);

    /// The time limit of these tests.
    const SHORT: Duration = Duration::from_secs(2);

    /// A connection: the server's end, which has the bounds, and the client's.
    async fn connected(stalled_max: Duration) -> io::Result<(TcpStream, TcpStream)> {
        let socket = TcpSocket::new_v4()?;
        set(&socket, stalled_max)?;
        socket.bind((Ipv4Addr::LOCALHOST, 0).into())?;
        let listener = socket.listen(1)?;
        let client = TcpStream::connect(listener.local_addr()?).await?;
        Ok((listener.accept().await?.0, client))
    }

    /// Writes until the connection is ended, and returns the reason.
    async fn written_until_ended(mut stream: TcpStream) -> io::ErrorKind {
        let bytes = [0; 16 * 1024];
        loop {
            if let Err(error) = stream.write_all(&bytes).await {
                return error.kind();
            }
        }
    }

    #[tokio::test]
    async fn an_accepted_connection_has_the_bounds_of_its_listener() -> io::Result<()> {
        let (server, _client) = connected(STALLED_MAX).await?;
        let server = TcpSocket::from_std_stream(server.into_std()?);
        assert_eq!(server.send_buffer_size()?, SEND_BUFFER_BYTES);
        assert_eq!(rustix::net::sockopt::tcp_user_timeout(&server)?, 20_000);
        Ok(())
    }

    #[tokio::test]
    async fn a_connection_whose_other_end_takes_nothing_is_ended() -> io::Result<()> {
        let (server, _client) = connected(SHORT).await?;
        let ended = timeout(PATIENCE, written_until_ended(server)).await;
        assert_eq!(ended, Ok(io::ErrorKind::TimedOut));
        Ok(())
    }

    #[tokio::test]
    async fn a_connection_whose_other_end_takes_a_little_now_and_then_lives() -> io::Result<()> {
        let (server, mut client) = connected(SHORT).await?;
        let writing = tokio::spawn(written_until_ended(server));
        let mut piece = vec![0; 128 * 1024];
        for _ in 0..16 {
            sleep(SHORT / 4).await;
            client.read_exact(&mut piece).await?;
        }
        assert!(!writing.is_finished(), "it lives after four times the limit");
        writing.abort();
        Ok(())
    }
}

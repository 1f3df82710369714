//! Ends a command when the user wants it.

use std::{io, process, time::Duration};

use tokio::{
    signal::unix::{SignalKind, signal},
    sync::oneshot,
};

use super::failure::Failure;

const INTERRUPTED: i32 = 130;
/// How long a command that was interrupted may take to leave by itself.
const LEAVE: Duration = Duration::from_secs(1);

/// Runs a command until it ends, or until SIGINT or SIGTERM comes.
pub fn until_interrupted(command: impl Future<Output = Result<(), Failure>>) -> Result<(), Failure> {
    // The signal is caught on a thread of its own: the command may hang in a write that nobody reads.
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .map_err(Failure::System)?;
    let ended = runtime.block_on(async {
        let interrupted = interrupted().map_err(Failure::System)?;
        tokio::select! {
            ended = command => ended,
            _ = interrupted => Err(Failure::Interrupted),
        }
    });
    runtime.shutdown_background();
    ended
}

fn interrupted() -> io::Result<oneshot::Receiver<()>> {
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    let (tell, told) = oneshot::channel();
    tokio::spawn(async move {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
        if tell.send(()).is_ok() {
            tokio::time::sleep(LEAVE).await;
            process::exit(INTERRUPTED);
        }
    });
    Ok(told)
}

//! Ports for servers under test.

use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::process;
use std::sync::atomic::{AtomicU16, Ordering};

use anyhow::{Result, bail};

// Below the range from which the system takes the ports of outgoing connections: a server that is
// killed and restarted finds its port free, whatever the other tests connected to meanwhile.
const FIRST: u16 = 20_000;
const COUNT: u16 = 12_000;

static NEXT: AtomicU16 = AtomicU16::new(0);

/// An address on the loopback interface that nobody listens on.
pub fn free() -> Result<SocketAddr> {
    // Test programs that run at the same time start at different places.
    let start = (process::id() % u32::from(COUNT)) as u16;
    for _ in 0..COUNT {
        let step = NEXT.fetch_add(1, Ordering::Relaxed);
        let port = FIRST + (u32::from(start) * 61 + u32::from(step)).rem_euclid(u32::from(COUNT)) as u16;
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        if TcpListener::bind(address).is_ok() {
            return Ok(address);
        }
    }
    bail!("no port is free from {FIRST} to {}", FIRST + COUNT)
}

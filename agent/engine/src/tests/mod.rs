//! The engine as a whole, over a real store.

mod deciding;
mod registering;
mod restarting;
mod slow_readers;
mod starting;
mod sweeping;
mod unread;

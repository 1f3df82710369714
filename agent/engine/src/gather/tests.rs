use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use tokio::{sync::Semaphore, task::JoinSet};

use super::*;

const CALLERS: usize = 500;

#[tokio::test]
async fn what_comes_while_a_group_is_written_is_the_next_group() {
    let (gather, mut groups) = Gather::<usize, usize>::new();
    let written = Arc::new(AtomicUsize::new(0));
    let disk = Arc::new(Semaphore::new(0));
    let (count, gate) = (written.clone(), disk.clone());
    let writer = tokio::spawn(async move {
        while let Some((group, callers)) = groups.next().await {
            gate.acquire().await.unwrap().forget();
            count.fetch_add(1, Ordering::SeqCst);
            callers.answer(Ok::<_, String>(group.iter().map(|request| request * 2).collect()));
        }
    });
    let mut callers = JoinSet::new();
    for request in 0..CALLERS {
        let gather = gather.clone();
        callers.spawn(async move { (request, gather.ask(request).await) });
    }
    // Nobody is answered while nothing is on disk, and by then all have asked.
    for _ in 0..10 {
        tokio::task::yield_now().await;
    }
    assert!(callers.try_join_next().is_none());
    disk.add_permits(CALLERS);
    for (request, answer) in callers.join_all().await {
        assert_eq!(answer, Ok(request * 2), "each has the answer to its own request");
    }
    assert!(written.load(Ordering::SeqCst) <= 3, "{written:?} transactions for {CALLERS} callers");
    drop(gather);
    writer.await.unwrap();
}

#[tokio::test]
async fn everyone_in_a_group_that_failed_hears_of_it() {
    let (gather, mut groups) = Gather::<u8, u8>::new();
    let (one, other, ()) = tokio::join!(gather.ask(1), gather.ask(2), async {
        let (group, callers) = groups.next().await.unwrap();
        assert_eq!(group, [1, 2]);
        callers.answer(Err::<Vec<u8>, _>("the disk is full"));
    });
    let failed = Err(GatherError::Store("the disk is full".into()));
    assert_eq!((one, other), (failed.clone(), failed));

    drop(groups);
    assert_eq!(gather.ask(3).await, Err(GatherError::Stopping));
}

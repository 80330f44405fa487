// tasks -- what it costs to spawn, to yield, to be woken, and to do nothing.
// The main task is spawned, so that it runs on a worker and not on the thread of block_on: that is tokio's fast path.
use crate::program::{cpu_seconds, expect, percentile, print, timed, Options};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;
use std::time::{Duration, Instant};

async fn spawn_and_await(n: u64) {
    let mut handles = Vec::with_capacity(n as usize);
    for i in 0..n {
        handles.push(tokio::spawn(async move { i }));
    }
    let mut sum = 0;
    for each in handles {
        sum += each.await.unwrap();
    }
    expect(sum == n * (n - 1) / 2, "spawn_await");
}

pub fn spawn_await(wanted: &mut Options) {
    let n = wanted.number("n", 1_000_000);
    let times = wanted.number("times", 1);
    let runtime = wanted.runtime();
    timed(n * times, || {
        for _ in 0..times {
            let all = runtime.spawn(spawn_and_await(n));
            runtime.block_on(all).unwrap();
        }
        vec![]
    });
}

pub fn yields(wanted: &mut Options) {
    let n = wanted.number("n", 1_000_000);
    let runtime = wanted.runtime();
    timed(n, || {
        let all = runtime.spawn(async move {
            for _ in 0..n {
                tokio::task::yield_now().await;
            }
        });
        runtime.block_on(all).unwrap();
        vec![]
    });
}

fn link(left: u64, done: tokio::sync::oneshot::Sender<()>) {
    tokio::spawn(async move {
        if left > 1 {
            link(left - 1, done);
        } else {
            done.send(()).unwrap();
        }
    });
}

pub fn chain(wanted: &mut Options) {
    let n = wanted.number("n", 1_000_000);
    let runtime = wanted.runtime();
    timed(n, || {
        let (done, all) = tokio::sync::oneshot::channel();
        runtime.spawn(async move { link(n, done) });
        runtime.block_on(all).unwrap();
        vec![]
    });
}

pub fn inject(wanted: &mut Options) {
    let n = wanted.number("n", 1_000_000);
    let runtime = wanted.runtime();
    timed(n, || {
        let handles: Vec<_> = (0..n).map(|i| runtime.spawn(async move { i })).collect();
        let sum = runtime.block_on(async move {
            let mut sum = 0;
            for each in handles {
                sum += each.await.unwrap();
            }
            sum
        });
        expect(sum == n * (n - 1) / 2, "inject");
        vec![]
    });
}

pub fn wake(wanted: &mut Options) {
    let n = wanted.number("n", 2000);
    let runtime = wanted.runtime();
    let began = Instant::now();
    let ready = Arc::new(tokio::sync::Notify::new());
    let woken_at = Arc::new(AtomicU64::new(0));
    let main = std::thread::current();
    let (ready_there, woken_there) = (ready.clone(), woken_at.clone());
    let waiting = runtime.spawn(async move {
        for _ in 0..n {
            ready_there.notified().await;
            woken_there.store(began.elapsed().as_nanos() as u64, Ordering::Release);
            main.unpark();
        }
    });
    let mut micros = Vec::new();
    for _ in 0..n {
        std::thread::sleep(Duration::from_millis(1));
        woken_at.store(0, Ordering::Relaxed);
        let set_at = began.elapsed().as_nanos() as u64;
        ready.notify_one();
        while woken_at.load(Ordering::Acquire) == 0 {
            std::thread::park();
        }
        micros.push((woken_at.load(Ordering::Relaxed) - set_at) as f64 * 1e-3);
    }
    runtime.block_on(waiting).unwrap();
    let (p50, p99) = (percentile(&mut micros, 0.5), percentile(&mut micros, 0.99));
    print(&[("p50_us", p50), ("p99_us", p99)]);
}

pub fn idle(wanted: &mut Options) {
    let length = Duration::from_millis(wanted.number("ms", 3000));
    let runtime = wanted.runtime();
    let first = runtime.spawn(async {});
    runtime.block_on(first).unwrap();
    let before = cpu_seconds();
    let sleep = runtime.spawn(async move { tokio::time::sleep(length).await });
    runtime.block_on(sleep).unwrap();
    print(&[("cpu_seconds", cpu_seconds() - before)]);
}

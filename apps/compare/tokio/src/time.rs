// time -- many sleeps: how late the latest is, and what a sleeping task weighs.
use crate::program::{percentile, print, resident_bytes, timed, Options};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;
use std::time::{Duration, Instant};

pub fn sleeps(wanted: &mut Options) {
    let n = wanted.number("n", 100_000);
    let runtime = wanted.runtime();
    timed(n, || {
        let all = runtime.spawn(async move {
            let handles: Vec<_> = (0..n)
                .map(|i| {
                    tokio::spawn(async move {
                        let length = Duration::from_millis(1 + i % 100);
                        let due = Instant::now() + length;
                        tokio::time::sleep(length).await;
                        due.elapsed().as_secs_f64() * 1e3
                    })
                })
                .collect();
            let mut late = Vec::new();
            for each in handles {
                late.push(each.await.unwrap());
            }
            late
        });
        let mut late = runtime.block_on(all).unwrap();
        let latest = late.iter().cloned().fold(0.0, f64::max);
        vec![("latest_ms", latest), ("late_p99_ms", percentile(&mut late, 0.99))]
    });
}

pub fn sleepers(wanted: &mut Options) {
    let n = wanted.number("n", 1_000_000);
    let runtime = wanted.runtime();
    let before = resident_bytes();
    let begun = Arc::new(AtomicU64::new(0));
    let all = runtime.spawn(async move {
        for _ in 0..n {
            let begun = begun.clone();
            tokio::spawn(async move {
                begun.fetch_add(1, Ordering::Relaxed);
                tokio::time::sleep(Duration::from_secs(3600)).await;
            });
        }
        while begun.load(Ordering::Relaxed) != n {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
        print(&[("bytes_each", (resident_bytes() - before) / n as f64)]);
    });
    runtime.block_on(all).unwrap();
    runtime.shutdown_background();
}

// messages -- tasks that wait for each other: round trips, a bounded channel, a lock (tokio's own, which may be held across an await).
use crate::program::{expect, timed, Options};
use std::sync::Arc;
use tokio::sync::{mpsc, oneshot, Mutex};

pub fn ping_pong(wanted: &mut Options) {
    let n = wanted.number("n", 500_000);
    let runtime = wanted.runtime();
    timed(n, || {
        let all = runtime.spawn(async move {
            let (there, mut from) = mpsc::channel::<u64>(1);
            let (to, mut back) = mpsc::channel::<u64>(1);
            let other = tokio::spawn(async move {
                while let Some(got) = from.recv().await {
                    to.send(got).await.unwrap();
                }
            });
            for i in 0..n {
                there.send(i).await.unwrap();
                expect(back.recv().await == Some(i), "ping_pong");
            }
            drop(there);
            other.await.unwrap();
        });
        runtime.block_on(all).unwrap();
        vec![]
    });
}

pub fn ask(wanted: &mut Options) {
    let n = wanted.number("n", 500_000);
    let runtime = wanted.runtime();
    timed(n, || {
        let all = runtime.spawn(async move {
            let (questions, mut from) = mpsc::channel::<oneshot::Sender<u64>>(1);
            let other = tokio::spawn(async move {
                let mut next = 0;
                while let Some(question) = from.recv().await {
                    question.send(next).unwrap();
                    next += 1;
                }
            });
            for i in 0..n {
                let (question, answer) = oneshot::channel();
                questions.send(question).await.unwrap();
                expect(answer.await == Ok(i), "ask");
            }
            drop(questions);
            other.await.unwrap();
        });
        runtime.block_on(all).unwrap();
        vec![]
    });
}

pub fn channel(wanted: &mut Options) {
    let producers = wanted.number("producers", 4);
    let each = wanted.number("n", 1_000_000) / producers;
    let capacity = wanted.number("capacity", 128) as usize;
    let runtime = wanted.runtime();
    timed(each * producers, || {
        let all = runtime.spawn(async move {
            let (to, mut from) = mpsc::channel::<u64>(capacity);
            for _ in 0..producers {
                let to = to.clone();
                tokio::spawn(async move {
                    for i in 0..each {
                        to.send(i).await.unwrap();
                    }
                });
            }
            drop(to);
            let mut sum = 0;
            while let Some(got) = from.recv().await {
                sum += got;
            }
            expect(sum == producers * (each * (each - 1) / 2), "channel");
        });
        runtime.block_on(all).unwrap();
        vec![]
    });
}

pub fn mutex(wanted: &mut Options) {
    let tasks = wanted.number("tasks", 8);
    let each = wanted.number("n", 1_000_000) / tasks;
    let across_yield = wanted.number("across_yield", 0) != 0;
    let runtime = wanted.runtime();
    timed(each * tasks, || {
        let all = runtime.spawn(async move {
            let lock = Arc::new(Mutex::new(0u64));
            let mut handles = Vec::new();
            for _ in 0..tasks {
                let lock = lock.clone();
                handles.push(tokio::spawn(async move {
                    for _ in 0..each {
                        let mut count = lock.lock().await;
                        *count += 1;
                        if across_yield {
                            tokio::task::yield_now().await;
                        }
                    }
                }));
            }
            for each in handles {
                each.await.unwrap();
            }
            let count = *lock.lock().await;
            expect(count == each * tasks, "mutex");
        });
        runtime.block_on(all).unwrap();
        vec![]
    });
}

// files -- reads of 4 KiB at random places of a cached file by tokio::fs, a task and an open file for each that is under way.
use crate::program::{timed, Options};
use std::io::SeekFrom;
use tokio::io::{AsyncReadExt, AsyncSeekExt};

const BLOCK: u64 = 4096;

/// splitmix64, as in common/file.hpp.
fn next(state: &mut u64, blocks: u64) -> u64 {
    *state = state.wrapping_add(0x9e3779b97f4a7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d049bb133111eb);
    ((z ^ (z >> 31)) % blocks) * BLOCK
}

pub fn file_reads(wanted: &mut Options) {
    let depth = wanted.number("depth", 32);
    let each = wanted.number("n", 500_000) / depth;
    let path = wanted.text("path", "");
    let blocks = std::fs::metadata(&path).unwrap().len() / BLOCK;
    let runtime = wanted.runtime();
    timed(each * depth, || {
        let all = runtime.spawn(async move {
            let mut handles = Vec::new();
            for seed in 0..depth {
                let path = path.clone();
                handles.push(tokio::spawn(async move {
                    let mut file = tokio::fs::File::open(path).await.unwrap();
                    let mut into = [0u8; BLOCK as usize];
                    let mut state = seed;
                    for _ in 0..each {
                        file.seek(SeekFrom::Start(next(&mut state, blocks))).await.unwrap();
                        file.read_exact(&mut into).await.unwrap();
                    }
                }));
            }
            for each in handles {
                each.await.unwrap();
            }
        });
        runtime.block_on(all).unwrap();
        vec![]
    });
}

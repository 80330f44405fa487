// files -- reads of 4 KiB at random places of a cached file by ReadAt, a goroutine for each that is under way.
package main

import (
	"os"
	"sync"
)

const block = 4096

// splitmix64, as in common/file.hpp.
func next(state *uint64, blocks uint64) int64 {
	*state += 0x9e3779b97f4a7c15
	z := *state
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb
	return int64(((z ^ (z >> 31)) % blocks) * block)
}

func fileReads(wanted *options) {
	depth := wanted.number("depth", 32)
	each := wanted.number("n", 500000) / depth
	file, err := os.Open(wanted.text("path", ""))
	if err != nil {
		fail(err.Error())
	}
	about, _ := file.Stat()
	blocks := uint64(about.Size()) / block
	wanted.begin()
	timed(each*depth, func() []figure {
		var all sync.WaitGroup
		all.Add(depth)
		for d := 0; d < depth; d++ {
			state := uint64(d)
			go func() {
				into := make([]byte, block)
				for i := 0; i < each; i++ {
					got, err := file.ReadAt(into, next(&state, blocks))
					expect(err == nil && got == block, "file_reads")
				}
				all.Done()
			}()
		}
		all.Wait()
		return nil
	})
}

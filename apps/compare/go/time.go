// time -- many sleeps: how late the latest is, and what a sleeping goroutine weighs.
package main

import (
	"sync"
	"sync/atomic"
	"time"
)

func sleeps(wanted *options) {
	n := wanted.number("n", 100000)
	wanted.begin()
	timed(n, func() []figure {
		late := make([]float64, n)
		var all sync.WaitGroup
		all.Add(n)
		for i := 0; i < n; i++ {
			i := i
			go func() {
				length := time.Duration(1+i%100) * time.Millisecond
				due := time.Now().Add(length)
				time.Sleep(length)
				late[i] = time.Since(due).Seconds() * 1e3
				all.Done()
			}()
		}
		all.Wait()
		p99 := percentile(late, 0.99)
		return []figure{{"latest_ms", late[n-1]}, {"late_p99_ms", p99}}
	})
}

func sleepers(wanted *options) {
	n := wanted.number("n", 1000000)
	wanted.begin()
	before := residentBytes()
	var begun int64
	for i := 0; i < n; i++ {
		go func() {
			atomic.AddInt64(&begun, 1)
			time.Sleep(time.Hour)
		}()
	}
	for atomic.LoadInt64(&begun) != int64(n) {
		time.Sleep(time.Millisecond)
	}
	time.Sleep(10 * time.Millisecond)
	answer(figure{"bytes_each", (residentBytes() - before) / float64(n)})
}

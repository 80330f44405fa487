// tasks -- what it costs to start a goroutine and learn its result, to yield, to be woken, and to do nothing.
package main

import (
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// A result each in a slice, and a WaitGroup: what Go has for join handles.
func spawnAwait(wanted *options) {
	n, times := wanted.number("n", 1000000), wanted.number("times", 1)
	wanted.begin()
	timed(n*times, func() []figure {
		for t := 0; t < times; t++ {
			results := make([]uint64, n)
			var all sync.WaitGroup
			all.Add(n)
			for i := 0; i < n; i++ {
				i := i
				go func() {
					results[i] = uint64(i)
					all.Done()
				}()
			}
			all.Wait()
			sum := uint64(0)
			for _, each := range results {
				sum += each
			}
			expect(sum == uint64(n)*uint64(n-1)/2, "spawn_await")
		}
		return nil
	})
}

func yields(wanted *options) {
	n := wanted.number("n", 1000000)
	wanted.begin()
	timed(n, func() []figure {
		for i := 0; i < n; i++ {
			runtime.Gosched()
		}
		return nil
	})
}

func link(left int, done chan<- bool) {
	if left > 1 {
		go link(left-1, done)
	} else {
		done <- true
	}
}

func chain(wanted *options) {
	n := wanted.number("n", 1000000)
	wanted.begin()
	timed(n, func() []figure {
		done := make(chan bool)
		go link(n, done)
		<-done
		return nil
	})
}

// Go has no outside: the waker is a goroutine that keeps a thread to itself.
func wake(wanted *options) {
	n := wanted.number("n", 2000)
	wanted.begin()
	runtime.LockOSThread()
	began := time.Now()
	ready, woken := make(chan bool), make(chan bool, 1)
	var wokenAt int64
	go func() {
		for range ready {
			atomic.StoreInt64(&wokenAt, int64(time.Since(began)))
			woken <- true
		}
	}()
	micros := []float64{}
	for i := 0; i < n; i++ {
		time.Sleep(time.Millisecond)
		setAt := int64(time.Since(began))
		ready <- true
		<-woken
		micros = append(micros, float64(atomic.LoadInt64(&wokenAt)-setAt)*1e-3)
	}
	answer(figure{"p50_us", percentile(micros, 0.5)}, figure{"p99_us", percentile(micros, 0.99)})
}

func idle(wanted *options) {
	length := time.Duration(wanted.number("ms", 3000)) * time.Millisecond
	wanted.begin()
	done := make(chan bool)
	go func() { done <- true }()
	<-done
	before := cpuSeconds()
	time.Sleep(length)
	answer(figure{"cpu_seconds", cpuSeconds() - before})
}

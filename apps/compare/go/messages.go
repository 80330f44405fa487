// messages -- goroutines that wait for each other: round trips, a bounded channel, a lock.
package main

import (
	"runtime"
	"sync"
)

func pingPong(wanted *options) {
	n := wanted.number("n", 500000)
	wanted.begin()
	timed(n, func() []figure {
		there, back := make(chan uint64, 1), make(chan uint64, 1)
		go func() {
			for got := range there {
				back <- got
			}
		}()
		for i := 0; i < n; i++ {
			there <- uint64(i)
			expect(<-back == uint64(i), "ping_pong")
		}
		close(there)
		return nil
	})
}

// A channel of requests, and a channel of its own for each answer: what Go has for an oneshot.
func ask(wanted *options) {
	n := wanted.number("n", 500000)
	wanted.begin()
	timed(n, func() []figure {
		questions := make(chan chan uint64, 1)
		go func() {
			next := uint64(0)
			for question := range questions {
				question <- next
				next++
			}
		}()
		for i := 0; i < n; i++ {
			answer := make(chan uint64, 1)
			questions <- answer
			expect(<-answer == uint64(i), "ask")
		}
		close(questions)
		return nil
	})
}

func channel(wanted *options) {
	producers := wanted.number("producers", 4)
	each := wanted.number("n", 1000000) / producers
	items := make(chan uint64, wanted.number("capacity", 128))
	wanted.begin()
	timed(each*producers, func() []figure {
		for p := 0; p < producers; p++ {
			go func() {
				for i := 0; i < each; i++ {
					items <- uint64(i)
				}
			}()
		}
		sum := uint64(0)
		for i := 0; i < each*producers; i++ {
			sum += <-items
		}
		expect(sum == uint64(producers)*(uint64(each)*uint64(each-1)/2), "channel")
		return nil
	})
}

func mutex(wanted *options) {
	tasks := wanted.number("tasks", 8)
	each := wanted.number("n", 1000000) / tasks
	acrossYield := wanted.number("across_yield", 0) != 0
	wanted.begin()
	timed(each*tasks, func() []figure {
		var lock sync.Mutex
		var all sync.WaitGroup
		count := 0
		all.Add(tasks)
		for t := 0; t < tasks; t++ {
			go func() {
				for i := 0; i < each; i++ {
					lock.Lock()
					count++
					if acrossYield {
						runtime.Gosched()
					}
					lock.Unlock()
				}
				all.Done()
			}()
		}
		all.Wait()
		expect(count == each*tasks, "mutex")
		return nil
	})
}

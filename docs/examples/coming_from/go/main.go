// go -- producers, a channel, and a context that ends them.
package main

import (
	"context"
	"fmt"
	"os"
	"sync"
)

func produce(ctx context.Context, numbers chan<- int) {
	for {
		select {
		case numbers <- 1:
		case <-ctx.Done():
			return
		}
	}
}

func main() {
	ctx, cancel := context.WithCancel(context.Background())
	numbers := make(chan int, 16)
	var producers sync.WaitGroup
	for i := 0; i < 3; i++ {
		producers.Add(1)
		go func() {
			defer producers.Done()
			produce(ctx, numbers)
		}()
	}

	sum := 0
	for i := 0; i < 1000; i++ {
		sum += <-numbers
	}
	cancel()
	producers.Wait()

	fmt.Println(sum)
	if sum != 1000 {
		os.Exit(1)
	}
}

// program -- options as name=value, a clock, and one line of JSON as the answer; the same as common/program.hpp.
package main

import (
	"fmt"
	"os"
	"runtime"
	"sort"
	"strconv"
	"strings"
	"syscall"
	"time"
)

func fail(why string) {
	fmt.Fprintln(os.Stderr, "compare: "+why)
	os.Exit(1)
}

func expect(right bool, what string) {
	if !right {
		fail("wrong result: " + what)
	}
}

type options struct {
	workload string
	given    map[string]string
	asked    map[string]bool
}

func newOptions() *options {
	if len(os.Args) < 2 {
		fail("the first argument is the workload")
	}
	wanted := &options{os.Args[1], map[string]string{}, map[string]bool{}}
	for _, each := range os.Args[2:] {
		name, value, found := strings.Cut(each, "=")
		if !found {
			fail("'" + each + "' is not name=value")
		}
		wanted.given[name] = value
	}
	return wanted
}

func (wanted *options) text(name, otherwise string) string {
	wanted.asked[name] = true
	if given, found := wanted.given[name]; found {
		return given
	}
	return otherwise
}

func (wanted *options) number(name string, otherwise int) int {
	given := wanted.text(name, strconv.Itoa(otherwise))
	value, err := strconv.Atoi(given)
	if err != nil {
		fail(name + "=" + given + " is not a number")
	}
	return value
}

// As many processors as the others have workers; everything else as Go has it.
func (wanted *options) begin() {
	runtime.GOMAXPROCS(wanted.number("workers", 2))
	for name := range wanted.given {
		if !wanted.asked[name] {
			fail("the workload " + wanted.workload + " has no option " + name)
		}
	}
}

func usage() syscall.Rusage {
	var used syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &used)
	return used
}

func cpuSeconds() float64 {
	used := usage()
	return float64(used.Utime.Nano()+used.Stime.Nano()) * 1e-9
}

// Not ru_maxrss: that begins with what the process that started us had.
func peakKib() float64 {
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		fail(err.Error())
	}
	_, rest, _ := strings.Cut(string(text), "VmHWM:")
	kib, _ := strconv.ParseFloat(strings.Fields(rest)[0], 64)
	return kib
}

func residentBytes() float64 {
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		fail(err.Error())
	}
	pages, _ := strconv.ParseFloat(strings.Fields(string(text))[1], 64)
	return pages * float64(os.Getpagesize())
}

func percentile(samples []float64, share float64) float64 {
	sort.Float64s(samples)
	return samples[int(share*float64(len(samples)-1)+0.5)]
}

type figure struct {
	name  string
	value float64
}

func answer(figures ...figure) {
	figures = append(figures, figure{"peak_kib", peakKib()})
	parts := []string{}
	for _, each := range figures {
		parts = append(parts, fmt.Sprintf("%q:%g", each.name, each.value))
	}
	fmt.Println("{" + strings.Join(parts, ",") + "}")
}

// timed runs it and prints the time for each of n operations, with the figures that it gives.
func timed(n int, run func() []figure) {
	cpu := cpuSeconds()
	began := time.Now()
	more := run()
	seconds := time.Since(began).Seconds()
	answer(append([]figure{{"seconds", seconds}, {"cpu_seconds", cpuSeconds() - cpu}, {"operations", float64(n)},
		{"ns_per_op", seconds * 1e9 / float64(n)}}, more...)...)
}

func main() {
	workloads := map[string]func(*options){
		"spawn_await": spawnAwait, "yield": yields, "chain": chain, "wake": wake, "idle": idle,
		"ping_pong": pingPong, "ask": ask, "channel": channel, "mutex": mutex,
		"sleeps": sleeps, "sleepers": sleepers, "file_reads": fileReads, "responder": responder,
	}
	wanted := newOptions()
	run, found := workloads[wanted.workload]
	if !found {
		fail("no workload " + wanted.workload)
	}
	run(wanted)
}

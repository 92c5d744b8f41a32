// SPDX-License-Identifier: Apache-2.0

package hubflags

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

// gcDefault is how much a heap grows between collections by default, in percent.
const gcDefault = 100

// CollectAt has a garbage collection begin when the heap has grown by a percentage, in place of the default of Go, which is 100. The environment
// variable GOGC wins over it. It reports whether it does not.
func CollectAt(percent int) bool {
	before := debug.SetGCPercent(percent)
	if before != gcDefault {
		debug.SetGCPercent(before)
	}
	return before == gcDefault
}

// CollectAfter has a garbage collection begin when the heap has grown by a number of bytes, within a least and the default percentage of what
// lives: a small heap grows as it does by default, and of a large one little waits for a collection. The environment variable GOGC wins over it.
func CollectAfter(growth uint64, least int) {
	if CollectAt(gcDefault) {
		(&collector{growth: growth, least: least, percent: gcDefault}).watch()
	}
}

// collector sets the percentage after each collection.
type collector struct {
	growth  uint64 // bytes
	least   int    // percent
	percent int    // that is set
}

// watch has the collection that comes next set the percentage: it finds an object that nothing refers to.
func (c *collector) watch() {
	// The object is not tiny: several tiny ones share a place and are freed together.
	runtime.SetFinalizer(&struct{ next [64]byte }{}, func(any) {
		if percent := c.percentOf(liveHeap()); percent != c.percent {
			c.percent = percent
			debug.SetGCPercent(percent)
		}
		c.watch()
	})
}

// percentOf returns the percentage for a heap of which so many bytes live.
func (c *collector) percentOf(live uint64) int {
	if live <= c.growth {
		return gcDefault
	}
	return max(c.least, int(c.growth*gcDefault/live))
}

// liveHeap returns how many bytes the last collection has found to live.
func liveHeap() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"context"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
)

// adder is what gauges sum up.
type adder interface {
	// add adds to the gauges.
	add()
}

// states have the state of each object. The gauges show them while the hub leads: a standby has no current values, and a former leader must
// not go on reporting. They are safe for concurrent use.
type states[K comparable, S adder] struct {
	collector *collector

	mu    *sync.Mutex
	known map[K]S
}

func newStates[K comparable, S adder](collector *collector) states[K, S] {
	return states[K, S]{collector: collector, mu: &sync.Mutex{}, known: map[K]S{}}
}

// Note sets the state of an object.
func (s *states[K, S]) Note(key K, is S) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.known[key] = is
}

// Forget drops a deleted object.
func (s *states[K, S]) Forget(key K) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.known, key)
}

// Lead begins to report the gauges.
func (s *states[K, S]) Lead() {
	s.collector.mu.Lock()
	defer s.collector.mu.Unlock()
	s.collector.leading[s] = struct{}{}
}

// Resign resets the gauges.
func (s *states[K, S]) Resign() {
	s.collector.mu.Lock()
	defer s.collector.mu.Unlock()
	delete(s.collector.leading, s)
}

// Start reports the gauges until the context ends. A manager calls it on the leader.
func (s *states[K, S]) Start(ctx context.Context) error {
	s.Lead()
	<-ctx.Done()
	s.Resign()
	return nil
}

func (s *states[K, S]) add() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, is := range s.known {
		is.add()
	}
}

// collector computes gauges when they are scraped, as the sums over the states of leaders.
type collector struct {
	zero adder // names what is reported although it is 0; nil for nothing

	mu      sync.Mutex
	leading map[adder]struct{}
	gauges  []*prometheus.GaugeVec
}

// newCollector returns a collector without gauges. init registers it.
func newCollector(zero adder) *collector {
	return &collector{zero: zero, leading: map[adder]struct{}{}}
}

// gauge declares a gauge of the collector.
func (c *collector) gauge(name, help string, labels ...string) *prometheus.GaugeVec {
	declared = append(declared, Series{Name: name, Type: typeGauge, Labels: labels, Help: help})
	gauge := prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: name, Help: help}, labels)
	c.gauges = append(c.gauges, gauge)
	return gauge
}

func init() { metrics.Registry.MustRegister(ofPlacements, ofProfiles, ofRequests) }

// Describe sends the descriptions of the gauges.
func (c *collector) Describe(descriptions chan<- *prometheus.Desc) {
	for _, gauge := range c.gauges {
		gauge.Describe(descriptions)
	}
}

// Collect sends the gauges. A concurrent scrape has gauges of its own, because Reset drops those that were sent.
func (c *collector) Collect(values chan<- prometheus.Metric) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, gauge := range c.gauges {
		gauge.Reset()
	}
	if c.zero != nil {
		c.zero.add()
	}

	for states := range c.leading {
		states.add()
	}
	for _, gauge := range c.gauges {
		gauge.Collect(values)
	}
}

// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"cmp"
	"slices"

	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
)

// hub is the prefix of the names of our own series.
const hub = "placement_hub_"

// The types of series in the terms of Prometheus.
const (
	typeCounter   = "counter"
	typeGauge     = "gauge"
	typeHistogram = "histogram"
)

// Series describes a time series.
type Series struct {
	// Name is the full name; Type is counter, gauge or histogram.
	Name, Type string
	// Labels are the names of the labels.
	Labels []string
	// Help describes the value.
	Help string
}

var declared []Series

// All returns the series of the hub, sorted by name.
func All() []Series {
	return slices.SortedFunc(slices.Values(declared), func(a, b Series) int { return cmp.Compare(a.Name, b.Name) })
}

// declare registers the series. It panics if the name is registered already.
func declare[C prometheus.Collector](series Series, collector C) C {
	declared = append(declared, series)
	metrics.Registry.MustRegister(collector)
	return collector
}

func counter(name, help string) prometheus.Counter {
	return declare(Series{Name: name, Type: typeCounter, Help: help}, prometheus.NewCounter(prometheus.CounterOpts{Name: name, Help: help}))
}

func counters(name, help string, labels ...string) *prometheus.CounterVec {
	return declare(Series{Name: name, Type: typeCounter, Labels: labels, Help: help},
		prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels))
}

func gauge(name, help string) prometheus.Gauge {
	return declare(Series{Name: name, Type: typeGauge, Help: help}, prometheus.NewGauge(prometheus.GaugeOpts{Name: name, Help: help}))
}

func gauges(name, help string, labels ...string) *prometheus.GaugeVec {
	return declare(Series{Name: name, Type: typeGauge, Labels: labels, Help: help},
		prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: name, Help: help}, labels))
}

func histogram(name, help string, buckets []float64) prometheus.Histogram {
	return declare(Series{Name: name, Type: typeHistogram, Help: help},
		prometheus.NewHistogram(prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets}))
}

func histograms(name, help string, buckets []float64, labels ...string) *prometheus.HistogramVec {
	return declare(Series{Name: name, Type: typeHistogram, Labels: labels, Help: help},
		prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets}, labels))
}

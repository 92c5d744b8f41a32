// SPDX-License-Identifier: Apache-2.0

package scrapes

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

// queried are the beginnings of the names of the series that the rules query.
var queried = []string{"placement_hub_", "kupid_aggr_", "workqueue_depth", "leader_election_master_status"}

// Scrape has the samples of one scrape.
type Scrape struct {
	// Samples are by series, with their labels as PromQL writes them.
	Samples map[string]float64
	// At is the time of the scrape.
	At time.Time
}

// Gather scrapes a registry of this process.
func Gather(registry prometheus.Gatherer) (Scrape, error) {
	families, err := registry.Gather()
	if err != nil {
		return Scrape{}, fmt.Errorf("gathering the metrics: %w", err)
	}
	return newScrape(families), nil
}

// Parse reads what another process has answered to a scrape.
func Parse(text io.Reader) (Scrape, error) {
	parser := expfmt.NewTextParser(model.LegacyValidation)
	families, err := parser.TextToMetricFamilies(text)
	if err != nil {
		return Scrape{}, fmt.Errorf("reading the metrics: %w", err)
	}
	return newScrape(slices.Collect(maps.Values(families))), nil
}

func newScrape(families []*dto.MetricFamily) Scrape {
	found := Scrape{Samples: map[string]float64{}, At: time.Now()}
	for _, family := range families {
		if !slices.ContainsFunc(queried, func(prefix string) bool { return strings.HasPrefix(family.GetName(), prefix) }) {
			continue
		}
		for _, metric := range family.GetMetric() {
			var labels []string
			for _, label := range metric.GetLabel() {
				labels = append(labels, fmt.Sprintf("%s=%q", label.GetName(), label.GetValue()))
			}
			found.add(family.GetName(), labels, metric)
		}
	}

	return found
}

// add adds the samples of a metric with these labels.
func (s Scrape) add(name string, labels []string, metric *dto.Metric) {
	series := func(name string, labels []string) string { return name + "{" + strings.Join(labels, ",") + "}" }
	switch {
	case metric.GetGauge() != nil:
		s.Samples[series(name, labels)] = metric.GetGauge().GetValue()
	case metric.GetCounter() != nil:
		s.Samples[series(name, labels)] = metric.GetCounter().GetValue()
	case metric.GetHistogram() != nil:
		bucket := func(limit string, count uint64) {
			s.Samples[series(name+"_bucket", append(slices.Clip(labels), fmt.Sprintf("le=%q", limit)))] = float64(count)
		}
		for _, of := range metric.GetHistogram().GetBucket() {
			bucket(Text(of.GetUpperBound()), of.GetCumulativeCount())
		}
		bucket("+Inf", metric.GetHistogram().GetSampleCount())
	}
}

// Value returns the sample of a series; 0 if there is none.
func (s Scrape) Value(series string) float64 { return s.Samples[series] }

// Sum returns the sum of the samples of all series that begin with a prefix.
func (s Scrape) Sum(prefix string) (sum float64) {
	for series, value := range s.Samples {
		if strings.HasPrefix(series, prefix) {
			sum += value
		}
	}
	return sum
}

// Text formats a sample as Prometheus does.
func Text(value float64) string { return strconv.FormatFloat(value, 'g', -1, 64) }

// span is the minutes in which a scrape is repeated.
type span struct{ begin, minutes int }

// repeated formats a sample of a series for each minute of a span, as promtool reads them. A point in time is as long ago in all of them.
func (s Scrape) repeated(series string, of span) string {
	value, found := s.Samples[series]
	switch {
	case !found:
		return fmt.Sprintf("_x%d", of.minutes)
	case isTime(series) && value > 0:
		return fmt.Sprintf("%s+60x%d", Text(s.shifted(value, of)), of.minutes-1)
	default:
		return fmt.Sprintf("%sx%d", Text(value), of.minutes-1)
	}
}

// growing formats samples as repeated does, but a counter grows each minute by as much as until a later scrape, and a point in time stays what it
// is if the later scrape has the same.
func (s Scrape) growing(later Scrape, series string, of span) string {
	value, found := s.Samples[series]
	growth := later.Samples[series] - value
	switch {
	case found && isTime(series) && value > 0 && growth == 0:
		return fmt.Sprintf("%sx%d", Text(s.shifted(value, of)), of.minutes-1)
	case found && growth > 0 && (strings.Contains(series, "_total{") || strings.Contains(series, "_bucket{")):
		return fmt.Sprintf("%s+%sx%d", Text(value), Text(growth), of.minutes-1)
	default:
		return s.repeated(series, of)
	}
}

// shifted returns a point in time on the clock of promtool, on which the scrape is made when the span begins.
func (s Scrape) shifted(seconds float64, of span) float64 {
	ago := s.At.Sub(time.UnixMilli(int64(seconds * float64(time.Second/time.Millisecond))))
	return float64((time.Duration(of.begin)*time.Minute - ago).Milliseconds()) / float64(time.Second/time.Millisecond)
}

func isTime(series string) bool { return strings.Contains(series, "_timestamp_seconds{") }

// Merge returns the samples of several processes, with the label instance.
func Merge(instances map[string]Scrape) Scrape {
	merged := Scrape{Samples: map[string]float64{}, At: time.Now()}
	for instance, scrape := range instances {
		for series, value := range scrape.Samples {
			name, labels, _ := strings.Cut(strings.TrimSuffix(series, "}"), "{")
			if labels != "" {
				labels = "," + labels
			}
			merged.Samples[fmt.Sprintf("%s{instance=%q%s}", name, instance, labels)] = value
		}
	}
	return merged
}

// SPDX-License-Identifier: Apache-2.0

package monitoring

import (
	"fmt"
	"strconv"
	"strings"

	. "github.com/onsi/gomega"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
)

// scrape has the gauges and counters of the hub, with their labels as PromQL writes them.
type scrape map[string]float64

// newScrape reads the registry of this process, in which the hub runs.
func newScrape(g Gomega) scrape {
	families, err := metrics.Registry.Gather()
	g.Expect(err).NotTo(HaveOccurred())

	found := scrape{}

	for _, family := range families {
		if !strings.HasPrefix(family.GetName(), "placement_hub_") {
			continue
		}

		for _, metric := range family.GetMetric() {
			var labels []string
			for _, label := range metric.GetLabel() {
				labels = append(labels, fmt.Sprintf("%s=%q", label.GetName(), label.GetValue()))
			}

			series := family.GetName() + "{" + strings.Join(labels, ",") + "}"

			switch {
			case metric.GetGauge() != nil:
				found[series] = metric.GetGauge().GetValue()
			case metric.GetCounter() != nil:
				found[series] = metric.GetCounter().GetValue()
			}
		}
	}

	return found
}

// value returns the sample of a series; 0 if there is none.
func (s scrape) value(series string) float64 { return s[series] }

// unsatisfied returns how many placements lack clusters, by the reasons that there are.
func (s scrape) unsatisfied() map[string]float64 {
	byReason := map[string]float64{}

	for series, value := range s {
		if labels, is := strings.CutPrefix(series, "placement_hub_placements{reason=\""); is && value > 0 {
			if reason, is := strings.CutSuffix(labels, "\",satisfied=\"false\"}"); is {
				byReason[reason] = value
			}
		}
	}

	return byReason
}

// text formats a sample as Prometheus does.
func text(value float64) string { return strconv.FormatFloat(value, 'g', -1, 64) }

// repeated formats n samples of a series, one for each minute, as promtool reads them.
func (s scrape) repeated(series string, n int) string {
	value, found := s[series]
	if !found {
		return fmt.Sprintf("_x%d", n)
	}

	return fmt.Sprintf("%sx%d", text(value), n-1)
}

// growing formats n samples of a series as repeated does, but those of a counter grow each minute by as much as until a later scrape.
func (s scrape) growing(later scrape, series string, n int) string {
	growth := later[series] - s[series]
	if _, found := s[series]; !found || growth <= 0 || !strings.Contains(series, "_total{") {
		return s.repeated(series, n)
	}

	return fmt.Sprintf("%s+%sx%d", text(s[series]), text(growth), n-1)
}

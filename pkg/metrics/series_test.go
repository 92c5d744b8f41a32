// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	dto "github.com/prometheus/client_model/go"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/placement-hub/placement-hub/pkg/scheduling"
)

// family is a scraped series with one value.
func family(s Series) *dto.MetricFamily {
	metric := &dto.Metric{}
	for _, label := range s.Labels {
		metric.Label = append(metric.Label, &dto.LabelPair{Name: ptr.To(label), Value: ptr.To("x")})
	}
	kind := map[string]dto.MetricType{
		typeCounter: dto.MetricType_COUNTER, typeGauge: dto.MetricType_GAUGE, typeHistogram: dto.MetricType_HISTOGRAM,
	}[s.Type]
	return &dto.MetricFamily{Name: ptr.To(s.Name), Help: ptr.To(s.Help), Type: ptr.To(kind), Metric: []*dto.Metric{metric}}
}

func TestEverySeriesIsNamedAsPrometheusAdvises(t *testing.T) {
	var families []*dto.MetricFamily
	for _, s := range All() {
		families = append(families, family(s))
	}
	problems, err := promlint.NewWithMetricFamilies(families).Lint()
	if err != nil {
		t.Fatal(err)
	}

	for _, problem := range problems {
		t.Errorf("%s: %s", problem.Metric, problem.Text)
	}
}

// described returns the names of the hub's series in the registry, with their labels and help.
func described(t *testing.T) []string {
	t.Helper()
	told := make(chan *prometheus.Desc)
	go func() {
		defer close(told)
		if registry, ok := metrics.Registry.(prometheus.Collector); ok {
			registry.Describe(told)
		}
	}()
	form := regexp.MustCompile(`fqName: "([^"]*)", help: "(.*?)", (?:unit: "[^"]*", )?constLabels: {}, variableLabels: {([^}]*)}`)
	var found []string

	for desc := range told {
		parts := form.FindStringSubmatch(desc.String())
		if len(parts) > 0 && (strings.HasPrefix(parts[1], hub) || strings.HasPrefix(parts[1], "scheduling_") ||
			strings.HasPrefix(parts[1], "kupid_")) {
			found = append(found, fmt.Sprintf("%s{%s} %s", parts[1], parts[3], parts[2]))
		}
	}
	slices.Sort(found)
	return found
}

// The declared series are exactly the registered ones: the table in the docs is generated from them.
func TestWhatIsDeclaredIsRegistered(t *testing.T) {
	var want []string
	for _, s := range All() {
		want = append(want, fmt.Sprintf("%s{%s} %s", s.Name, strings.Join(s.Labels, ","), s.Help))
	}
	slices.Sort(want)
	if diff := cmp.Diff(want, described(t)); diff != "" {
		t.Errorf("registered (-declared +registered):\n%s", diff)
	}
}

// docs/spec/upstream-placement.md 1.16: dashboards use these names and labels.
func TestNamesOfUpstreamAreKept(t *testing.T) {
	for name, labels := range map[string][]string{
		"scheduling_scheduling_duration_seconds":  {"name"},
		"scheduling_bind_duration_seconds":        {"name"},
		"scheduling_plugin_duration_seconds":      {"name", "plugin_type", "plugin_name"},
		"scheduling_cel_runtime_duration_seconds": {"name"},
	} {
		at := slices.IndexFunc(All(), func(s Series) bool { return s.Name == name })
		if at < 0 || !slices.Equal(All()[at].Labels, labels) || All()[at].Type != typeHistogram {
			t.Errorf("%s%v is not there", name, labels)
		}
	}
}

// No label has a value that a user chooses: the number of series does not grow with the fleet.
func TestLabelsAreBounded(t *testing.T) {
	bounded := []string{"name", "group", "plugin_type", "plugin_name", "cause", "result", "kind", "change", "satisfied", "reason", "stage", "type",
		"path", "verdict", "outcome", "status", "system", "version", "commit", "go_version"}
	for _, s := range All() {
		for _, label := range s.Labels {
			if !slices.Contains(bounded, label) {
				t.Errorf("%s: nobody has said how many values the label %s may have; if they are few, name it in this test", s.Name, label)
			}
		}
	}
}

// Series that change with every event and evaluation allocate nothing.
func TestCountingAllocatesNothing(t *testing.T) {
	collector := NewPlacementStates[int]()
	collector.Lead()
	defer collector.Resign()
	is := PlacementState{Satisfied: true, Reason: "AllDecisionsScheduled", Decisions: 3}
	collector.Note(1, is)

	allocations := testing.AllocsPerRun(100, func() {
		cause := CauseOf("cluster")
		cause.Enqueued(1, 2)
		cause.Evaluated(Unchanged)
		cause.ObserveLatency(1)
		ObserveScheduling(1)
		ObserveStep(scheduling.StepPredicate, 1)
		ObserveWrite("update_decisions", WriteOK, 1)
		collector.Note(1, is)
	})
	if allocations != 0 {
		t.Errorf("%v allocations", allocations)
	}
}

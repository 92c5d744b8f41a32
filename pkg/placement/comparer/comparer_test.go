// SPDX-License-Identifier: Apache-2.0

package comparer

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr/funcr"
	"github.com/google/go-cmp/cmp"
	"k8s.io/klog/v2"
	ctrlmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/placement-hub/placement-hub/pkg/inventory"
)

// hub has placements a, b and so on, whose comparisons take some time.
type hub struct {
	Comparer

	placements []string
	takes      time.Duration
	busyUntil  time.Time
	compare    func(name string) (string, bool, error)

	// seen has the comparisons and their start times, diverged the reported placements, and lines the log.
	seen, diverged, lines []string
}

func key(name string) inventory.Key { return inventory.NewPlacementKey("example", "ns", name) }

func newHub(placements ...string) *hub {
	h := &hub{placements: placements, compare: func(string) (string, bool, error) { return "", true, nil }}
	start := time.Now()
	h.Comparer = Comparer{
		Placements: func() []inventory.Key {
			var keys []inventory.Key
			for _, name := range h.placements {
				keys = append(keys, key(name))
			}
			return keys
		},
		Compare: func(_ context.Context, key inventory.Key) (string, bool, error) {
			h.seen = append(h.seen, fmt.Sprintf("%s %v", key.Name, time.Since(start)))
			time.Sleep(h.takes)
			return h.compare(key.Name)
		},
		Diverged: func(key inventory.Key) { h.diverged = append(h.diverged, key.Name) },
		Busy:     func() bool { return time.Now().Before(h.busyUntil) },
	}

	return h
}

// run compares for a time on a fake clock.
func (h *hub) run(t *testing.T, d time.Duration) {
	t.Helper()
	log := funcr.New(func(_, line string) { h.lines = append(h.lines, line) }, funcr.Options{})
	ctx, cancel := context.WithTimeout(klog.NewContext(t.Context(), log), d)
	defer cancel()
	if err := h.Start(ctx); err != nil {
		t.Error(err)
	}
}

// counted returns the value of a counter without labels.
func counted(t *testing.T, name string) float64 {
	t.Helper()
	families, err := ctrlmetrics.Registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, family := range families {
		if family.GetName() == name {
			return family.GetMetric()[0].GetCounter().GetValue()
		}
	}

	t.Fatalf("nobody counts %s", name)
	return 0
}

func expect[V any](t *testing.T, what string, want, got V) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// All placements take turns; created and deleted ones are noticed in the next rotation.
func TestPlacementsAreComparedInRotation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHub("a", "b")
		h.compare = func(name string) (string, bool, error) {
			if name == "b" {
				h.placements = []string{"c"}
			}
			return "", true, nil
		}
		before := counted(t, "placement_hub_comparisons_total")

		h.run(t, 4500*time.Millisecond)
		expect(t, "comparisons", []string{"a 1s", "b 2s", "c 3s", "c 4s"}, h.seen)
		expect(t, "counted", 4, counted(t, "placement_hub_comparisons_total")-before)
	})
}

func TestComparisonsTakeAHundredthOfTheTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHub("a")
		h.takes = 50 * time.Millisecond
		h.run(t, 12*time.Second)
		expect(t, "comparisons", []string{"a 1s", "a 6.05s", "a 11.1s"}, h.seen)
	})
}

func TestNothingIsComparedWhilePlacementsWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHub("a")
		h.busyUntil = time.Now().Add(9500 * time.Millisecond)
		h.run(t, 10500*time.Millisecond)
		expect(t, "comparisons", []string{"a 10s"}, h.seen)
	})
}

func TestDifferencesAreCountedLoggedAndCorrected(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHub("a", "b")
		h.compare = func(name string) (string, bool, error) {
			if name == "b" {
				return "selected: c1 is missing", true, nil
			}
			return "", true, nil
		}
		before := counted(t, "placement_hub_divergences_total")

		h.run(t, 2500*time.Millisecond)
		expect(t, "diverged", []string{"b"}, h.diverged)
		expect(t, "counted", 1, counted(t, "placement_hub_divergences_total")-before)
		expect(t, "logged", []string{
			`"msg"="The engine gives another answer than the reference; what it is derived from is made anew. Please report this" ` +
				`"error"=null "placement"={"name"="b" "namespace"="ns"} "api"="example" "difference"="selected: c1 is missing"`,
		}, h.lines)
	})
}

// A placement that could not be compared is neither a difference nor counted, and does not stop the rotation.
func TestWhatCannotBeComparedIsPassedOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHub("a", "b", "c")
		h.compare = func(name string) (string, bool, error) {
			switch name {
			case "a":
				return "", false, nil
			case "b":
				return "", false, errors.New("not to be read")
			default:
				return "", true, nil
			}
		}
		before := counted(t, "placement_hub_comparisons_total")

		h.run(t, 3500*time.Millisecond)
		expect(t, "comparisons", []string{"a 1s", "b 2s", "c 3s"}, h.seen)
		expect(t, "counted", 1, counted(t, "placement_hub_comparisons_total")-before)
		expect(t, "diverged", nil, h.diverged)
		expect(t, "lines logged", 1, len(h.lines))
	})
}

func TestAHubWithoutPlacementsIsNotRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHub()
		h.run(t, 10*time.Second)
		expect(t, "comparisons", nil, h.seen)
	})
}

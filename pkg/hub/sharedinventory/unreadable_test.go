// SPDX-License-Identifier: Apache-2.0

package sharedinventory

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	dto "github.com/prometheus/client_model/go"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/events"
	clusterv1 "open-cluster-management.io/api/cluster/v1"

	"github.com/placement-hub/placement-hub/pkg/decoding/unreadable"
	"github.com/placement-hub/placement-hub/pkg/inventory"
	"github.com/placement-hub/placement-hub/pkg/metrics"
)

func spoiltCluster(t *testing.T, name, resourceVersion string, fields ...unreadable.Field) *clusterv1.ManagedCluster {
	t.Helper()
	cluster := &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: name, UID: "u", ResourceVersion: resourceVersion}}
	if len(fields) > 0 {
		if err := unreadable.Mark(cluster, fields); err != nil {
			t.Fatal(err)
		}
	}
	return cluster
}

func TestUnreadableObjectsAreCountedAndWarnedOf(t *testing.T) {
	kind := schema.GroupVersion(clusterv1.GroupVersion).WithKind("ManagedCluster")
	known, recorder := newUnreadables(), events.NewFakeRecorder(10)
	handler := known.handler(kind, inventory.Clusters.Unreadable)

	cpu := unreadable.Field{Path: "status.allocatable.cpu", Value: `"1e1.5"`, Problem: "is wrong"}
	many := make([]unreadable.Field, 3)
	for i := range many {
		many[i] = unreadable.Field{Path: strings.Repeat("p", 200), Value: strings.Repeat("v", 200), Problem: strings.Repeat("x", 200)}
	}

	expect := func(reason string, count float64, warnings ...string) {
		t.Helper()
		var counted dto.Metric
		if err := metrics.Unreadable.WithLabelValues(kind.Group, kind.Kind).Write(&counted); err != nil {
			t.Fatal(err)
		}
		if got := counted.GetGauge().GetValue(); got != count {
			t.Errorf("%s: counted are %v, want %v", reason, got, count)
		}
		var got []string

		for len(recorder.Events) > 0 {
			warning := <-recorder.Events
			got = append(got, warning[:min(len(warning), len("Warning UnreadableFields status.allocatable.cpu"))])
			if len(warning) > 1024 {
				t.Errorf("%s: the warning has %d bytes", reason, len(warning))
			}
		}
		if diff := cmp.Diff(warnings, got); diff != "" {
			t.Errorf("%s: warnings (-want +got):\n%s", reason, diff)
		}
	}
	warned := "Warning UnreadableFields status.allocatable.cpu"

	handler.OnAdd(spoiltCluster(t, "c1", "1", cpu), true)
	handler.OnAdd(spoiltCluster(t, "c2", "1"), true)
	expect("a standby counts and is silent", 1)

	known.warn(recorder, nil)
	expect("a new leader warns of what there is", 1, warned)

	handler.OnUpdate(spoiltCluster(t, "c1", "1", cpu), spoiltCluster(t, "c1", "2", cpu))
	expect("a heartbeat is no reason to warn again", 1)

	handler.OnUpdate(spoiltCluster(t, "c2", "1"), spoiltCluster(t, "c2", "2", cpu))
	expect("another one is", 2, warned)

	handler.OnUpdate(spoiltCluster(t, "c1", "2", cpu), spoiltCluster(t, "c1", "3", many...))
	expect("another field is, however long", 2, "Warning UnreadableFields "+strings.Repeat("p", len("status.allocatable.cpu")))

	handler.OnUpdate(spoiltCluster(t, "c1", "3", many...), spoiltCluster(t, "c1", "4"))
	expect("it was corrected", 1)

	handler.OnDelete(toolscache.DeletedFinalStateUnknown{Key: "c2", Obj: spoiltCluster(t, "c2", "2", cpu)})
	expect("it is gone", 0)
}

// T16: a new leader does not warn again of what was there before the last renewal of the former leader.
func TestUnreadableObjectsAreNotWarnedOfAgain(t *testing.T) {
	kind := schema.GroupVersion(clusterv1.GroupVersion).WithKind("ManagedCluster")
	known, recorder := newUnreadables(), events.NewFakeRecorder(10)
	handler := known.handler(kind, inventory.Clusters.Unreadable)
	cpu := unreadable.Field{Path: "status.allocatable.cpu", Value: `"1e1.5"`, Problem: "is wrong"}
	renewed := time.Now().Add(-time.Minute)

	old := spoiltCluster(t, "old", "1", cpu)
	old.CreationTimestamp = metav1.NewTime(renewed.Add(-time.Hour))
	handler.OnAdd(old, true)
	created := spoiltCluster(t, "created", "1", cpu)
	created.CreationTimestamp = metav1.NewTime(renewed.Add(time.Second))
	handler.OnAdd(created, true)
	spoilt := spoiltCluster(t, "spoilt", "1")
	handler.OnAdd(spoilt, true)
	handler.OnUpdate(spoilt, spoiltCluster(t, "spoilt", "2", cpu))

	known.warn(recorder, func() time.Time { return renewed })
	if len(recorder.Events) != 2 {
		t.Errorf("%d warnings, want those of the objects that were created and spoilt since", len(recorder.Events))
	}
	handler.OnUpdate(old, spoiltCluster(t, "old", "2", cpu))
	if len(recorder.Events) != 2 {
		t.Error("a heartbeat is no reason to warn")
	}
	handler.OnUpdate(old, spoiltCluster(t, "old", "3", unreadable.Field{Path: "status.capacity.cpu", Value: "x", Problem: "is wrong"}))

	if len(recorder.Events) != 3 {
		t.Error("another field is one")
	}
}

// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/system"
	"github.com/placement-hub/placement-hub/test/benchmark/fleet"
	"github.com/placement-hub/placement-hub/test/benchmark/requests"
)

func TestChangesAreCountedAsRequests(t *testing.T) {
	got := count([]change{
		{kind: decisionKind, verb: watch.Added}, {kind: decisionKind, verb: watch.Modified}, {kind: decisionKind, verb: watch.Modified},
		{kind: decisionKind, verb: watch.Deleted}, {kind: placementKind, verb: watch.Modified},
		{kind: placementKind, verb: watch.Added}, {kind: placementKind, verb: watch.Deleted}, // By the benchmark.
	})
	want := writes{"create PlacementDecision": 1, "patch PlacementDecision": 2, "delete PlacementDecision": 1, "patch Placement": 1}
	if diff := cmp.Diff(want, got); diff != "" || got.total() != 5 {
		t.Errorf("%d in all (-want +got):\n%s", got.total(), diff)
	}
}

func TestWritesOfTheProviderAreNotCounted(t *testing.T) {
	o := &observer{news: make(chan struct{}), requests: map[types.NamespacedName]int{}}
	note := func(kind string, verb watch.EventType, finalizers ...string) {
		o.note(kind, verb, &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "c", Finalizers: finalizers}})
	}
	const first, second = openmcpv1alpha1.RequestFinalizerPrefix + "1", openmcpv1alpha1.RequestFinalizerPrefix + "2"
	note(clusterKind, watch.Added, first)
	note(clusterKind, watch.Modified, first, openmcpv1alpha1.ProviderFinalizer)
	note(clusterKind, watch.Modified, first, openmcpv1alpha1.ProviderFinalizer, second)
	note(requestKind, watch.Added)
	note(requestKind, watch.Modified)
	note(requestKind, watch.Modified)
	note(grantKind, watch.Added)
	want := writes{clusterCreated: 1, clusterPatched: 1, requestPatched: 2, grantCreated: 1}
	if diff := cmp.Diff(want, count(o.since(0))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(requests.Pattern{Joins: [][]int{{1, 1}}, Statuses: []int{1}}, pattern(o.since(0))); diff != "" {
		t.Errorf("pattern (-want +got):\n%s", diff)
	}
}

func TestWritesForGrantsAreBounded(t *testing.T) {
	for reason, got := range map[string]writes{
		"":                             {grantCreated: 40, clusterCreated: 2, clusterPatched: 38, requestPatched: 120},
		"a Cluster more than needed":   {grantCreated: 40, clusterCreated: 3, clusterPatched: 37, requestPatched: 80},
		"a Grant is created twice":     {grantCreated: 41, clusterCreated: 2, clusterPatched: 38, requestPatched: 80},
		"a third status":               {grantCreated: 40, clusterCreated: 2, clusterPatched: 38, requestPatched: 121},
		"a Cluster without a new user": {grantCreated: 40, clusterCreated: 2, clusterPatched: 39, requestPatched: 80},
	} {
		t.Run(reason, func(t *testing.T) {
			r := &requestStage{separateStage: &separateStage{log: io.Discard}, requests: 40}
			r.wantGrants("grant", got)
			if (len(r.failures) > 0) != (reason != "") {
				t.Errorf("%v: %v", got, r.failures)
			}
		})
	}
}

func TestTheObserverKeepsOrderAndOwners(t *testing.T) {
	o := &observer{news: make(chan struct{})}
	page := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{
		Namespace: "ns", Name: "p-decision-1", Labels: map[string]string{clusterv1beta1.PlacementLabel: "p"},
	}}
	o.note(decisionKind, watch.Added, page)
	mark := o.mark()
	go func() {
		o.note(decisionKind, watch.Modified, page)
		o.note(placementKind, watch.Modified, &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "p"}})
	}()
	var seen []string
	err := o.await(t.Context(), mark, func(c change) bool {
		seen = append(seen, string(c.verb)+" "+c.kind+" of "+c.placement.String())
		return c.kind == placementKind
	})
	if diff := cmp.Diff([]string{"MODIFIED PlacementDecision of ns/p", "MODIFIED Placement of ns/p"}, seen); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	if since := o.since(mark); len(since) != 2 {
		t.Errorf("%d changes since then, want 2", len(since))
	}
	broken := errors.New("the watch broke")
	o.fail(broken)
	if err := o.await(t.Context(), mark, func(change) bool { return false }); !errors.Is(err, broken) {
		t.Errorf("await after a failure: %v", err)
	}
}

func TestAwaitEndsWithTheContext(t *testing.T) {
	o := &observer{news: make(chan struct{})}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := o.await(ctx, 0, func(change) bool { return true }); !errors.Is(err, context.Canceled) {
		t.Errorf("await: %v", err)
	}
}

func TestCountersAreAddedUpByLabel(t *testing.T) {
	const before = `# HELP enqueues_total Placements put into the queue.
# TYPE enqueues_total counter
enqueues_total{cause="cluster",other="a"} 1
enqueues_total{cause="set",other="a"} 2
enqueues_total_created{cause="cluster"} 7
`
	const after = `enqueues_total{cause="cluster",other="a"} 3
enqueues_total{cause="cluster",other="b"} 1.2e+02
enqueues_total{cause="set",other="a"} 2
`
	grown := less(byLabel([]byte(after), "enqueues_total", "cause"), byLabel([]byte(before), "enqueues_total", "cause"))
	if diff := cmp.Diff(map[string]float64{"cluster": 122}, grown); diff != "" || sum(grown) != 122 {
		t.Errorf("%v in all (-want +got):\n%s", sum(grown), diff)
	}
	if got := byLabel([]byte(before), "unknown_total", "cause"); len(got) != 0 {
		t.Errorf("a series that is not there: %v", got)
	}
}

// The hub sends Events behind everything else; a scenario that ended before would have the next one pay for them.
func TestAScenarioEndsWhenAllEventsAreSent(t *testing.T) {
	asked := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked++
		fmt.Fprintf(w, "placement_hub_events_total{result=\"written\"} %d\nplacement_hub_events_total{result=\"failed\"} 1\n", min(asked, 3))
	}))
	defer server.Close()
	self := &process{cmd: &exec.Cmd{Process: &os.Process{Pid: os.Getpid()}}, done: make(chan struct{})}
	h := &hub{process: self, url: server.URL, client: server.Client()}
	_, last, err := h.drain(t.Context(), time.Millisecond)
	if err != nil || asked != 4 || last.events["written"] != 3 {
		t.Errorf("asked %d times, the last response is %v, %v; want until nothing is sent any more", asked, last.events, err)
	}
}

func TestDifferencesOfContentsAreCounted(t *testing.T) {
	before := map[types.UID]uint64{"same": 1, "changed": 1, "gone": 1}
	after := map[types.UID]uint64{"same": 1, "changed": 2, "new": 1}
	if got := differing(before, after); got != 3 {
		t.Errorf("%d objects differ, want the changed, the gone and the new one", got)
	}
}

func TestWithout(t *testing.T) {
	if diff := cmp.Diff([]string{"a", "d"}, without([]string{"a", "b", "d"}, []string{"b", "c"})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestAProcessIsMeasured(t *testing.T) {
	if runtime.GOOS != "linux" {
		if len(missing) == 0 {
			t.Error("this system is not measured, and the report does not say so")
		}
		return
	}
	before, err := cpuTime(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	after := before
	for i := 0; after-before < time.Millisecond && i < 1e8; i++ {
		if after, err = cpuTime(os.Getpid()); err != nil {
			t.Fatal(err)
		}
	}
	if before <= 0 || after <= before {
		t.Errorf("CPU time went from %v to %v", before, after)
	}
	if peak, err := peakMemory(os.Getpid()); err != nil || peak < 1<<20 {
		t.Errorf("peak memory %d, %v", peak, err)
	}
	const nobody = 1 << 22 // Above every id that Linux gives.
	if _, err := cpuTime(nobody); err == nil {
		t.Error("a process that does not exist has a CPU time")
	}
}

func TestOptions(t *testing.T) {
	o, err := parseOptions([]string{"-sizes=100x100", "-docs=docs"})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]fleet.Size{{Clusters: 100, Placements: 100}}, o.sizes); diff != "" || o.docs != "docs" || o.binary != "bin/placement" {
		t.Errorf("%+v (-want +got):\n%s", o, diff)
	}
	for _, tc := range []struct {
		scenarios string
		want      []string
		sizes     int
		separate  []string
	}{
		{"admission", nil, 0, []string{"admission"}},
		{"federation,admission", nil, 0, []string{"admission", "federation"}},
		{"requests", nil, 0, []string{"requests"}},
		{"restart", []string{"cold-start", "restart"}, fleet.Usual, nil},
		{"restart,federation", []string{"cold-start", "restart"}, fleet.Usual, []string{"federation"}},
	} {
		o, err := parseOptions([]string{"-scenarios=" + tc.scenarios})
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, scenario := range o.scenarios {
			names = append(names, scenario.name)
		}
		var separate []string
		for _, scenario := range o.separate {
			separate = append(separate, scenario.name)
		}
		if !slices.Equal(names, tc.want) || len(o.sizes) != tc.sizes || !slices.Equal(separate, tc.separate) {
			t.Errorf("%s: scenarios %q at %d sizes, separate ones %q", tc.scenarios, names, len(o.sizes), separate)
		}
	}
	for _, wrong := range []string{"-sizes=huge", "-scenarios=nothing", "-scenarios=admission,nothing", "-pods=0", "-objects=1", "-requests=199"} {
		if _, err := parseOptions([]string{wrong}); err == nil {
			t.Errorf("%s is taken", wrong)
		}
	}
}

// A check that cannot fail shows nothing: each kind of mistake is found.
func TestTheReferenceFindsWhatIsWrong(t *testing.T) {
	size := fleet.Sizes()[0]
	owner := schema.GroupVersion(clusterv1beta1.GroupVersion).WithKind(placementKind)
	for _, tc := range []struct {
		reason  string
		corrupt func(placement *clusterv1beta1.Placement, page *clusterv1beta1.PlacementDecision)
		want    string
	}{
		{"nothing is wrong", func(*clusterv1beta1.Placement, *clusterv1beta1.PlacementDecision) {}, ""},
		{"a cluster is missing", func(placement *clusterv1beta1.Placement, page *clusterv1beta1.PlacementDecision) {
			page.Status.Decisions = page.Status.Decisions[1:]
			placement.Status.NumberOfSelectedClusters--
		}, "Placement tenant-0/concerned-00 has 39 clusters, want 40; too many: [], too few: [cluster-00000]"},
		{"a cluster is wrong", func(_ *clusterv1beta1.Placement, page *clusterv1beta1.PlacementDecision) {
			page.Status.Decisions[0].ClusterName = fleet.ClusterName(99)
		}, "Placement tenant-0/concerned-00 has 40 clusters, want 40; too many: [cluster-00099], too few: [cluster-00000]"},
		{"the status tells another number", func(placement *clusterv1beta1.Placement, _ *clusterv1beta1.PlacementDecision) {
			placement.Status.NumberOfSelectedClusters = 3
		}, "Placement tenant-0/concerned-00 says that it has 3 clusters and has 40"},
		{"a label is missing", func(_ *clusterv1beta1.Placement, page *clusterv1beta1.PlacementDecision) {
			delete(page.Labels, clusterv1beta1.DecisionGroupIndexLabel)
		}, "Placement tenant-0/concerned-00 is settled and leaves 1 writes and 0 deletes to do"},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			placement := size.Placement(0)
			placement.UID = "p"
			var decisions []clusterv1beta1.ClusterDecision
			for i := range fleet.Concerning {
				decisions = append(decisions, clusterv1beta1.ClusterDecision{ClusterName: fleet.ClusterName(i)})
			}
			placement.Status.NumberOfSelectedClusters = int32(len(decisions))
			page := &clusterv1beta1.PlacementDecision{
				ObjectMeta: metav1.ObjectMeta{
					Namespace: placement.Namespace, Name: placement.Name + "-decision-1",
					Labels: map[string]string{
						clusterv1beta1.PlacementLabel: placement.Name, clusterv1beta1.DecisionGroupIndexLabel: "0",
						clusterv1beta1.DecisionGroupNameLabel: "",
					},
					OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(placement, owner)},
				},
				Status: clusterv1beta1.PlacementDecisionStatus{Decisions: decisions},
			}
			tc.corrupt(placement, page)
			objects := []client.Object{placement, page}
			for i := range size.Clusters {
				objects = append(objects, size.Cluster(i))
			}
			for _, set := range size.Sets() {
				objects = append(objects, set)
			}
			for _, binding := range size.Bindings(0) {
				objects = append(objects, binding)
			}
			hub := fake.NewClientBuilder().WithScheme(system.Scheme()).WithObjects(objects...).Build()
			reference, err := newReference(t.Context(), hub)
			if err != nil {
				t.Fatal(err)
			}
			got, err := reference.differences(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if strings.Join(got, "\n") != tc.want {
				t.Errorf("found %q, want %q", got, tc.want)
			}
		})
	}
}

func TestMedianOfAHistogram(t *testing.T) {
	for _, tc := range []struct {
		reason  string
		buckets map[string]float64
		want    time.Duration
	}{
		{"empty", nil, 0},
		{"nothing observed", map[string]float64{"0.1": 0, "+Inf": 0}, 0},
		{"within the first bucket", map[string]float64{"0.1": 4, "1": 4, "+Inf": 4}, 50 * time.Millisecond},
		{"within the second bucket", map[string]float64{"0.1": 1, "0.3": 5, "+Inf": 5}, 175 * time.Millisecond},
		{"beyond all bounds", map[string]float64{"0.1": 0, "+Inf": 5}, 100 * time.Millisecond},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			if got := median(tc.buckets); got.Round(time.Millisecond) != tc.want {
				t.Errorf("got %v, want %v", got, tc.want)
			}
		})
	}
}

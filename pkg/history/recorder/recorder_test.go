// SPDX-License-Identifier: Apache-2.0

package recorder

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/placement-hub/placement-hub/pkg/apis/scheme"
	"github.com/placement-hub/placement-hub/pkg/history"
	"github.com/placement-hub/placement-hub/pkg/hub/sharedinventory"
	"github.com/placement-hub/placement-hub/pkg/inventory"
	"github.com/placement-hub/placement-hub/pkg/placement/api"
)

// hub is a Recorder with the events of its informers.
type hub struct {
	*Recorder

	version int
	pages   map[string]*clusterv1beta1.PlacementDecision
	handler func(before, after api.Object, initial bool)
	deleted func(last api.Object)
}

var key = inventory.NewPlacementKey(inventory.V1beta1, "team-a", "payments")

// newHub returns a Recorder whose loop runs until the test ends; leads says whether the process evaluates.
func newHub(t *testing.T, leads bool) *hub {
	t.Helper()
	r := New(1<<20, "")
	elected := make(chan struct{})
	if leads {
		close(elected)
	}
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "team-a", UID: "uid-of-team-a", CreationTimestamp: metav1.Now()}}
	placement := &clusterv1beta1.Placement{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "payments", UID: "uid-of-payments"}}
	placement.Spec.Predicates = []clusterv1beta1.ClusterPredicate{{RequiredClusterSelector: clusterv1beta1.ClusterSelector{
		LabelSelector: metav1.LabelSelector{MatchLabels: map[string]string{"region": "eu"}},
	}}}
	objects := byName(fake.NewClientBuilder().WithScheme(scheme.New()).WithObjects(namespace, placement))
	r.namespaces, r.shared, r.informers, r.elected = newNamespaces(objects), sharedinventory.New(), objects, elected
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { r.loop(ctx); close(done) }()
	t.Cleanup(func() { cancel(); <-done })

	handler := r.decisionsOf(api.V1beta1)
	h := &hub{Recorder: r, pages: map[string]*clusterv1beta1.PlacementDecision{}}
	h.handler = func(before, after api.Object, initial bool) {
		if before == nil {
			handler.OnAdd(after, initial)
		} else {
			handler.OnUpdate(before, after)
		}
	}
	h.deleted = func(last api.Object) { handler.OnDelete(last) }
	return h
}

// byName returns a client that finds objects by the field selector of their names.
func byName(builder *fake.ClientBuilder) client.Client {
	return builder.WithIndex(&corev1.Namespace{}, metav1.ObjectNameField, func(object client.Object) []string {
		return []string{object.GetName()}
	}).Build()
}

// set shows a page with clusters, or its deletion without any.
func (h *hub) set(name string, initial bool, clusters ...string) {
	h.version++
	before := h.pages[name]
	if len(clusters) == 0 {
		delete(h.pages, name)
		h.deleted(before)
		return
	}
	page := &clusterv1beta1.PlacementDecision{ObjectMeta: metav1.ObjectMeta{
		Namespace: "team-a", Name: name, ResourceVersion: strconv.Itoa(h.version), CreationTimestamp: metav1.Now(),
		Labels:          map[string]string{clusterv1beta1.PlacementLabel: "payments"},
		OwnerReferences: []metav1.OwnerReference{{Kind: "Placement", Name: "payments", UID: "uid-of-payments"}},
	}}
	for _, cluster := range clusters {
		page.Status.Decisions = append(page.Status.Decisions, clusterv1beta1.ClusterDecision{ClusterName: cluster})
	}
	h.pages[name] = page
	if before == nil {
		h.handler(nil, page, initial)
	} else {
		h.handler(before, page, initial)
	}
}

// rows returns the sentences of all rows, after the rounds have ended.
func (h *hub) rows() []string {
	<-time.After(longest + time.Second)
	moves, _ := h.Find(history.Query{})
	var rows []string
	for _, move := range moves {
		rows = append(rows, move.Sentence())
	}
	return rows
}

func (h *hub) expect(t *testing.T, reason string, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, h.rows()); diff != "" {
		t.Errorf("%s (-want +got):\n%s", reason, diff)
	}
}

// docs/spec/history.md HI1: the writes of a round are one row, and a cluster that moves between pages was neither lost nor gained.
func TestHI1ARoundIsOneRow(t *testing.T) {
	for _, tc := range []struct {
		reason string
		run    func(h *hub)
		want   []string
	}{
		{reason: "the initial list"},
		{reason: "a cluster", run: func(h *hub) { h.set("p-decision-1", false, "eu1", "us2") }, want: []string{"lost eu2, gained us2"}},
		{reason: "another page gains first", run: func(h *hub) {
			h.set("p-decision-2", false, "us1", "eu2")
			<-time.After(quiet / 2)
			h.set("p-decision-1", false, "eu1")
		}},
		{reason: "another page gains first, and the other loses in a later round", run: func(h *hub) {
			h.set("p-decision-2", false, "us1", "eu2")
			<-time.After(2 * quiet)
			h.set("p-decision-1", false, "eu1")
		}},
		{reason: "a page is deleted", run: func(h *hub) {
			h.set("p-decision-1", false, "eu1", "eu2", "us1")
			h.set("p-decision-2", false)
		}},
		{reason: "a cluster comes back within the round", run: func(h *hub) {
			h.set("p-decision-1", false, "eu1")
			h.set("p-decision-1", false, "eu1", "eu2")
		}},
		{reason: "all are deleted", run: func(h *hub) {
			h.set("p-decision-1", false)
			h.set("p-decision-2", false)
		}, want: []string{"lost eu1, eu2, us1"}},
		{reason: "two rounds", run: func(h *hub) {
			h.set("p-decision-1", false, "eu1")
			<-time.After(2 * quiet)
			h.set("p-decision-1", false, "eu1", "eu3")
		}, want: []string{"lost eu2", "gained eu3"}},
		{reason: "a write that takes long", run: func(h *hub) {
			h.Begin(key)
			h.set("p-decision-1", false, "eu1", "us3")
			<-time.After(3 * time.Second)
			h.set("p-decision-2", false, "us1", "us4")
			h.End(key, []history.Reason{{Cluster: "eu2", Text: "label region is us"}, {Cluster: "us3", Text: "rank 1, score 7"}})
		}, want: []string{"lost eu2 (label region is us), gained us3 (rank 1, score 7), us4"}},
		{reason: "two evaluations in one round", run: func(h *hub) {
			h.Begin(key)
			h.set("p-decision-1", false, "eu1")
			h.End(key, []history.Reason{{Cluster: "eu2", Text: "label region is us"}})
			h.Begin(key)
			h.set("p-decision-1", false, "eu1", "us4")
			h.End(key, []history.Reason{{Cluster: "us4", Text: "rank 1, score 7"}})
		}, want: []string{"lost eu2 (label region is us), gained us4 (rank 1, score 7)"}},
		{reason: "a write of which the events come later", run: func(h *hub) {
			h.Begin(key)
			h.End(key, []history.Reason{{Cluster: "eu2", Text: "label region is us"}})
			h.set("p-decision-1", false, "eu1")
		}, want: []string{"lost eu2 (label region is us)"}},
		{reason: "a write that never ends", run: func(h *hub) {
			h.Begin(key)
			h.set("p-decision-1", false, "eu1")
		}, want: []string{"lost eu2"}},
		{reason: "writes without a change", run: func(h *hub) { h.Begin(key); h.End(key, nil) }},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := newHub(t, true)
				h.set("p-decision-1", true, "eu1", "eu2")
				h.set("p-decision-2", true, "us1")
				if tc.run != nil {
					tc.run(h)
				}
				h.expect(t, tc.reason, tc.want...)
				moves, _ := h.Find(history.Query{})
				for _, move := range moves {
					if move.NamespaceUID != "uid-of-team-a" || move.UID != "uid-of-payments" || move.ResourceVersion == "" || move.Derived {
						t.Errorf("the row is %+v", move)
					}
				}
			})
		})
	}
}

// docs/spec/history.md HI1: the works of a delivered object are one decision. Reports of agents are no change.
func TestHI1WorksOfADeliveredObject(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHub(t, true)
		key := inventory.Key{NamespacedName: types.NamespacedName{Namespace: "team-a", Name: "web"}, GroupKind: "Deployment.apps"}
		work := func(cluster, version string) *metav1.ObjectMeta {
			return &metav1.ObjectMeta{Namespace: cluster, Name: "work", ResourceVersion: version, CreationTimestamp: metav1.Now()}
		}
		h.SetWork(key, work("eu1", "1"), true)
		h.SetWork(key, work("eu2", "2"), false)
		h.DeleteWork(key, work("eu1", "3"))
		h.SetWork(key, work("eu2", "4"), false)
		h.expect(t, "a move", "lost eu1, gained eu2")
		h.SetWork(key, work("eu2", "5"), false)
		h.ForgetWorks()
		h.SetWork(key, work("eu3", "5"), true)
		h.expect(t, "another initial list", "lost eu1, gained eu2")
		moves, _ := h.Find(history.Query{})
		if of := moves[0]; of.Kind != "Deployment" || of.Group != "apps" || of.Name != "web" || of.NamespaceUID != "uid-of-team-a" {
			t.Errorf("the row is %+v", of)
		}
	})
	var none *Recorder
	none.SetWork(key, &metav1.ObjectMeta{}, false)
	none.DeleteWork(key, &metav1.ObjectMeta{})
	none.ForgetWorks()
	none.Begin(key)
	none.End(key, nil)
}

func managed(name, version string, change func(*clusterv1.ManagedCluster)) *clusterv1.ManagedCluster {
	cluster := &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{
		Name: name, UID: types.UID(name), ResourceVersion: version, Labels: map[string]string{"region": "eu"},
	}}
	if change != nil {
		change(cluster)
	}
	return cluster
}

// by notes who wrote the spec of an object.
func by(manager string) func(*clusterv1.ManagedCluster) {
	return func(cluster *clusterv1.ManagedCluster) {
		now := metav1.Now()
		cluster.ManagedFields = []metav1.ManagedFieldsEntry{{
			Manager: manager, Operation: metav1.ManagedFieldsOperationUpdate, Time: &now,
			FieldsV1: metav1.NewFieldsV1(`{"f:spec":{"f:taints":{}},"f:metadata":{"f:labels":{"f:region":{}}}}`),
		}}
	}
}

// show sends an object through the transform of the cache and to the event handler.
func (h *hub) show(t *testing.T, before, after client.Object) {
	t.Helper()
	kept, err := h.Transform(func(in any) (any, error) {
		if object, is := in.(client.Object); is {
			object.SetManagedFields(nil)
		}
		return in, nil
	})(after)
	if err != nil || kept != any(after) {
		t.Fatalf("the transform returns %v, %v", kept, err)
	}
	if before == nil {
		h.changesOf().OnAdd(after, true)
		return
	}
	h.changesOf().OnUpdate(before, after)
}

// docs/spec/history.md HI5 to HI7: a row has the changes that the Placement depends on, and a standby says that they are derived.
func TestHI5CausesOfARow(t *testing.T) {
	for _, leads := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			h := newHub(t, leads)
			h.set("p-decision-1", true, "eu1", "eu2")
			plain, other := managed("eu2", "1", by("creator")), managed("eu9", "1", by("creator"))
			h.show(t, nil, plain)
			h.show(t, nil, other)
			tainted := managed("eu2", "2", by("kubectl-edit"))
			tainted.Spec.Taints = []clusterv1.Taint{{Key: "maintenance", Effect: clusterv1.TaintEffectNoSelect}}
			tainted.Labels["unread"] = "x"
			elsewhere := managed("eu9", "2", by("nobody-asks"))
			elsewhere.Labels = nil
			h.show(t, plain, tainted)
			h.show(t, other, elsewhere)
			h.set("p-decision-1", false, "eu1", "us2")
			h.expect(t, "a taint", "lost eu2, gained us2: ManagedCluster eu2 taint maintenance:NoSelect added by kubectl-edit")

			moved := managed("us2", "3", by("ci"))
			moved.Labels["region"] = "us"
			h.show(t, managed("us2", "2", nil), moved)
			h.set("p-decision-1", false, "eu1")
			rows := h.rows()
			if want := "lost us2: ManagedCluster us2 label region changed from eu to us by ci"; len(rows) != 2 || rows[1] != want {
				t.Errorf("rows %q, want %q at last", rows, want)
			}
			moves, _ := h.Find(history.Query{})
			if slices.ContainsFunc(moves, func(move *history.Move) bool { return move.Derived == leads }) {
				t.Errorf("leads %v, derived %v", leads, moves[0].Derived)
			}
		})
	}
}

// docs/spec/history.md HI5: a Placement that was deleted reads nothing, so that labels that it never read are no causes of its last row.
func TestHI5CausesOfADeletedPlacement(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHub(t, true)
		h.set("p-decision-1", true, "eu1")
		plain, labelled := managed("eu1", "1", nil), managed("eu1", "2", by("agent"))
		labelled.Labels["unread"] = "x"
		h.show(t, plain, labelled)
		placement := &clusterv1beta1.Placement{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "payments", UID: "uid-of-payments"}}
		objects, is := h.informers.(client.Client)
		if !is {
			t.Fatalf("the objects are in a %T", h.informers)
		}
		if err := objects.Delete(t.Context(), placement); err != nil {
			t.Fatal(err)
		}
		h.changesOf().OnDelete(placement)
		h.set("p-decision-1", false)
		h.expect(t, "a deletion", "lost eu1: Placement team-a/payments deleted")
	})
}

// lookups counts the reads of a client that has no right.
type lookups struct {
	client.Reader

	count int
}

func (l *lookups) List(context.Context, client.ObjectList, ...client.ListOption) error {
	l.count++
	return apierrors.NewForbidden(schema.GroupResource{Resource: "namespaces"}, "", errors.New("no right"))
}

// A hub that may not read namespaces asks once a minute, and not for each row.
func TestANamespaceThatCannotBeReadIsNotReadForEachRow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		live := &lookups{}
		known := newNamespaces(live)
		for range 100 {
			if _, err := known.uid(t.Context(), "team-a", time.Now()); !apierrors.IsForbidden(err) {
				t.Fatalf("error %v", err)
			}
		}
		if live.count != 1 {
			t.Errorf("%d reads at once", live.count)
		}
		<-time.After(failed)
		if _, err := known.uid(t.Context(), "team-a", time.Now()); err == nil || live.count != 2 {
			t.Errorf("%d reads after a minute, error %v", live.count, err)
		}
	})
}

// docs/spec/history.md HI9: the uid of a later namespace of the same name is not that of a row.
func TestHI9NamespacesOfObjects(t *testing.T) {
	created := metav1.NewTime(time.Now().Add(-time.Hour).Truncate(time.Second))
	live := byName(fake.NewClientBuilder().WithScheme(scheme.New()).WithObjects(
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "team-a", UID: "second", CreationTimestamp: created}},
	))
	known := newNamespaces(live)
	for _, tc := range []struct {
		reason  string
		name    string
		created time.Time
		want    types.UID
		failed  string
	}{
		{reason: "an object of the namespace", name: "team-a", created: created.Add(time.Minute), want: "second"},
		{reason: "an object of a former namespace", name: "team-a", created: created.Add(-time.Minute)},
		{reason: "no namespace", name: "team-b", created: created.Time, failed: "there is no namespace team-b"},
	} {
		uid, err := known.uid(t.Context(), tc.name, tc.created)
		if uid != tc.want || (err != nil) != (tc.failed != "") || err != nil && !strings.Contains(err.Error(), tc.failed) {
			t.Errorf("%s: %q, %v", tc.reason, uid, err)
		}
	}
}

// docs/spec/history.md HI2: what waits for event handlers that never come is bounded.
func TestHI2ManagedFieldsAreBounded(t *testing.T) {
	f := newFields(64 << 10)
	for i := range 10000 {
		cluster := managed(fmt.Sprintf("c%d", i), "1", by(strings.Repeat("x", i%100)))
		f.put(cluster)
		if i%3 == 0 {
			f.take(cluster)
		}
	}
	if f.bytes > f.most || len(f.waiting) > len(f.order) || len(f.latest) > f.mostObjects {
		t.Errorf("%d bytes of %d, %d wait, %d of %d times", f.bytes, f.most, len(f.waiting), len(f.latest), f.mostObjects)
	}
}

// docs/spec/history.md HI4: the history of a heartbeat allocates nothing.
func TestHI4AHeartbeatIsNoChange(t *testing.T) {
	r := New(1<<20, "")
	before, after := managed("c1", "1", nil), managed("c1", "2", nil)
	if allocated := testing.AllocsPerRun(100, func() { r.observe(before, after, false, time.Now) }); allocated > 0 {
		t.Errorf("a heartbeat allocates %.0f times", allocated)
	}
}

func BenchmarkHeartbeat(b *testing.B) {
	r := New(32<<20, "")
	before, after := managed("c1", "1", nil), managed("c1", "2", by("agent"))
	transform := r.Transform(func(in any) (any, error) { return in, nil })
	b.ReportAllocs()
	for b.Loop() {
		if _, err := transform(after); err != nil {
			b.Fatal(err)
		}
		r.observe(before, after, false, time.Now)
	}
}

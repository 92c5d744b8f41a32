// SPDX-License-Identifier: Apache-2.0

package placement

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	"pgregory.net/rapid"

	"github.com/placement-hub/placement-hub/pkg/placement/api"
	"github.com/placement-hub/placement-hub/pkg/scheduling"
	"github.com/placement-hub/placement-hub/test/property"
)

// leader is one of several processes that write the pages of the store: its view, and the plan that it applies.
type leader struct {
	name   string
	result *scheduling.Result
	// left are the requests still to be sent; each reports whether it was carried out.
	left []func() bool
}

// begin plans on the current view, or on an old one.
func (l *leader) begin(t rapid.TB, server, seen *store) {
	plan := NewPlan(l.result, seen.existing(), seen.now)
	answered := map[string]*api.Page{}
	l.left = nil

	// A request is sent with the last answer, or with what the plan was made on.
	upToDate := func(name string, planned *api.Page) bool {
		based, there := cmp.Or(answered[name], planned), server.pages[name]
		if based == nil || there == nil {
			return based == there
		}
		return based.UID == there.UID && based.ResourceVersion == there.ResourceVersion
	}

	for _, write := range plan.Writes {
		if write.Delete {
			l.left = append(l.left, func() bool {
				there := upToDate(write.Desired.Name, write.Current)
				if there {
					delete(server.pages, write.Desired.Name)
				}
				return there
			})
			continue
		}

		for _, request := range requests(plan.Codec, write) {
			l.left = append(l.left, func() bool {
				if !upToDate(write.Desired.Name, write.Current) {
					return false
				}
				server.serve(t, request, write.Desired)
				answered[write.Desired.Name] = server.pages[write.Desired.Name]
				return true
			})
		}
	}

	for _, gone := range plan.Deletes {
		l.left = append(l.left, func() bool {
			if !upToDate(gone.Name, gone) {
				return false
			}
			delete(server.pages, gone.Name)
			return true
		})
	}
}

// step sends the next request. A rejected request ends the plan.
func (l *leader) step() {
	next := l.left[0]
	l.left = l.left[1:]
	if !next() {
		l.left = nil
	}
}

// regrouped returns a result for the fleet in which the seed determines the groups.
func regrouped(s *store, seed int, clusters []string) *scheduling.Result {
	i := stateOf()
	for n, name := range clusters {
		prefix := []string{"canary", "x", "other"}[(n*7+n/3*seed+seed)%3]
		i.SetCluster(&clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"prefix": prefix}}})
	}
	return s.schedule(i)
}

// docs/spec/differences.md B1: with any number of processes that consider themselves the leader, any old views of the clusters and the
// pages, and any order of the requests, a cluster that was on the pages and that all of them select is always on a page. When they agree in
// the end, the next plan completes the change.
func TestTwoLeadersRemoveNothing(t *testing.T) {
	property.Check(t, func(t *rapid.T) {
		strategy := byPrefix(intstr.FromInt32(rapid.Int32Range(2, 5).Draw(t, "length")), "canary", "x")
		server := newStore(placementOf(clusterv1beta1.PlacementSpec{DecisionStrategy: strategy}))
		clusters := fleet(rapid.IntRange(3, 14).Draw(t, "clusters"))
		server.settle(t, regrouped(server, 0, clusters))
		leaders := make([]*leader, rapid.IntRange(2, 3).Draw(t, "leaders"))
		for n := range leaders {
			leaders[n] = &leader{name: fmt.Sprintf("leader %d", n), result: regrouped(server, n, clusters)}
		}
		past := []*store{server.clone()}
		told := []string{}

		for range rapid.IntRange(10, 60).Draw(t, "steps") {
			r := leaders[rapid.IntRange(0, len(leaders)-1).Draw(t, "who")]
			if len(r.left) == 0 {
				r.result = regrouped(server, rapid.IntRange(0, 5).Draw(t, "view of the clusters"), clusters)
				seen := past[max(0, len(past)-1-rapid.IntRange(0, 3).Draw(t, "age of the view"))]
				r.begin(t, server, seen)
				told = append(told, r.name+" has a view of "+fmt.Sprint(seen.pageLines()))
				continue
			}

			r.step()
			past = append(past, server.clone())
			told = append(told, r.name+" leaves "+fmt.Sprint(server.pageLines()))
			for _, name := range clusters {
				if !server.union()[name] {
					t.Fatalf("%s is in no page:\n%s", name, strings.Join(told, "\n"))
				}
			}
		}

		server.settle(t, leaders[0].result)
	})
}

// A process acts between two writes of another: each relies on a page that the other is about to write, and neither of these writes alone
// is on an old version.
func TestLeadersDoNotRelyOnEachOther(t *testing.T) {
	placement := placementOf(clusterv1beta1.PlacementSpec{DecisionStrategy: byPrefix(intstr.FromInt32(5), "canary")})
	server := newStore(placement)
	clusters := []string{"c-1", "c-2", "c-3"}
	labelled := func(canaries ...string) *scheduling.Result {
		i := stateOf()
		for _, name := range clusters {
			prefix := "x"
			if slices.Contains(canaries, name) {
				prefix = "canary"
			}
			i.SetCluster(&clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"prefix": prefix}}})
		}
		return server.schedule(i)
	}

	server.settle(t, labelled("c-1", "c-2"))
	one, other := &leader{result: labelled("c-1")}, &leader{result: labelled("c-1", "c-2")}
	one.begin(t, server, server.clone())
	one.step()
	expect(t, "c-2 comes into the other group first", []string{"c-1 c-2", "c-2 c-3"}, server.contents())

	other.begin(t, server, server.clone())
	for len(other.left) > 0 {
		other.step()
	}
	expect(t, "who knows nothing of the change undoes it", []string{"c-1 c-2", "c-3"}, server.contents())

	one.step()
	expect(t, "the rest of the plan is refused", []string{"c-1 c-2", "c-3"}, server.contents())
	for range 2 {
		one.begin(t, server, server.clone())
		for len(one.left) > 0 {
			one.step()
		}
	}
	expect(t, "it is made again", []string{"c-1", "c-2 c-3"}, server.contents())
}

// contents returns the clusters of every page by name.
func (s *store) contents() []string {
	var contents []string
	for _, name := range slices.Sorted(maps.Keys(s.pages)) {
		contents = append(contents, clustersOf(s.pages[name]))
	}
	return contents
}

// A touch is valid for the version of the page that relies on it, and a later touch drops the versions that are no longer there.
func TestTouchesNameTheVersionsThatRelyOnThem(t *testing.T) {
	placement := placementOf(clusterv1beta1.PlacementSpec{})
	for _, tc := range []struct {
		reason, before, after string // The page is not touched if the annotation after it is empty.
	}{
		{"never touched", "", "p-decision-3@3"},
		{"touched for both", "p-decision-2@2,p-decision-3@3", ""},
		{"touched for one", "p-decision-3@3", "p-decision-3@3,p-decision-2@2"},
		{"touched for an earlier version", "p-decision-3@2", "p-decision-3@3"},
		{"touched for a page that is gone, too", "p-decision-9@9,p-decision-3@3", "p-decision-3@3,p-decision-2@2"},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			relied := edited(page(1, 0, "", "c-1", "c-2"), func(p *api.Page) {
				p.Annotations = map[string]string{touchedForAnnotation: tc.before}
			})
			plan := planOf(selecting(placement, "c-1", "c-2"), existingOf(placement, relied, page(2, 1, "old", "c-1"), page(3, 1, "old", "c-2")))
			after := ""
			for _, write := range plan.Writes {
				expect(t, write.Desired.Name+" is touched", true, write.Touch)
				after = write.Desired.Annotations[touchedForAnnotation]
			}
			expect(t, "annotation", tc.after, after)
			expect(t, "annotation of the cache", tc.before, relied.Annotations[touchedForAnnotation])
		})
	}
}

// A touch makes the API server reject writes of the older version, and consumers see no change.
func TestConfirmationChangesNothingButTheVersion(t *testing.T) {
	placement := placementOf(clusterv1beta1.PlacementSpec{})
	first, second := page(1, 0, "", "c-1", "c-2"), page(2, 1, "old", "c-1")
	codec := api.V1beta1.Codec()
	s := newServer(t, codec.Write(first), codec.Write(second))
	var told []string
	plan := planOf(selecting(placement, "c-1", "c-2"), existingOf(placement, first, second))

	written, err := Writer{Client: s}.Write(t.Context(), plan, observer(&told))
	if err != nil {
		t.Fatal(err)
	}
	if err := (Writer{Client: s}).Delete(t.Context(), plan, written, observer(&told)); err != nil {
		t.Fatal(err)
	}

	expect(t, "told", []string{"touch p-decision-1 <nil>", "delete p-decision-2 <nil>"}, told)
	expect(t, "requests", []string{
		"patch p-decision-1 uid=uid-1 rv=1 application/merge-patch+json", "delete p-decision-2 uid=uid-2 rv=2",
	}, s.requests)
	confirmed := codec.Read(s.get(t, "p-decision-1"))
	expect(t, "version", "2", confirmed.ResourceVersion)
	expect(t, "labels", first.Labels, confirmed.Labels)
	expect(t, "decisions", first.Decisions, confirmed.Decisions)
	expect(t, "what is left beside the page that was to be deleted", []string{"delete p-decision-2"},
		steps(planOf(selecting(placement, "c-1", "c-2"), existingOf(placement, confirmed, second))))
	expect(t, "what is left", []string{}, steps(planOf(selecting(placement, "c-1", "c-2"), existingOf(placement, confirmed))))
}

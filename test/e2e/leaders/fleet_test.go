// SPDX-License-Identifier: Apache-2.0

package leaders

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"

	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/test/e2e/suite"
)

const (
	fleetNamespace = "fleet"
	fleetSet       = "fleet"
	fleetLabel     = "stage"
	// fleetWriters is how many requests are under way at the same time.
	fleetWriters = 16
)

// fleet is the clusters of one set and what a placement of all of them is to select. Steps change both at once; the order in which the
// parts of one step arrive makes no difference to the answer.
type fleet struct {
	api    client.Client
	random *rand.Rand

	stages   map[string]string // label of every cluster
	rules    []string          // group rules, by the label they select
	length   int               // of a group
	wanted   *int32
	selected []string // sorted
	first    int      // number of the cluster whose name sorts first
}

// step is one change.
type step struct {
	what  string
	apply func(context.Context) error
}

// newFleet has 350 clusters: canary and rest on several pages, and the rest in two groups.
func newFleet(api client.Client, random *rand.Rand) *fleet {
	f := &fleet{api: api, random: random, stages: map[string]string{}, rules: []string{"canary", "staging"}, length: 150, first: 1000}
	for n := range 350 {
		f.stages[fmt.Sprintf("c%03d", n)] = []string{"canary", "production", "canary", "production", "production", "staging", "production"}[n%7]
	}
	f.choose()
	return f
}

func (f *fleet) populate(ctx context.Context) error {
	return f.each(ctx, f.clusters(), func(ctx context.Context, name string) error { return f.create(ctx, name, f.stages[name]) })
}

// each does something to clusters, several at a time.
func (f *fleet) each(ctx context.Context, clusters []string, do func(context.Context, string) error) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(fleetWriters)
	for _, name := range clusters {
		group.Go(func() error { return do(ctx, name) })
	}
	return group.Wait()
}

func (f *fleet) create(ctx context.Context, name, stage string) error {
	return f.api.Create(ctx, &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{
		Name: name, Labels: map[string]string{clusterv1beta2.ClusterSetLabel: fleetSet, fleetLabel: stage},
	}})
}

func (f *fleet) clusters() []string {
	names := make([]string, 0, len(f.stages))
	for name := range f.stages {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// choose computes what is selected: those that are stay, the others join by name (docs/spec/upstream-placement.md 1.8, Steady and the
// tie-break).
func (f *fleet) choose() {
	known := func(name string) bool { return f.stages[name] != "" }
	f.selected = slices.DeleteFunc(f.selected, func(name string) bool { return !known(name) })
	joining := slices.DeleteFunc(f.clusters(), func(name string) bool { return slices.Contains(f.selected, name) })
	f.selected = append(f.selected, joining...)
	if f.wanted != nil {
		f.selected = f.selected[:min(len(f.selected), int(*f.wanted))]
	}
	slices.Sort(f.selected)
}

// portions are the selected clusters by the name of their groups.
func (f *fleet) portions() map[string][]string {
	portions := map[string][]string{}
	for _, name := range f.selected {
		stage := f.stages[name]
		if !slices.Contains(f.rules, stage) {
			stage = ""
		}
		portions[stage] = append(portions[stage], name)
	}
	return portions
}

func (f *fleet) placement() *clusterv1beta1.Placement {
	strategy := clusterv1beta1.GroupStrategy{ClustersPerDecisionGroup: intstr.FromInt(f.length)}
	if f.length == 0 {
		strategy.ClustersPerDecisionGroup = intstr.FromString("100%")
	}
	for _, rule := range f.rules {
		strategy.DecisionGroups = append(strategy.DecisionGroups, clusterv1beta1.DecisionGroup{
			GroupName: rule, ClusterSelector: clusterv1beta1.GroupClusterSelector{
				LabelSelector: metav1.LabelSelector{MatchLabels: map[string]string{fleetLabel: rule}},
			},
		})
	}
	return &clusterv1beta1.Placement{
		ObjectMeta: metav1.ObjectMeta{Namespace: fleetNamespace, Name: "p"},
		Spec: clusterv1beta1.PlacementSpec{
			NumberOfClusters: f.wanted, DecisionStrategy: clusterv1beta1.DecisionStrategy{GroupStrategy: strategy},
		},
	}
}

// respec is a step that writes the spec; what is not there is written as null, which removes it.
func (f *fleet) respec(what string) step {
	f.choose()
	placement := f.placement()
	strategy := placement.Spec.DecisionStrategy.GroupStrategy
	return step{what: what, apply: func(ctx context.Context) error {
		body, err := json.Marshal(map[string]any{"spec": map[string]any{
			"numberOfClusters": placement.Spec.NumberOfClusters, "decisionStrategy": map[string]any{"groupStrategy": map[string]any{
				"clustersPerDecisionGroup": strategy.ClustersPerDecisionGroup, "decisionGroups": strategy.DecisionGroups,
			}},
		}})
		if err != nil {
			return err
		}
		return f.api.Patch(ctx, placement, suite.MergePatch(string(body)))
	}}
}

// some draws clusters that have a label; all when stage is empty.
func (f *fleet) some(stage string, least, most int) []string {
	from := slices.DeleteFunc(f.clusters(), func(name string) bool { return stage != "" && f.stages[name] != stage })
	f.random.Shuffle(len(from), func(i, j int) { from[i], from[j] = from[j], from[i] })
	return from[:min(len(from), least+f.random.IntN(most-least+1))]
}

// insert adds clusters whose names sort before all others.
func (f *fleet) insert() step {
	stage := []string{"canary", "staging", "production"}[f.random.IntN(3)]
	var added []string
	for range 10 + f.random.IntN(30) {
		f.first--
		added = append(added, fmt.Sprintf("a%03d", f.first))
		f.stages[added[len(added)-1]] = stage
	}
	f.choose()
	return step{what: fmt.Sprintf("insert %d clusters of %s before all others", len(added), stage), apply: func(ctx context.Context) error {
		return f.each(ctx, added, func(ctx context.Context, name string) error { return f.create(ctx, name, stage) })
	}}
}

// remove deletes clusters of all stages or of one.
func (f *fleet) remove() step {
	stage := []string{"", "canary", "production"}[f.random.IntN(3)]
	removed := f.some(stage, 5, 45)
	for _, name := range removed {
		delete(f.stages, name)
	}
	f.choose()
	return step{what: fmt.Sprintf("remove %d clusters of %q", len(removed), stage), apply: func(ctx context.Context) error {
		return f.each(ctx, removed, func(ctx context.Context, name string) error {
			return f.api.Delete(ctx, &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: name}})
		})
	}}
}

// relabel moves clusters from one stage to another, and swap as many back, so that full groups exchange clusters.
func (f *fleet) relabel() step {
	one, other := f.twoStages()
	return f.move(fmt.Sprintf("from %s to %s", one, other), map[string][]string{other: f.some(one, 5, 60)})
}

func (f *fleet) swap() step {
	one, other := f.twoStages()
	there := f.some(one, 5, 60)
	return f.move(fmt.Sprintf("between %s and %s", one, other), map[string][]string{other: there, one: f.some(other, len(there), len(there))})
}

func (f *fleet) twoStages() (one, other string) {
	stages := []string{"canary", "staging", "production"}
	f.random.Shuffle(len(stages), func(i, j int) { stages[i], stages[j] = stages[j], stages[i] })
	return stages[0], stages[1]
}

// move gives clusters a stage.
func (f *fleet) move(what string, to map[string][]string) step {
	var moved []string
	for stage, names := range to {
		moved = append(moved, names...)
		for _, name := range names {
			f.stages[name] = stage
		}
	}
	slices.Sort(moved)
	return step{what: fmt.Sprintf("move %d clusters %s", len(moved), what), apply: func(ctx context.Context) error {
		return f.each(ctx, moved, func(ctx context.Context, name string) error {
			body := fmt.Sprintf(`{"metadata":{"labels":{%q:%q}}}`, fleetLabel, f.stages[name])
			return f.api.Patch(ctx, &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: name}}, suite.MergePatch(body))
		})
	}}
}

// regroup changes the rules and the length of the groups.
func (f *fleet) regroup() step {
	strategies := []struct {
		rules  []string
		length int
	}{
		{[]string{"canary", "staging"}, 150}, {[]string{"staging", "canary"}, 110}, {[]string{"canary"}, 130}, {[]string{"production"}, 90},
		{[]string{"staging", "production"}, 140}, {nil, 120}, {[]string{"canary", "staging"}, 0},
	}
	for {
		next := strategies[f.random.IntN(len(strategies))]
		if next.length == f.length {
			continue
		}
		f.rules, f.length = next.rules, next.length
		return f.respec(fmt.Sprintf("group by %v, %d at most", f.rules, f.length))
	}
}

// fewer and more change the number of clusters; there are always enough to have it.
func (f *fleet) fewer() step {
	f.wanted = ptr.To(int32(180 + f.random.IntN(60)))
	return f.respec(fmt.Sprintf("want %d clusters", *f.wanted))
}

func (f *fleet) more() step {
	f.wanted = ptr.To(int32(min(len(f.selected)+20, len(f.stages)-100)))
	return f.respec(fmt.Sprintf("want %d clusters", *f.wanted))
}

func (f *fleet) all() step {
	f.wanted = nil
	return f.respec("want all clusters")
}

// SPDX-License-Identifier: Apache-2.0

package consumers

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/watch"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/test/env/faults"
	"github.com/placement-hub/placement-hub/test/program"
	"github.com/placement-hub/placement-hub/test/property"
)

const (
	// placementName is the placement of all clusters that the scene regroups.
	placementName = "all"
	// orderTimeout is how long the order of groups may take after every cluster is in the right group.
	orderTimeout = time.Minute
)

// The ManifestWorkReplicaSets of the scene, one for each rollout strategy.
const (
	rolloutAll      = "rollout-all"
	rolloutSome     = "rollout-progressive"
	rolloutPerGroup = "rollout-per-group"
)

// decisive are the requests by which the hub carries a placement out.
var decisive = faults.Match{
	Verbs:     []string{"create", "update", "patch", "delete"},
	Resources: []string{"placementdecisions", "placementdecisions/status", "placements/status"},
	Namespace: namespace,
}

// scene is a placement of all clusters, grouped by their stages, with a ManifestWorkReplicaSet for each rollout strategy.
type scene struct {
	*plane
	*fleet

	random *rand.Rand
	works  *works
	judged int // how many events of works have been judged

	rules  []string // the stages that have a decision group, in the order of the spec
	length int      // clustersPerDecisionGroup
	// revisions of the templates, by ManifestWorkReplicaSet.
	revisions map[string]int
	next      int // first number of the next clusters to insert
}

// startScene has 105 clusters, of which 21 are canaries and 21 are in staging.
func startScene(t *testing.T) *scene {
	t.Helper()
	s := &scene{
		random: property.Random(t), plane: startPlane(t), rules: []string{"canary", "staging"}, length: 50, revisions: map[string]int{}, next: 1000,
	}
	stages := map[string]string{}
	for n := range 105 {
		stages[fmt.Sprintf("cluster-%03d", n)] = []string{"canary", "staging", "production", "production", "production"}[n%5]
	}
	s.fleet = startFleet(t, s.plane.client, stages)
	s.works = recordWorks(t, s.plane.client)

	program.Must(t, s.api.Create(t.Context(), &clusterv1beta1.Placement{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: placementName},
		Spec:       clusterv1beta1.PlacementSpec{DecisionStrategy: clusterv1beta1.DecisionStrategy{GroupStrategy: s.strategy()}},
	}))
	canaries := clusterv1alpha1.MandatoryDecisionGroups{MandatoryDecisionGroups: []clusterv1alpha1.MandatoryDecisionGroup{{GroupName: "canary"}}}
	for name, strategy := range map[string]clusterv1alpha1.RolloutStrategy{
		rolloutAll: {Type: clusterv1alpha1.All, All: &clusterv1alpha1.RolloutAll{}},
		rolloutSome: {Type: clusterv1alpha1.Progressive, Progressive: &clusterv1alpha1.RolloutProgressive{
			MaxConcurrency: intstr.FromString("40%"), MandatoryDecisionGroups: canaries,
		}},
		rolloutPerGroup: {Type: clusterv1alpha1.ProgressivePerGroup, ProgressivePerGroup: &clusterv1alpha1.RolloutProgressivePerGroup{}},
	} {
		s.revisions[name] = 0
		program.Must(t, s.api.Create(t.Context(), replicaSet(name, placementName, strategy)))
	}

	s.settle(t)
	s.judge(t)
	return s
}

// strategy groups by the rules.
func (s *scene) strategy() clusterv1beta1.GroupStrategy {
	strategy := clusterv1beta1.GroupStrategy{ClustersPerDecisionGroup: intstr.FromInt(s.length)}
	for _, rule := range s.rules {
		strategy.DecisionGroups = append(strategy.DecisionGroups, clusterv1beta1.DecisionGroup{
			GroupName: rule, ClusterSelector: clusterv1beta1.GroupClusterSelector{
				LabelSelector: metav1.LabelSelector{MatchLabels: map[string]string{stageLabel: rule}},
			},
		})
	}
	return strategy
}

// change is something that happens to clusters or to the placement.
type change struct {
	what  string
	apply func(context.Context) error
}

// regroup writes the group rules of the placement.
func (s *scene) regroup(length int, rules ...string) change {
	s.rules, s.length = rules, length
	strategy := s.strategy()
	return change{what: fmt.Sprintf("group by %v, %d at most", rules, length), apply: func(ctx context.Context) error {
		return s.respec(ctx, map[string]any{
			"predicates": nil,
			"decisionStrategy": map[string]any{"groupStrategy": map[string]any{
				"clustersPerDecisionGroup": strategy.ClustersPerDecisionGroup, "decisionGroups": strategy.DecisionGroups,
			}},
		})
	}}
}

// respec patches the spec of the placement; a nil removes a field.
func (s *scene) respec(ctx context.Context, spec map[string]any) error {
	body, err := json.Marshal(map[string]any{"spec": spec})
	if err != nil {
		return err
	}
	placement := &clusterv1beta1.Placement{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: placementName}}
	return s.api.Patch(ctx, placement, mergePatch(string(body)))
}

// draw picks clusters of a stage by chance, at least some and at most many; all stages when stage is empty.
func (s *scene) draw(stage string, least, most int) []string {
	from := s.clusters()
	if stage != "" {
		from = s.of(stage)
	}
	s.random.Shuffle(len(from), func(i, j int) { from[i], from[j] = from[j], from[i] })
	return from[:min(len(from), least+s.random.IntN(most-least+1))]
}

// move is a change of labels by which 20 to 79 clusters, where there are so many, leave one stage for another.
func (s *scene) move(from, to string) change {
	stages := map[string]string{}
	for _, name := range s.draw(from, 20, 79) {
		stages[name] = to
	}
	return change{what: fmt.Sprintf("move %d clusters from %s to %s", len(stages), from, to), apply: func(ctx context.Context) error {
		return s.relabel(ctx, stages)
	}}
}

// swap is a change of labels by which two stages exchange clusters.
func (s *scene) swap(one, other string) change {
	there := s.draw(one, 20, 40)
	back := s.draw(other, len(there), len(there))
	stages := map[string]string{}
	for _, name := range there {
		stages[name] = other
	}
	for _, name := range back {
		stages[name] = one
	}
	return change{what: fmt.Sprintf("swap %d clusters between %s and %s", len(stages), one, other), apply: func(ctx context.Context) error {
		return s.relabel(ctx, stages)
	}}
}

// insert is clusters that come and whose names sort before all others.
func (s *scene) insert(stage string) change {
	stages := map[string]string{}
	for range 10 + s.random.IntN(30) {
		s.next--
		stages[fmt.Sprintf("before-%03d", s.next)] = stage
	}
	return change{what: fmt.Sprintf("insert %d clusters of %s", len(stages), stage), apply: func(ctx context.Context) error {
		return s.add(ctx, stages)
	}}
}

// leave is clusters of a stage that go.
func (s *scene) leave(stage string) change {
	names := s.draw(stage, 5, 40)
	return change{what: fmt.Sprintf("remove %d clusters of %q", len(names), stage), apply: func(ctx context.Context) error {
		return s.remove(ctx, names)
	}}
}

// take carries a change out, waits until hub and work manager have followed, and judges what they did on the way.
func (s *scene) take(t *testing.T, c change) {
	t.Helper()
	began := time.Now()
	program.Must(t, c.apply(t.Context()))
	s.settle(t)
	s.judge(t)
	t.Logf("%s: %v", c.what, time.Since(began).Round(time.Millisecond))
}

// takeAndKill is take with a hub that is killed after so many writes, while it waits for the answer to the next one.
func (s *scene) takeAndKill(t *testing.T, c change, writes int) {
	t.Helper()
	began, before, killed := time.Now(), len(s.proxy.Requests(decisive)), "an idle hub"
	mend := s.proxy.Break(faults.Rule{Match: decisive, Fault: faults.Hang, After: writes})
	defer mend()

	program.Must(t, c.apply(t.Context()))
	eventually(t, "waiting for the write that hangs", func() error {
		written := s.proxy.Requests(decisive)[before:]
		if len(written) > writes {
			killed = fmt.Sprintf("the hub at write %d, %s of %s %s", writes+1, written[writes].Verb, written[writes].Resource, written[writes].Name)
			return nil
		}
		return s.unsettled(t.Context())
	})
	s.hub.kill(t)
	mend()
	s.startHub()
	s.settle(t)
	s.judge(t)
	t.Logf("%s; killed was %s: %v", c.what, killed, time.Since(began).Round(time.Millisecond))
}

// settle waits until the decisions and the ManifestWorks are those of all clusters, and then has the ManifestWorkReplicaSet that follows the
// groups roll a new revision out: what the work manager had under way for it before is finished by then. The others roll one out at the end.
func (s *scene) settle(t *testing.T) {
	t.Helper()
	eventually(t, "waiting for the decisions", func() error { return s.unsettled(t.Context()) })
	if err := await(t, orderTimeout, func() error { return s.disordered(t.Context()) }); err != nil {
		t.Error(err)
	}
	for set := range s.revisions {
		eventually(t, "waiting for the ManifestWorks", func() error { return s.works.difference(set, s.clusters()) })
	}
	s.rollOut(t, rolloutPerGroup)
}

// rollOut gives a ManifestWorkReplicaSet another revision and waits until all its ManifestWorks have it.
func (s *scene) rollOut(t *testing.T, set string) {
	t.Helper()
	first := s.works.count()
	s.revisions[set]++
	revision := s.revisions[set]
	program.Must(t, revise(t.Context(), s.api, set, revision))
	eventually(t, "waiting for a new revision", func() error { return s.works.behind(set, revision) })
	if set != rolloutPerGroup {
		return
	}

	for _, finding := range s.outOfOrder(s.works.since(first), revision) {
		t.Error(finding)
	}
}

// outOfOrder says which clusters got a revision before others of whose stage the rule comes earlier in the spec.
func (s *scene) outOfOrder(events []workEvent, revision int) []string {
	late := map[string][]string{} // by "earlier stage" after "later stage"
	reached := 0
	seen := map[string]bool{}
	for _, event := range events {
		if event.set != rolloutPerGroup || event.kind != watch.Modified || event.revision != revision || seen[event.cluster] {
			continue
		}
		seen[event.cluster] = true
		rank := s.rank(s.stages[event.cluster])
		if rank < reached {
			what := fmt.Sprintf("a rollout reached %s before %s", s.ruleAt(reached), s.ruleAt(rank))
			late[what] = append(late[what], event.cluster)
		}
		reached = max(reached, rank)
	}

	var findings []string
	for what, clusters := range late {
		findings = append(findings, fmt.Sprintf("%s: %s", what, some(clusters)))
	}
	slices.Sort(findings)
	return findings
}

// rank is the place of a stage's rule in the spec; the rest comes last.
func (s *scene) rank(stage string) int {
	if i := slices.Index(s.rules, stage); i >= 0 {
		return i
	}
	return len(s.rules)
}

// ruleAt names the rule of a rank.
func (s *scene) ruleAt(rank int) string {
	if rank < len(s.rules) {
		return s.rules[rank]
	}
	return "the rest"
}

// judge looks at every event since it was called last.
func (s *scene) judge(t *testing.T) {
	t.Helper()
	events := s.works.since(s.judged)
	s.judged += len(events)
	selected := map[string][]string{}
	for set := range s.revisions {
		selected[set] = s.clusters()
	}
	for _, finding := range unstable(events, selected) {
		t.Error(finding)
	}
}

// pages lists the decisions.
func (s *scene) pages(ctx context.Context) ([]clusterv1beta1.PlacementDecision, error) {
	list := &clusterv1beta1.PlacementDecisionList{}
	err := s.api.List(ctx, list, client.InNamespace(namespace), client.MatchingLabels{clusterv1beta1.PlacementLabel: placementName})
	return list.Items, err
}

// unsettled says what the hub has still to do: every cluster is in one decision, in a group of its rule, and the status is up to date.
func (s *scene) unsettled(ctx context.Context) error {
	if s.hub.Ended() {
		return fmt.Errorf("the hub has ended:\n%s", s.hub.log())
	}
	pages, err := s.pages(ctx)
	if err != nil {
		return err
	}
	groups, sizes := map[string]string{}, map[string]int{}

	for _, page := range pages {
		for _, decision := range page.Status.Decisions {
			if _, twice := groups[decision.ClusterName]; twice {
				return fmt.Errorf("cluster %s has two decisions", decision.ClusterName)
			}
			groups[decision.ClusterName] = page.Labels[clusterv1beta1.DecisionGroupNameLabel]
			sizes[page.Labels[clusterv1beta1.DecisionGroupIndexLabel]]++
		}
	}

	for name, stage := range s.stages {
		want := ""
		if slices.Contains(s.rules, stage) {
			want = stage
		}
		if group, found := groups[name]; !found || group != want {
			return fmt.Errorf("cluster %s is in group %q (found: %v), want %q", name, group, found, want)
		}
	}

	for index, size := range sizes {
		if size > s.length {
			return fmt.Errorf("group %s has %d clusters, want at most %d", index, size, s.length)
		}
	}
	placement := &clusterv1beta1.Placement{}
	if err := s.api.Get(ctx, client.ObjectKey{Namespace: namespace, Name: placementName}, placement); err != nil {
		return err
	}

	condition := meta.FindStatusCondition(placement.Status.Conditions, clusterv1beta1.PlacementConditionSatisfied)
	if condition == nil || condition.ObservedGeneration != placement.Generation || condition.Status != metav1.ConditionTrue ||
		len(groups) != len(s.stages) || int(placement.Status.NumberOfSelectedClusters) != len(s.stages) {
		return fmt.Errorf("%d decisions and %d clusters in the status, want %d; condition %v",
			len(groups), placement.Status.NumberOfSelectedClusters, len(s.stages), condition)
	}
	return nil
}

// disordered says where the indices of the groups do not follow the spec: all groups of the first rule, then of the second, the rest last.
func (s *scene) disordered(ctx context.Context) error {
	pages, err := s.pages(ctx)
	if err != nil {
		return err
	}
	names := map[int]string{}

	for _, page := range pages {
		index, err := strconv.Atoi(page.Labels[clusterv1beta1.DecisionGroupIndexLabel])
		if err != nil {
			return fmt.Errorf("decision group index of %s: %w", page.Name, err)
		}
		name := page.Labels[clusterv1beta1.DecisionGroupNameLabel]
		if other, found := names[index]; found && other != name {
			return fmt.Errorf("group %d has two names, %q and %q", index, other, name)
		}
		names[index] = name
	}

	var (
		order  []string
		ranks  []int
		gapped bool
	)
	for index := range len(names) {
		name, found := names[index]
		gapped = gapped || !found
		order, ranks = append(order, strconv.Quote(name)), append(ranks, s.rank(name))
	}

	if gapped || !slices.IsSorted(ranks) {
		return fmt.Errorf("the groups are %s, want them in the order of %v, the rest last (gap: %v)", strings.Join(order, " "), s.rules, gapped)
	}
	return nil
}

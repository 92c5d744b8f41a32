// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	inventory "sigs.k8s.io/cluster-inventory-api/apis/v1alpha1"
)

const (
	placementName  = "wish"
	fleetSize      = 210
	clusterManager = "conformance"
	maxNamed       = 5 // clusters that a message names
)

// wishes are what a producer is asked for in turn, as ranges of the fleet: few, over 100, over 200, fewer over all slices, none, and others.
var wishes = [][2]int{{0, 3}, {0, 110}, {0, fleetSize}, {60, 150}, {0, 0}, {10, 15}, {12, 16}}

// kills is how many writes of a change a producer may make before it is killed, in turn.
var kills = []int{1, 2, 3}

// production is the test of one producer.
type production struct {
	*Suite
	*outcomes
	ctx       context.Context //nolint:containedctx // That of the test.
	driver    Driver
	recorder  *recorder
	placement types.NamespacedName
	fleet     []ProfileRef
	profiles  []inventory.ClusterProfile
	known     profileSet
	byName    map[string]ProfileRef
	foreign   []*inventory.PlacementDecision
	scheduler string // the first name that was seen
	wish      []ProfileRef
}

// TestProducer checks what a scheduler writes: the rules from PD2 on up to the level of the suite.
func (s *Suite) TestProducer(t *testing.T, driver Driver) {
	t.Helper()
	results, err := s.Producer(t.Context(), driver)
	if err != nil {
		t.Fatal(err)
	}
	runSubtests(t, results)
}

// producerRules are the rules of TestProducer in the order of their numbers.
func producerRules() []string {
	var rules []string
	for _, rule := range Rules() {
		if rule.Level != Consumer && rule.ID != RuleSchema {
			rules = append(rules, rule.ID)
		}
	}
	return rules
}

// Producer checks what a scheduler writes, as TestProducer does, and returns the results, which are also in the report. The error is of the API
// server or the driver, and then no rule was judged.
func (s *Suite) Producer(ctx context.Context, driver Driver) ([]Result, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	p := &production{Suite: s, outcomes: newOutcomes(), ctx: ctx, driver: driver}
	remove, err := p.prepare()
	defer remove()
	if err == nil {
		err = p.run()
	}
	if err != nil {
		return nil, err
	}

	results := p.results(producerRules()...)
	for i := range results {
		if !s.options.Level.includes(results[i].Level) {
			results[i] = Result{Rule: results[i].Rule, Outcome: Skipped, Reason: "above the level " + string(s.options.Level)}
		}
	}
	s.report.add(results)
	return results, nil
}

// prepare makes the fleet, the namespace of the placement and the slices of others, and begins to record. What it returns removes them.
func (p *production) prepare() (func(), error) {
	var removes []func()
	remove := func() {
		for _, remove := range slices.Backward(removes) {
			remove()
		}
	}
	if fleet, brings := p.driver.(Fleet); brings {
		var err error
		if p.fleet, err = fleet.Profiles(p.ctx, fleetSize); err != nil || len(p.fleet) != fleetSize {
			return remove, fmt.Errorf("the driver has %d ClusterProfiles of %d: %w", len(p.fleet), fleetSize, err)
		}
	} else {
		namespace, removeFleet, err := p.createNamespace(p.ctx, "fleet")
		if err != nil {
			return remove, err
		}
		removes = append(removes, removeFleet)
		if err := p.createProfiles(namespace, fleetSize); err != nil {
			return remove, err
		}
	}
	list, err := p.client.ApisV1alpha1().ClusterProfiles(metav1.NamespaceAll).List(p.ctx, metav1.ListOptions{})
	if err != nil {
		return remove, fmt.Errorf("list ClusterProfiles: %w", err)
	}
	p.profiles, p.known, p.byName = list.Items, newProfileSet(list.Items), map[string]ProfileRef{}
	for _, profile := range p.fleet {
		p.byName[profile.Name] = profile
	}

	namespace, removeNamespace, err := p.createNamespace(p.ctx, "placement")
	if err != nil {
		return remove, err
	}
	removes = append(removes, removeNamespace)
	p.placement = types.NamespacedName{Namespace: namespace, Name: placementName}
	if err := p.createForeign(); err != nil {
		return remove, err
	}
	p.recorder, err = record(p.ctx, p.client)
	return remove, err
}

func (p *production) createProfiles(namespace string, n int) error {
	for i := range n {
		profile := &inventory.ClusterProfile{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: fmt.Sprintf("cluster-%03d", i), Labels: map[string]string{
				inventory.LabelClusterManagerKey: clusterManager,
			}},
			Spec: inventory.ClusterProfileSpec{ClusterManager: inventory.ClusterManager{Name: clusterManager}},
		}
		if _, err := p.client.ApisV1alpha1().ClusterProfiles(namespace).Create(p.ctx, profile, metav1.CreateOptions{}); err != nil {
			return fmt.Errorf("create ClusterProfile %s/%s: %w", namespace, profile.Name, err)
		}
		p.fleet = append(p.fleet, ProfileRef{Namespace: namespace, Name: profile.Name})
	}
	return nil
}

// createForeign creates slices that are no business of the producer: with a key and a scheduler of their own, and without either.
func (p *production) createForeign() error {
	for name, key := range map[string]string{"another-0": "another", "nobody": ""} {
		slice := &inventory.PlacementDecision{
			ObjectMeta:    metav1.ObjectMeta{Namespace: p.placement.Namespace, Name: name},
			SchedulerName: key,
			Decisions: []inventory.ClusterDecision{{ClusterProfileRef: inventory.ClusterProfileReference{
				Namespace: p.fleet[0].Namespace, Name: p.fleet[0].Name,
			}}},
		}
		if key != "" {
			slice.Labels = map[string]string{inventory.DecisionKeyLabel: key, inventory.DecisionIndexLabel: "0"}
		}
		created, err := p.client.ApisV1alpha1().PlacementDecisions(slice.Namespace).Create(p.ctx, slice, metav1.CreateOptions{})
		if err != nil {
			return fmt.Errorf("create PlacementDecision %s: %w", nameOf(slice), err)
		}
		p.foreign = append(p.foreign, created)
	}
	return nil
}

// run goes through the wishes. A producer that does not follow a wish is not asked for more.
func (p *production) run() error {
	for _, wish := range wishes {
		follows, err := p.ask(p.fleet[wish[0]:wish[1]])
		if err != nil {
			return err
		}
		if !follows {
			p.skip("the producer did not follow a wish before ("+RuleFollows+")", RuleQuiet, RuleRestart)
			break
		}
	}
	if !p.failed(RuleFollows) {
		for _, step := range []func() error{p.repeat, p.restart, p.kill} {
			if err := step(); err != nil {
				return err
			}
		}
	}
	if err := p.delete(); err != nil {
		return err
	}
	return p.compareForeign()
}

// ask asks for profiles, and checks what comes of it. It reports whether the union of the slices becomes the profiles.
func (p *production) ask(wish []ProfileRef) (bool, error) {
	staying := common(p.wish, wish)
	p.wish = wish
	_, mark := p.recorder.decision()
	if err := p.driver.Decide(p.ctx, p.placement, wish); err != nil {
		return false, fmt.Errorf("ask for %d profiles: %w", len(wish), err)
	}
	follows, err := p.follows()
	if err == nil {
		err = p.recorder.quiet(p.ctx, p.options.Quiet, p.options.Timeout)
	}
	if err != nil {
		return false, err
	}

	decision, _ := p.recorder.decision()
	if difference := p.difference(decision); difference != "" {
		p.addf(RuleFollows, "asked for %d profiles: %s", len(wish), difference)
		follows = false
	}
	p.add(Check(decision, p.profiles)...)
	for i := range decision {
		if p.scheduler == "" {
			p.scheduler = decision[i].SchedulerName
		}
		if name := decision[i].SchedulerName; name != p.scheduler && name != "" {
			p.add(Finding{RuleSchedulerName, nameOf(&decision[i]), fmt.Sprintf("schedulerName is %q, and was %q before", name, p.scheduler)})
		}
	}
	p.addLost(RuleStays, mark, staying)
	return follows, nil
}

// follows waits until the union of the slices is the wish.
func (p *production) follows() (bool, error) {
	return p.recorder.await(p.ctx, p.options.Timeout, func() bool {
		decision, _ := p.recorder.decision()
		return p.difference(decision) == ""
	})
}

// union returns the profiles of the fleet that slices name. Rule PD3 is about references to profiles that do not
// exist. Here such a reference counts as the profile of the fleet that has its name, and is left out if there is none.
func (p *production) union(decision []inventory.PlacementDecision) map[ProfileRef]bool {
	union := Union(decision)
	for ref := range maps.Clone(union) {
		if p.known.refs[ref] {
			continue
		}
		delete(union, ref)
		if meant, named := p.byName[ref.Name]; named {
			union[meant] = true
		}
	}
	return union
}

// difference says how the union of the slices differs from the wish.
func (p *production) difference(decision []inventory.PlacementDecision) string {
	got := p.union(decision)
	var missing []string
	for _, profile := range p.wish {
		if !got[profile] {
			missing = append(missing, profile.String())
		}
		delete(got, profile)
	}
	surplus := make([]string, 0, len(got))
	for ref := range got {
		surplus = append(surplus, ref.String())
	}
	slices.Sort(surplus)
	var parts []string
	if len(missing) > 0 {
		parts = append(parts, named(missing)+" missing")
	}
	if len(surplus) > 0 {
		parts = append(parts, named(surplus)+" not asked for")
	}
	return strings.Join(parts, ", ")
}

// named lists some names, and counts them all.
func named(names []string) string {
	text := strings.Join(names[:min(len(names), maxNamed)], ", ")
	if len(names) > maxNamed {
		text += ", ..."
	}
	return fmt.Sprintf("%d (%s)", len(names), text)
}

// addLost reports profiles that were absent for a moment.
func (p *production) addLost(rule string, mark int, staying []ProfileRef) {
	lost := p.recorder.lost(mark, staying, p.union)
	if len(lost) == 0 {
		return
	}
	texts := make([]string, 0, len(lost))
	for profile, event := range lost {
		texts = append(texts, profile.String()+" after "+event)
	}
	slices.Sort(texts)
	p.addf(rule, "clusters that stay selected were in no slice: %s", named(texts))
}

func common(a, b []ProfileRef) []ProfileRef {
	var both []ProfileRef
	for _, profile := range a {
		if slices.Contains(b, profile) {
			both = append(both, profile)
		}
	}
	return both
}

// repeat asks for the same again.
func (p *production) repeat() error {
	_, mark := p.recorder.decision()
	if err := p.driver.Decide(p.ctx, p.placement, p.wish); err != nil {
		return fmt.Errorf("ask for the same again: %w", err)
	}
	if err := p.recorder.quiet(p.ctx, p.options.Quiet, p.options.Timeout); err != nil {
		return err
	}
	if written := p.recorder.since(mark); len(written) > 0 {
		p.addf(RuleQuiet, "asked for the same again: %s", named(written))
	}
	return nil
}

// delete has the placement deleted.
func (p *production) delete() error {
	if err := p.driver.Delete(p.ctx, p.placement); err != nil {
		return fmt.Errorf("delete the placement: %w", err)
	}
	empty := func() bool {
		decision, _ := p.recorder.decision()
		return len(decision) == 0
	}
	if gone, err := p.recorder.await(p.ctx, p.options.Timeout, empty); err != nil || gone {
		return err
	}
	decision, _ := p.recorder.decision()
	for i := range decision {
		p.add(Finding{RuleDeletes, nameOf(&decision[i]), fmt.Sprintf("is left %s after the deletion", p.options.Timeout)})
		slice := &decision[i]
		if err := p.client.ApisV1alpha1().PlacementDecisions(slice.Namespace).Delete(p.ctx, slice.Name, metav1.DeleteOptions{}); err != nil {
			return fmt.Errorf("delete PlacementDecision %s: %w", nameOf(slice), err)
		}
	}
	return nil
}

// compareForeign looks at the slices of others.
func (p *production) compareForeign() error {
	list, err := p.client.ApisV1alpha1().PlacementDecisions(p.placement.Namespace).List(p.ctx, metav1.ListOptions{})
	if err != nil {
		return fmt.Errorf("list PlacementDecisions: %w", err)
	}
	for _, before := range p.foreign {
		index := slices.IndexFunc(list.Items, func(now inventory.PlacementDecision) bool { return now.UID == before.UID })
		switch {
		case index < 0:
			p.add(Finding{RuleForeign, nameOf(before), "was deleted, and is not of the producer"})
		case list.Items[index].ResourceVersion != before.ResourceVersion:
			p.add(Finding{RuleForeign, nameOf(before), "was written, and is not of the producer"})
		}
	}
	return nil
}

// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	inventory "sigs.k8s.io/cluster-inventory-api/apis/v1alpha1"
)

const (
	schedulerName = "conformance"
	consumerFleet = 8
	pollInterval  = 50 * time.Millisecond
)

// consumption is the test of one consumer.
type consumption struct {
	*Suite
	*outcomes
	ctx       context.Context //nolint:containedctx // That of the test.
	driver    ConsumerDriver
	namespace string // of the slices
	fleet     []ProfileRef
	decision  Decision
}

// TestConsumer checks which clusters a consumer serves: the rules from PD15 on.
func (s *Suite) TestConsumer(t *testing.T, driver ConsumerDriver) {
	t.Helper()
	results, err := s.Consumer(t.Context(), driver)
	if err != nil {
		t.Fatal(err)
	}
	runSubtests(t, results)
}

// Consumer checks which clusters a consumer serves, as TestConsumer does, and returns the results, which are also in the report. The error is of
// the API server or of Follow, and then no rule was judged.
func (s *Suite) Consumer(ctx context.Context, driver ConsumerDriver) ([]Result, error) {
	c := &consumption{Suite: s, outcomes: newOutcomes(), ctx: ctx, driver: driver}
	fleet, removeFleet, err := s.createNamespace(ctx, "fleet")
	if err != nil {
		return nil, err
	}
	defer removeFleet()
	maker := &production{Suite: s, ctx: ctx}
	if err := maker.createProfiles(fleet, consumerFleet); err != nil {
		return nil, err
	}
	c.fleet = maker.fleet
	var remove func()
	if c.namespace, remove, err = s.createNamespace(ctx, "decision"); err != nil {
		return nil, err
	}
	defer remove()

	for _, step := range []func() error{c.union, c.move, c.unknownProfile, c.otherScheduler} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	results := c.results(RuleUnion, RuleMove, RuleUnknownProfile, RuleOtherScheduler)
	s.report.add(results)
	return results, nil
}

// slicePage is a slice that the suite writes.
type slicePage struct {
	name, key, scheduler string
	index                int // -1: no label
	profiles             []ProfileRef
}

// follow has the consumer follow a decision of its own.
func (c *consumption) follow(key string) error {
	c.decision = Decision{Namespace: c.namespace, Key: key, SchedulerName: schedulerName}
	if err := c.driver.Follow(c.ctx, c.decision); err != nil {
		return fmt.Errorf("follow decision %s/%s: %w", c.namespace, key, err)
	}
	return nil
}

// page returns a slice of the decision that is followed.
func (c *consumption) page(name string, index int, profiles ...ProfileRef) slicePage {
	return slicePage{name: c.decision.Key + "-" + name, key: c.decision.Key, scheduler: c.decision.SchedulerName, index: index, profiles: profiles}
}

// write creates or updates a slice.
func (c *consumption) write(p slicePage) error {
	slice := &inventory.PlacementDecision{
		ObjectMeta: metav1.ObjectMeta{Namespace: c.namespace, Name: p.name, Labels: map[string]string{
			inventory.DecisionKeyLabel: p.key,
		}},
		SchedulerName: p.scheduler, Decisions: []inventory.ClusterDecision{},
	}
	if p.index >= 0 {
		slice.Labels[inventory.DecisionIndexLabel] = strconv.Itoa(p.index)
	}
	for _, profile := range p.profiles {
		slice.Decisions = append(slice.Decisions, inventory.ClusterDecision{ClusterProfileRef: inventory.ClusterProfileReference{
			Namespace: profile.Namespace, Name: profile.Name,
		}})
	}

	decisions := c.client.ApisV1alpha1().PlacementDecisions(c.namespace)
	existing, err := decisions.Get(c.ctx, p.name, metav1.GetOptions{})
	if err == nil {
		slice.ResourceVersion = existing.ResourceVersion
		_, err = decisions.Update(c.ctx, slice, metav1.UpdateOptions{})
	} else {
		_, err = decisions.Create(c.ctx, slice, metav1.CreateOptions{})
	}
	if err != nil {
		return fmt.Errorf("write PlacementDecision %s: %w", nameOf(slice), err)
	}
	return nil
}

// expect waits until the consumer serves exactly these profiles, of those of the fleet, and reports it if it does not.
func (c *consumption) expect(rule, what string, profiles ...ProfileRef) bool {
	end := time.Now().Add(c.options.Timeout)
	for {
		difference, served := c.difference(profiles)
		if served {
			return true
		}
		if time.Now().After(end) {
			c.addf(rule, "%s: %s", what, difference)
			return false
		}
		select {
		case <-time.After(pollInterval):
		case <-c.ctx.Done():
			return false
		}
	}
}

// difference says how the clusters that the consumer serves differ from the profiles. Others than those of the fleet do not count.
func (c *consumption) difference(profiles []ProfileRef) (string, bool) {
	targets, err := c.driver.Targets(c.ctx)
	if err != nil {
		return "the consumer says: " + err.Error(), false
	}
	var missing, surplus []string
	for _, profile := range c.fleet {
		switch wanted, served := slices.Contains(profiles, profile), slices.Contains(targets, profile); {
		case wanted && !served:
			missing = append(missing, profile.String())
		case !wanted && served:
			surplus = append(surplus, profile.String())
		}
	}
	if len(missing)+len(surplus) == 0 {
		return "", true
	}
	return fmt.Sprintf("not served: [%s], served and not selected: [%s]", strings.Join(missing, ", "), strings.Join(surplus, ", ")), false
}

// keeps watches for the time of quiet that the consumer serves a profile.
func (c *consumption) keeps(rule, what string, profile ProfileRef) {
	for end := time.Now().Add(c.options.Quiet); time.Now().Before(end); {
		targets, err := c.driver.Targets(c.ctx)
		if err == nil && !slices.Contains(targets, profile) {
			c.addf(rule, "%s: %s is not served", what, profile)
			return
		}
		select {
		case <-time.After(pollInterval):
		case <-c.ctx.Done():
			return
		}
	}
}

func (c *consumption) union() error {
	if err := c.follow("union"); err != nil {
		return err
	}
	f := c.fleet
	other := c.page("other", 0, f[7])
	other.key = "another"
	// The second of the order comes first, and one slice of another decision is between them.
	for _, p := range []slicePage{c.page("b", 1, f[2], f[3]), other, c.page("a", 0, f[0], f[1])} {
		if err := c.write(p); err != nil {
			return err
		}
	}
	c.expect(RuleUnion, "two slices, the second written first", f[:4]...)
	for _, p := range []slicePage{c.page("c", -1, f[4]), c.page("b", -1, f[2], f[3]), c.page("a", -1, f[0], f[1])} {
		if err := c.write(p); err != nil {
			return err
		}
	}
	c.expect(RuleUnion, "three slices without decision-index", f[:5]...)
	return nil
}

func (c *consumption) move() error {
	if err := c.follow("move"); err != nil {
		return err
	}
	f := c.fleet
	for _, p := range []slicePage{c.page("a", 0, f[0], f[1]), c.page("b", 1, f[2])} {
		if err := c.write(p); err != nil {
			return err
		}
	}
	if !c.expect(RuleMove, "two slices", f[:3]...) {
		return nil
	}
	for _, step := range []struct {
		what string
		page slicePage
	}{
		{"the cluster is in both slices", c.page("b", 1, f[2], f[1])},
		{"the cluster has left the first slice", c.page("a", 0, f[0])},
	} {
		if err := c.write(step.page); err != nil {
			return err
		}
		c.keeps(RuleMove, step.what, f[1])
	}
	return nil
}

func (c *consumption) unknownProfile() error {
	if err := c.follow("unknown"); err != nil {
		return err
	}
	gone := ProfileRef{Namespace: c.fleet[0].Namespace, Name: "gone"}
	if err := c.write(c.page("a", 0, c.fleet[0], gone, c.fleet[1])); err != nil {
		return err
	}
	c.expect(RuleUnknownProfile, "a slice with an unknown profile between two known ones", c.fleet[:2]...)
	return nil
}

func (c *consumption) otherScheduler() error {
	if err := c.follow("scheduler"); err != nil {
		return err
	}
	theirs := c.page("theirs", 0, c.fleet[5])
	theirs.scheduler = "another"
	// What is written last is served when what was written before has been seen.
	for _, p := range []slicePage{theirs, c.page("a", 0, c.fleet[0])} {
		if err := c.write(p); err != nil {
			return err
		}
	}
	c.expect(RuleOtherScheduler, "slices of two schedulers with one decision-key", c.fleet[0])
	return nil
}

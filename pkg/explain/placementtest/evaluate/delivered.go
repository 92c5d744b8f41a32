// SPDX-License-Identifier: Apache-2.0

package evaluate

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/placement-hub/placement-hub/pkg/explain/placementtest/cases"
	"github.com/placement-hub/placement-hub/pkg/federation"
	federated "github.com/placement-hub/placement-hub/pkg/federation/explain"
	"github.com/placement-hub/placement-hub/pkg/inventory"
)

// delivered are the objects of a State that are delivered to clusters.
type delivered struct {
	byName   map[string]*federated.Evaluation
	snapshot *inventory.Snapshot
	// same reports that the evaluations are those of the world as it is.
	same bool
}

// evaluateDelivered evaluates the objects that are delivered, once.
func (s *systems) evaluateDelivered() *delivered {
	if s.delivered != nil {
		return s.delivered
	}
	evaluations, snapshot := s.variants.Objects(s.state)
	base := s.variants.BaseObjects()
	s.delivered = &delivered{byName: byIdentity(evaluations), snapshot: snapshot}
	s.delivered.same = len(evaluations) == len(base) && (len(base) == 0 || &evaluations[0] == &base[0])
	return s.delivered
}

// byIdentity returns evaluations by names such as "Deployment.apps/team-a/web".
func byIdentity(evaluations []federated.Evaluation) map[string]*federated.Evaluation {
	by := make(map[string]*federated.Evaluation, len(evaluations))
	for i := range evaluations {
		by[evaluations[i].Object.Identity().String()] = &evaluations[i]
	}
	return by
}

// checkDelivered checks an object that is delivered to clusters. One on which what happens has no effect is checked once.
func (s *systems) checkDelivered(t *test, object string) (*finding, error) {
	in := s.evaluateDelivered()
	evaluation, known := in.byName[object]
	if !known {
		return nil, unknown("spec.objects.federated", "object that is delivered to clusters,", object, in.byName)
	}
	key := evaluation.Key()
	if in.same && t.resting[key] && !t.readsAll() {
		return nil, nil
	}
	t.resting[key] = t.resting[key] || in.same
	switch evaluation.State {
	case federation.NotDelivered:
		return nil, fmt.Errorf("spec.objects.federated: %s is never delivered, so that nothing is evaluated: %s", object, evaluation.Message)
	case federation.Delivering:
	default:
		return found("spec.objects", "it is not delivered by what it says: %s", evaluation.Message), nil
	}
	o := newDelivery(evaluation, in.snapshot)
	if before := byIdentity(s.variants.BaseObjects())[object]; before != nil && before.State == federation.Delivering {
		o.before = newDelivery(before, s.variants.Snapshot()).selected
	}
	return o.check(&t.Spec.Expect), nil
}

// deliveryOutcome is what happened to an object that is delivered.
type deliveryOutcome struct {
	clusters map[string]*federated.Cluster
	snapshot *inventory.Snapshot
	// selected are the clusters that get the object or keep it at the settled end, sorted. held are those of them that the removal budget keeps,
	// and before those of the world as it is.
	selected, held, before []string
	// is and isNot are the texts of a cluster that is among selected, and of one that is not.
	is, isNot string
}

func newDelivery(evaluation *federated.Evaluation, snapshot *inventory.Snapshot) *deliveryOutcome {
	report := federated.NewReport(*evaluation, true)
	o := deliveryOf(&report)
	o.snapshot = snapshot
	return o
}

// deliveryOf returns the outcome that a report has, without labels of clusters.
func deliveryOf(report *federated.Report) *deliveryOutcome {
	o := &deliveryOutcome{clusters: map[string]*federated.Cluster{}, is: "gets it", isNot: "does not get it"}
	leaving := map[string]bool{}
	for i := range report.Clusters {
		cluster := &report.Clusters[i]
		o.clusters[cluster.Name] = cluster
		switch {
		case cluster.Hold == nil:
		case cluster.Hold.Until == nil:
			o.held = append(o.held, cluster.Name)
		default: // The hold ends by itself.
			leaving[cluster.Name] = true
		}
	}
	o.selected = slices.DeleteFunc(slices.Concat(report.Selected, o.held), func(name string) bool { return leaving[name] })
	slices.Sort(o.selected)
	o.selected = slices.Compact(o.selected)
	slices.Sort(o.held)
	return o
}

// names returns the names of all clusters, sorted: those of the Snapshot, or of the report without one.
func (o *deliveryOutcome) names() []string {
	if o.snapshot != nil {
		return clusterNames(o.snapshot)
	}
	return slices.Sorted(maps.Keys(o.clusters))
}

// reason says why a cluster gets the object or not.
func (o *deliveryOutcome) reason(name string) string {
	cluster := o.clusters[name]
	if cluster == nil {
		return ""
	}
	if cluster.Hold != nil && cluster.Hold.Until == nil {
		return cluster.Reason + "; it " + cluster.Hold.Release
	}
	return cluster.Reason
}

// check returns the first clause that does not hold; nil if all do.
func (o *deliveryOutcome) check(expect *cases.Expect) *finding {
	const path = "spec.expect"
	labels := labelsIn(o.snapshot)
	chosen := &group{is: o.is, isNot: o.isNot, names: o.selected, labels: labels, reason: o.reason}
	if f := chosen.check(path+".selected", expect.Selected); f != nil {
		return f
	}
	if expect.NotSelected != nil {
		rest := &group{is: o.isNot, isNot: o.is, names: missing(o.names(), o.selected), labels: labels, reason: o.reason}
		if f := rest.check(path+".notSelected", expect.NotSelected); f != nil {
			return f
		}
	}
	if f := o.checkReasons(path+".because", expect.Because); f != nil {
		return f
	}
	if f := checkCounts(path+".counts", expect.Counts, o.selected, o.snapshot); f != nil {
		return f
	}
	if f := checkHeld(path+".heldByBudget", expect.HeldByBudget, o.held); f != nil {
		return f
	}
	if f := checkMoves(path+".moves", expect.Moves, o.before, o.selected); f != nil {
		return f
	}
	return o.checkReplicas(path+".replicas", expect.Replicas)
}

func (o *deliveryOutcome) checkReasons(field string, reasons []cases.Because) *finding {
	for i, because := range reasons {
		at := fmt.Sprintf("%s[%d]", field, i)
		cluster := o.clusters[because.Cluster]
		switch {
		case cluster == nil:
			return found(at+".cluster", "%s: nothing was decided about it", because.Cluster)
		case because.Stage != "" && cluster.Verdict != because.Stage:
			return found(at+".stage", "%s has the verdict %s instead of %s: %s", because.Cluster, cluster.Verdict, because.Stage, cluster.Reason)
		case !strings.Contains(cluster.Reason, because.Clause):
			return found(at+".clause", "the reason for %s does not contain %q: %s", because.Cluster, because.Clause, cluster.Reason)
		}
	}
	return nil
}

func (o *deliveryOutcome) checkReplicas(field string, replicas map[string]cases.Bound) *finding {
	for _, name := range slices.Sorted(maps.Keys(replicas)) {
		bound, number, why := replicas[name], 0, ""
		if cluster := o.clusters[name]; cluster != nil {
			if cluster.Wanted != nil {
				number = int(*cluster.Wanted)
			}
			why = cluster.WhyNoReplicas
			if why == "" {
				why = cluster.Reason
			}
		}
		if f := checkBound(field+"."+name, &bound, number, name+" "+why); f != nil {
			return f
		}
	}
	return nil
}

// SPDX-License-Identifier: Apache-2.0

package evaluate

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	requests "github.com/placement-hub/placement-hub/pkg/clusterrequest/explain"
	"github.com/placement-hub/placement-hub/pkg/explain"
	"github.com/placement-hub/placement-hub/pkg/explain/placementtest/cases"
	"github.com/placement-hub/placement-hub/pkg/federation"
	federated "github.com/placement-hub/placement-hub/pkg/federation/explain"
	"github.com/placement-hub/placement-hub/pkg/placement"
)

// Explained is what a hub explains about the object of a case to a user who may not read all that decides about it. One of the fields has a value.
type Explained struct {
	Placement *explain.Report
	Delivered *federated.Report
	Request   *requests.Report
}

// limitedClauses are the expectations that an explanation answers: it has no labels of clusters, and no other situation.
const limitedClauses = "selected and notSelected with names, because, satisfied, heldByBudget, replicas and grant"

// RunExplained evaluates cases by explanations of a hub (docs/spec/placement-test.md PT19). A case that needs what they do not have is an error.
func RunExplained(now time.Time, given []*cases.Case, explained func(*cases.Case) (Explained, error)) Results {
	r := &run{World: World{State: &explain.State{}}}
	results := Results{Now: metav1.NewTime(now), Cases: make([]Result, len(given))}
	for i, c := range given {
		results.Cases[i] = Result{Name: c.Metadata.Name, Description: c.Spec.Description, File: c.File, Line: c.Line, Status: Passed}
		t := &test{Case: c, result: &results.Cases[i]}
		if err := checkExplainable(c); err != nil {
			t.fail(err)
			continue
		}
		answer, err := explained(c)
		if err != nil {
			t.fail(err)
			continue
		}
		f, err := answer.check(&c.Spec.Expect)
		if err != nil {
			t.fail(err)
			continue
		}
		r.note(t, objectOf(&c.Spec.Objects), "", f, func(string) []string { return nil })
		t.result.Objects = 1
	}
	results.summarize()
	return results
}

// objectOf returns the object of a case as a failure names it.
func objectOf(objects *cases.Objects) string {
	switch {
	case objects.Placement != "":
		return describe(keyOf(objects))
	case objects.ClusterRequest != "":
		return "ClusterRequest " + objects.ClusterRequest
	default:
		return objects.Federated + objects.Workload
	}
}

// fleetViewAlone says who may evaluate what no explanation of the hub answers.
const fleetViewAlone = ", which users with the ClusterRole open-cluster-management:placement-hub:fleet-view alone may evaluate"

// checkExplainable returns why an explanation of the hub does not answer a case.
func checkExplainable(c *cases.Case) error {
	objects, expect := &c.Spec.Objects, &c.Spec.Expect
	if objects.Placements != nil || objects.Workload != "" {
		return errors.New("spec.objects: it names several Placements or a workload" + fleetViewAlone)
	}
	if c.Spec.When != nil {
		return errors.New("spec.when: a change of a cluster concerns all namespaces" + fleetViewAlone)
	}
	if expect.Counts != nil || expect.Groups != nil || expect.Order != nil || expect.Moves != nil {
		return fmt.Errorf("spec.expect: counts, groups, order and moves need the clusters%s; the hub answers %s", fleetViewAlone, limitedClauses)
	}
	return checkExplainableClusters(expect)
}

// checkExplainableClusters returns why an explanation of the hub does not say whether clusters are selected as expected.
func checkExplainableClusters(expect *cases.Expect) error {
	for field, of := range map[string]*cases.Clusters{"selected": expect.Selected, "notSelected": expect.NotSelected} {
		if of != nil && (of.Every != nil || of.None != nil) {
			return fmt.Errorf("spec.expect.%s: it reads labels of clusters%s; the hub answers %s", field, fleetViewAlone, limitedClauses)
		}
	}
	if of := expect.NotSelected; of != nil && (of.Exactly != nil || of.AtLeast != nil || of.AtMost != nil) {
		return fmt.Errorf("spec.expect.notSelected: it counts all clusters%s; the hub answers %s", fleetViewAlone, limitedClauses)
	}
	return nil
}

// check returns the first clause that does not hold.
func (e Explained) check(expect *cases.Expect) (*finding, error) {
	switch {
	case e.Request != nil:
		return checkGrant("spec.expect.grant", expect.Grant, e.Request), nil
	case e.Delivered != nil:
		if e.Delivered.State == string(federation.NotDelivered) {
			return nil, errors.New("spec.objects.federated: it is never delivered, so that nothing is evaluated: " + e.Delivered.Message)
		}
		o := deliveryOf(e.Delivered)
		if err := o.checkNames(expect); err != nil {
			return nil, err
		}
		if e.Delivered.State != string(federation.Delivering) {
			return found("spec.objects", "it is not delivered by what it says: %s", e.Delivered.Message), nil
		}
		return o.check(expect), nil
	default:
		return e.checkPlacement(expect)
	}
}

// checkPlacement checks a Placement by the rows of its report, which have the fields of those of a delivered object.
func (e Explained) checkPlacement(expect *cases.Expect) (*finding, error) {
	report := e.Placement
	if why := report.Unanswered + report.Skipped; why != "" {
		return nil, errors.New("spec.objects.placement: nothing would be evaluated: " + why)
	}
	rows := &federated.Report{Selected: report.Selected}
	for i := range report.Clusters {
		row := &report.Clusters[i]
		rows.Clusters = append(rows.Clusters, federated.Cluster{Name: row.Name, Verdict: row.Verdict, Reason: row.Reason, Hold: row.Hold})
	}
	o := deliveryOf(rows)
	o.is, o.isNot = "is selected", "is not selected"
	if err := o.checkNames(expect); err != nil {
		return nil, err
	}
	if misconfigured := meta.FindStatusCondition(report.Conditions, placement.ConditionMisconfigured); report.Stalled && len(o.held) == 0 {
		why := "it has no valid result, so that its last decisions stay"
		if misconfigured != nil {
			why += ": " + misconfigured.Message
		}
		return found("spec.objects", "%s", why), nil
	}
	if f := o.check(expect); f != nil || expect.Satisfied == nil {
		return f, nil
	}
	if satisfied := meta.IsStatusConditionTrue(report.Conditions, placement.ConditionSatisfied); satisfied != *expect.Satisfied {
		return found("spec.expect.satisfied", "it is %t: %d clusters are selected", satisfied, len(o.selected)), nil
	}
	return nil, nil
}

// checkNames returns an error about the first cluster that the explanation does not have: it may not exist, or not be shown to this user.
func (o *deliveryOutcome) checkNames(expect *cases.Expect) error {
	var names []string
	for _, of := range []*cases.Clusters{expect.Selected, expect.NotSelected} {
		if of != nil {
			names = slices.Concat(names, of.Exactly, of.AllOf, of.AnyOf, of.NoneOf)
		}
	}
	for _, because := range expect.Because {
		names = append(names, because.Cluster)
	}
	for name := range expect.Replicas {
		names = append(names, name)
	}
	slices.Sort(names)
	var hidden []string
	for _, name := range slices.Compact(names) {
		if _, selected := slices.BinarySearch(o.selected, name); !selected && o.clusters[name] == nil {
			hidden = append(hidden, name)
		}
	}
	if len(hidden) > 0 {
		return fmt.Errorf("spec.expect: the explanation of the hub does not have the clusters %s: correct the names, or ask as a user with the "+
			"ClusterRole open-cluster-management:placement-hub:fleet-view", strings.Join(hidden, ", "))
	}
	return nil
}

// SPDX-License-Identifier: Apache-2.0

package evaluate_test

import (
	"errors"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	requests "github.com/placement-hub/placement-hub/pkg/clusterrequest/explain"
	"github.com/placement-hub/placement-hub/pkg/explain"
	"github.com/placement-hub/placement-hub/pkg/explain/placementtest/cases"
	"github.com/placement-hub/placement-hub/pkg/explain/placementtest/evaluate"
	"github.com/placement-hub/placement-hub/pkg/inventory"
)

// explainedIn explains the objects of a world as a hub does it for a tenant.
func explainedIn(state *explain.State) func(*cases.Case) (evaluate.Explained, error) {
	return func(c *cases.Case) (evaluate.Explained, error) {
		namespace, name, _ := strings.Cut(c.Spec.Objects.Placement+c.Spec.Objects.ClusterRequest, "/")
		if c.Spec.Objects.ClusterRequest != "" {
			report := requests.NewReport(&state.ClusterRequests, state.ClusterRequests.Find(namespace, name)[0], metav1.NewTime(noon))
			return evaluate.Explained{Request: &report}, nil
		}
		for _, each := range state.Evaluate(noon, func(key inventory.Key) bool { return key.Namespace == namespace && key.Name == name }) {
			report := explain.NewReport(each, false)
			return evaluate.Explained{Placement: &report}, nil
		}
		filter := explain.ObjectFilter{Named: true}
		reports := state.ReportObjects(filter, false, noon)
		for i := range reports.Objects {
			if reports.Objects[i].Object == c.Spec.Objects.Federated {
				return evaluate.Explained{Delivered: &reports.Objects[i]}, nil
			}
		}
		return evaluate.Explained{}, errors.New("there is no such object")
	}
}

// PT19: a user with fewer rights gets the same result, or an error. Nothing that this user may not read makes a case hold.
func TestPT19Explained(t *testing.T) {
	delivered := systemsWorld(t, "", "federated", "federated-works")
	requested := systemsWorld(t, "", "cluster-requests")
	const eu, settings = "objects: {placement: a/eu}, ", "objects: {federated: ConfigMap/team-a/settings}, "
	for _, test := range []caseTest{
		{"PT19", eu + "expect: {selected: {exactly: [eu1, eu2]}, satisfied: true, heldByBudget: false}", evaluate.Passed, "", nil},
		{"PT19", eu + "expect: {notSelected: {allOf: [us1]}, because: [{cluster: us1, stage: Predicate, clause: region}]}", evaluate.Passed, "", nil},
		{"PT19", eu + "expect: {selected: {allOf: [eu3]}}", evaluate.Failed, "selected.allOf: eu3 is not selected: ", nil},
		{"PT19", eu + "expect: {selected: {atMost: 1}}", evaluate.Failed, "atMost: there are 2 instead of at most 1", nil},
		{"PT19", eu + "expect: {satisfied: false}", evaluate.Failed, "satisfied: it is true", nil},
		{"PT19", "objects: {placement: a/broken}, expect: {selected: {exactly: []}}", evaluate.Failed, "it has no valid result", nil},
		{"PT19", "objects: {placement: a/off}, expect: {selected: {exactly: []}}", evaluate.Errored, "nothing would be evaluated", nil},
		{"PT19", eu + "expect: {selected: {noneOf: [hidden]}}", evaluate.Errored, "does not have the clusters hidden", nil},
		{"PT19", eu + "expect: {selected: {none: {matchLabels: {region: us}}}}", evaluate.Errored,
			"it reads labels of clusters, which users with", nil},
		{"PT19", eu + "expect: {notSelected: {atMost: 9}}", evaluate.Errored, "it counts all clusters, which users with", nil},
		{"PT19", eu + "expect: {counts: [{topology: region, distinct: {exactly: 1}}]}", evaluate.Errored, "counts, groups, order and moves", nil},
		{"PT19", eu + "when: {lost: {any: 1}}, expect: {selected: {atLeast: 1}}", evaluate.Errored,
			"a change of a cluster concerns all namespaces", nil},
		{"PT19", "objects: {placements: {}}, expect: {selected: {atLeast: 0}}", evaluate.Errored, "it names several Placements", nil},
		{"PT19", "objects: {federated: ConfigMap/a/none}, expect: {selected: {atLeast: 0}}", evaluate.Errored, "there is no such object", nil},
		{"PT19", settings + "expect: {selected: {exactly: [eu1, eu2]}, notSelected: {allOf: [us1]}}", evaluate.Passed, "", delivered},
		{"PT19", settings + "expect: {selected: {allOf: [us1]}}", evaluate.Failed, "us1 does not get it", delivered},
		{"PT19", "objects: {federated: Service/team-a/web}, expect: {selected: {atLeast: 0}}", evaluate.Failed, "it is not delivered by", delivered},
		{"PT19", "objects: {federated: Deployment.apps/team-a/web}, expect: {replicas: {eu1: {exactly: 3}}}", evaluate.Passed, "", delivered},
		{"PT19", "objects: {clusterRequest: team-a/ci}, expect: {grant: {cluster: team-a/workload-1}}", evaluate.Passed, "", requested},
		{"PT19", "objects: {clusterRequest: team-a/ci}, expect: {grant: {cluster: ''}}", evaluate.Failed, "instead of none", requested},
	} {
		if test.state == nil {
			test.state = world()
		}
		given, err := readCases(test.spec)
		if err != nil {
			t.Fatal(err)
		}
		test.check(t, evaluate.RunExplained(noon, given, explainedIn(test.state)).Cases[0])
	}
}

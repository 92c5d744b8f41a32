// SPDX-License-Identifier: Apache-2.0

package evaluate_test

import (
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/placement-hub/placement-hub/manifests"
	"github.com/placement-hub/placement-hub/pkg/explain"
	"github.com/placement-hub/placement-hub/pkg/explain/hubstate/statefile"
	"github.com/placement-hub/placement-hub/pkg/explain/placementtest/evaluate"
	"github.com/placement-hub/placement-hub/pkg/explain/whatif"
)

// canary is the Placement that the ConfigMap canary of docs/examples/federated.yaml follows.
const canary = `apiVersion: cluster.open-cluster-management.io/v1beta1
kind: Placement
metadata: {name: canary, namespace: team-a, uid: u}
spec: {numberOfClusters: 1}
`

// systemsWorld reads examples of the documentation, and more objects.
func systemsWorld(tb testing.TB, more string, examples ...string) *explain.State {
	tb.Helper()
	definitions, err := manifests.Definitions()
	if err != nil {
		tb.Fatal(err)
	}
	reader, err := statefile.NewReader(definitions)
	if err != nil {
		tb.Fatal(err)
	}
	for _, example := range examples {
		content, err := os.ReadFile("../../../../docs/examples/" + example + ".yaml")
		if err != nil {
			tb.Fatal(err)
		}
		reader.Read(example, content)
	}
	reader.Read("more", []byte(more))
	state, err := reader.State()
	if err != nil {
		tb.Fatal(err)
	}
	return state
}

// TestSystems has cases about objects that are no Placements, in the worlds of the documentation.
func TestSystems(t *testing.T) {
	delivered := systemsWorld(t, canary, "federated")
	written := systemsWorld(t, canary, "federated", "federated-works")
	placed := systemsWorld(t, "", "pods")
	requested := systemsWorld(t, "", "cluster-requests")
	const settings, web, follows = "objects: {federated: ConfigMap/team-a/settings}, ", "objects: {federated: Deployment.apps/team-a/web}, ",
		"objects: {federated: ConfigMap/team-a/canary}, "
	const db, front = "objects: {workload: StatefulSet.apps/tenant-acme/main-db}, ", "objects: {workload: Deployment.apps/tenant-acme/web}, "
	const request = "objects: {clusterRequest: team-a/"
	checkCases(t, []caseTest{
		{"PT14", settings + "expect: {selected: {exactly: [eu1, eu2]}, notSelected: {exactly: [us1]}}", evaluate.Passed, "", delivered},
		{"PT14", settings + "expect: {selected: {every: {matchLabels: {location: europe}}}}", evaluate.Passed, "", written},
		{"PT14", settings + "expect: {because: [{cluster: us1, stage: Predicate, clause: location}, {cluster: eu1, stage: Selected}]}",
			evaluate.Passed, "", delivered},
		{"PT14", settings + "expect: {because: [{cluster: us1, stage: Taint}]}", evaluate.Failed,
			"because[0].stage: us1 has the verdict Predicate instead of Taint", delivered},
		{"PT14", settings + "expect: {because: [{cluster: us1, clause: zone}]}", evaluate.Failed,
			`because[0].clause: the reason for us1 does not contain "zone"`, delivered},
		{"PT14", settings + "expect: {counts: [{topology: environment, each: {exactly: 1}, distinct: {exactly: 2}}]}", evaluate.Passed, "",
			delivered},
		{"PT14", settings + "expect: {counts: [{topology: location, values: {usa: {atLeast: 1}}}]}", evaluate.Failed, "there are 0 instead of",
			delivered},
		{"PT14", settings + "expect: {selected: {allOf: [us1]}}", evaluate.Failed,
			"allOf: us1 does not get it: predicate 1 label location In [europe]: is usa", delivered},
		{"PT14", settings + "expect: {notSelected: {allOf: [eu1]}}", evaluate.Failed, "notSelected.allOf: eu1 gets it", delivered},
		{"PT14", web + "expect: {replicas: {eu1: {exactly: 3}, eu2: {atLeast: 3}, us1: {atMost: 3}}}", evaluate.Passed, "", delivered},
		{"PT14", web + "expect: {replicas: {eu1: {exactly: 4}}}", evaluate.Failed, "replicas.eu1.exactly: there are 3 instead of 4", delivered},
		{"PT14", follows + "expect: {selected: {exactly: [eu1]}}", evaluate.Passed, "", delivered},
		{"PT14", "objects: {federated: Service/team-a/web}, expect: {selected: {exactly: []}}", evaluate.Failed,
			"spec.objects: it is not delivered by what it says: annotation", written},
		{"PT14", "objects: {federated: ConfigMap/team-a/setting}, expect: {selected: {exactly: []}}", evaluate.Errored,
			"there is no object that is delivered to clusters, ConfigMap/team-a/setting; did you mean ConfigMap/team-a/settings", delivered},

		// An unreachable cluster keeps what is delivered to it by a selector, and loses what follows the decisions of a Placement.
		{"PT14", web + "when: {lost: {any: 1}}, expect: {selected: {exactly: [eu1, eu2, us1]}, replicas: {eu1: {exactly: 3}}, moves: {exactly: 0}}",
			evaluate.Passed, "", written},
		{"PT14", follows + "when: {lost: {clusters: [eu1]}}, expect: {selected: {exactly: [eu2]}, moves: {exactly: 1}, heldByBudget: false}",
			evaluate.Passed, "", delivered},
		{"PT14", follows + "when: {lost: {any: 1}}, expect: {selected: {exactly: [eu1]}}", evaluate.Failed,
			"when lose eu1: spec.expect.selected.exactly: eu1 does not get it", delivered},
		{"PT14", web + "when: {deleted: {clusters: [us1]}}, expect: {selected: {exactly: [eu1, eu2]}, replicas: {eu2: {atLeast: 4}}}",
			evaluate.Passed, "", delivered},
		{"PT14", settings + "when: {deleted: {topology: location}}, expect: {selected: {exactly: [eu1, eu2]}}", evaluate.Failed,
			"when remove eu1 and remove eu2", delivered},
		{"PT14", settings +
			`when: {changed: [{label: "us1:location=europe"}]}, expect: {selected: {exactly: [eu1, eu2, us1]}, moves: {exactly: 1}, ` +
			"counts: [{topology: location, values: {europe: {exactly: 3}}}]}", evaluate.Passed, "", delivered},
		{"PT8", settings + `when: {changed: [{label: "eu1:location=usa"}, {label: "eu2:location=usa"}]}, expect: {heldByBudget: false}`,
			evaluate.Failed, "heldByBudget: the removal budget holds clusters: eu1, eu2", delivered},
		{"PT8", settings + `when: {changed: [{label: "eu1:location=usa"}, {label: "eu2:location=usa"}]}, expect: {selected: {exactly: [eu1, eu2]}}`,
			evaluate.Passed, "", written},

		{"PT15", front + "expect: {nodes: {exactly: [n2]}, class: '', policies: [PodSchedulingPolicy tenant-acme/web]}", evaluate.Passed, "", placed},
		{"PT15", front + "expect: {nodes: {every: {matchLabels: {pool: web}}}}", evaluate.Passed, "", placed},
		{"PT15", front + "expect: {nodes: {allOf: [n1]}}", evaluate.Failed, "nodes.allOf: n1 does not fit: ", placed},
		{"PT15", front + "expect: {nodes: {noneOf: [n2]}}", evaluate.Failed, "nodes.noneOf: n2 fits", placed},
		{"PT15", front + "expect: {nodes: {noneOf: [n9]}}", evaluate.Errored, "there is no Node n9; did you mean n1", placed},
		{"PT15", front + "expect: {policies: [ClusterPodSchedulingPolicy etcd]}", evaluate.Failed,
			`policies: ClusterPodSchedulingPolicy etcd does not apply: pod label app=etcd: is "web"`, placed},
		{"PT15", front + "expect: {policies: []}", evaluate.Failed, "PodSchedulingPolicy tenant-acme/web applies", placed},
		{"PT15", db + "expect: {class: dc1, policies: [ClusterPodSchedulingPolicy etcd]}", evaluate.Passed, "", placed},
		{"PT15", db + "expect: {class: ''}", evaluate.Failed, `class: its class is "dc1" instead of ""`, placed},
		{"PT15", db + "expect: {nodes: {atLeast: 1}}", evaluate.Failed, "a Pod that is created now is refused: pod", placed},
		{"PT15", db + "expect: {nodes: {exactly: []}}", evaluate.Passed, "", placed},
		{"PT4", front + "expect: {policies: [ClusterPodSchedulingPolicy etc]}", evaluate.Errored,
			"policies: there is no policy ClusterPodSchedulingPolicy etc; did you mean ClusterPodSchedulingPolicy etcd", placed},
		{"PT4", front + "expect: {class: dc9}", evaluate.Errored, "class: there is no AffinityClass dc9; did you mean dc1", placed},

		{"PT16", request + "ci}, expect: {grant: {cluster: team-a/workload-1, new: false, provider: gardener, profile: aws}}", evaluate.Passed, "",
			requested},
		{"PT16", request + "builds}, expect: {grant: {cluster: team-a/workload-1, new: false}}", evaluate.Passed, "", requested},
		{"PT16", request + "control}, expect: {grant: {new: true, provider: gardener, profile: aws-workerless}}", evaluate.Passed, "", requested},
		{"PT16", request + "models}, expect: {grant: {cluster: ''}}", evaluate.Passed, "", requested},
		{"PT16", request + "control}, expect: {grant: {profile: aws}}", evaluate.Failed, `the profile is "aws-workerless" instead of "aws"`,
			requested},
		{"PT16", request + "control}, expect: {grant: {new: false}}", evaluate.Failed, "grant.new: it is true for Cluster team-a/mcp-", requested},
		{"PT16", request + "models}, expect: {grant: {new: false}}", evaluate.Failed, "grant.new: it gets no Cluster: ", requested},
		{"PT16", request + "models}, expect: {grant: {provider: gardener}}", evaluate.Failed, `the provider is "" instead of "gardener"`, requested},
		{"PT4", request + "ci}, expect: {grant: {provider: gardner}}", evaluate.Errored, "there is no ClusterProvider gardner; did you mean gardener",
			requested},
		{"PT4", request + "ci}, expect: {grant: {profile: awz}}", evaluate.Errored, "there is no profile awz; did you mean aws", requested},
	})
}

// No ManagedCluster decides about Pods and ClusterRequests, so that a case about one that is lost would evaluate nothing.
func TestPT4LostForNothing(t *testing.T) {
	for _, objects := range []string{"workload: Deployment.apps/a/web}", "clusterRequest: a/web}"} {
		for _, when := range []string{"lost", "deleted"} {
			expected := map[bool]string{true: "class: ''", false: "grant: {cluster: ''}"}[strings.HasPrefix(objects, "workload")]
			_, err := readCases("objects: {" + objects + ", when: {" + when + ": {any: 1}}, expect: {" + expected + "}")
			if err == nil || !strings.Contains(err.Error(), "spec.when."+when+": no ManagedCluster decides about spec.objects.") {
				t.Errorf("PT4: %s of %s: %v", when, objects, err)
			}
		}
	}
}

// TestPT14OneWorld compares each failure in the index with a new world.
func TestPT14OneWorld(t *testing.T) {
	state := systemsWorld(t, canary, "federated", "federated-works")
	variants := state.NewVariants(noon, nil)
	for _, cluster := range state.Clusters {
		for _, change := range []whatif.Change{
			whatif.Lose{Cluster: cluster.Name, Ago: time.Hour}, whatif.Remove{Cluster: cluster.Name}, whatif.Drain{Cluster: cluster.Name},
		} {
			after, err := whatif.Apply(state, noon, change)
			if err != nil {
				t.Fatal(err)
			}
			got, _ := variants.Objects(after)
			want := after.NewVariants(noon, nil).BaseObjects()
			for i := range want {
				if object := want[i].Object.Identity().String(); want[i].Target.Placement == "" && !slices.Equal(want[i].Clusters(),
					got[i].Clusters()) {
					t.Errorf("PT14: %s: %s has %v instead of %v", change, object, got[i].Clusters(), want[i].Clusters())
				}
			}
		}
	}
}

// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"encoding/json"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/placement-hub/placement-hub/pkg/podscheduling"
)

func TestMatchingPoliciesMatch(t *testing.T) {
	var all []*podscheduling.Policy
	for i := range ClusterPolicies {
		all = append(all, podscheduling.NewClusterPolicy(ClusterPolicy(i)))
	}
	for i := range Policies {
		all = append(all, podscheduling.NewPolicy(Policy(i)))
	}
	for _, policy := range all {
		if len(policy.Errors)+len(policy.Warnings) > 0 {
			t.Fatalf("%s: %v %v", policy, policy.Errors, policy.Warnings)
		}
	}
	policies := podscheduling.NewPolicies(all)
	for _, i := range []int{0, 7, Namespaces - 1, Namespaces + 3} {
		for side, want := range map[string]int{HubSide: Matching, FloorSide: 0} {
			deployment := Deployment(side, i)
			raw, err := json.Marshal(deployment)
			if err != nil {
				t.Fatal(err)
			}
			workload, err := podscheduling.ReadWorkload(schema.GroupKind{Group: appsv1.GroupName, Kind: "Deployment"}, raw)
			if err != nil {
				t.Fatal(err)
			}
			matching := policies.Matching(deployment.Namespace, Namespace(side, i).Labels, deployment.Spec.Template.Labels)
			result := podscheduling.Inject(workload, matching)
			added := 0
			for _, policy := range result.Policies {
				if len(policy.Added) > 0 && len(policy.Skipped) == 0 {
					added++
				}
			}
			if added != want {
				t.Errorf("%d of %d matching policies add to %s/%s, want %d", added, len(matching), deployment.Namespace, deployment.Name, want)
			}
		}
	}
}

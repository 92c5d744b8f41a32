// SPDX-License-Identifier: Apache-2.0

package answers_test

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/placement-hub/placement-hub/pkg/apis/scheme"
	"github.com/placement-hub/placement-hub/pkg/clustersets"
	"github.com/placement-hub/placement-hub/pkg/explain/answers"
	"github.com/placement-hub/placement-hub/pkg/explain/endpoint"
	"github.com/placement-hub/placement-hub/pkg/explain/tools"
	"github.com/placement-hub/placement-hub/test/expect"
)

// docs/spec/differences.md B20: every answer takes a cluster that the hub has not tainted yet as tainted, where the hub runs the controller.
func TestB20AnswersAssumeTaints(t *testing.T) {
	inDefault := func(name string, conditions ...metav1.Condition) *clusterv1.ManagedCluster {
		return &clusterv1.ManagedCluster{
			ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{clusterv1beta2.ClusterSetLabel: "default"}},
			Status:     clusterv1.ManagedClusterStatus{Conditions: conditions},
		}
	}
	available := metav1.Condition{Type: clusterv1.ManagedClusterConditionAvailable, Status: metav1.ConditionTrue}
	objects := []client.Object{
		&clusterv1beta1.Placement{
			ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "p"},
			Spec:       clusterv1beta1.PlacementSpec{NumberOfClusters: ptr.To[int32](2)},
		},
		&clusterv1beta2.ManagedClusterSet{ObjectMeta: metav1.ObjectMeta{Name: "default"}, Spec: clusterv1beta2.ManagedClusterSetSpec{
			ClusterSelector: clusterv1beta2.ManagedClusterSelector{SelectorType: clusterv1beta2.ExclusiveClusterSetLabel},
		}},
		&clusterv1beta2.ManagedClusterSetBinding{
			ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "default"},
			Spec:       clusterv1beta2.ManagedClusterSetBindingSpec{ClusterSet: "default"},
		},
		inDefault("old", available), inDefault("new"),
	}
	const rejected = "taint cluster.open-cluster-management.io/unreachable:NoSelect not tolerated"
	named := []endpoint.Object{{Group: clusterv1.GroupName, Kind: "Placement", Name: "p"}}

	for _, tc := range []struct {
		reason      string
		controllers []string
		question    endpoint.Question
		want        string
	}{
		{"explain, off", nil, endpoint.Question{Objects: named}, "2 of 2 wanted selected"},
		{"explain", []string{clustersets.ManagedClusterTaints}, endpoint.Question{Objects: named}, rejected},
		{"explain a cluster, off", nil, endpoint.Question{Objects: named, Clusters: []string{"new"}}, "new: Selected"},
		{"explain a cluster", []string{clustersets.ManagedClusterTaints}, endpoint.Question{Objects: named, Clusters: []string{"new"}},
			"no agent reports whether the cluster is available"},
		{"unsatisfied, off", nil, endpoint.Question{}, "all of 1 placement satisfied"},
		{"unsatisfied", []string{clustersets.ManagedClusterTaints}, endpoint.Question{}, "team-a/p"},
		{"simulate, off", nil, endpoint.Question{Command: endpoint.CommandSimulate, Objects: named}, "new"},
		{"simulate", []string{clustersets.ManagedClusterTaints}, endpoint.Question{Command: endpoint.CommandSimulate, Objects: named}, rejected},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			explainer := &answers.Explainer{Hub: tools.Hub{
				Settings: tools.Settings{Controllers: tc.controllers},
				Client:   fake.NewClientBuilder().WithScheme(scheme.New()).WithObjects(objects...).Build(),
				Now:      func() time.Time { return time.Unix(0, 0) },
			}}
			tc.question.Namespace, tc.question.Output = "team-a", "table"
			answer, err := explainer.Explain(t.Context(), &tc.question)
			expect.NoError(t, err)
			if !strings.Contains(answer.Output, tc.want) {
				t.Errorf("the answer lacks %q:\n%s", tc.want, answer.Output)
			}
		})
	}
}

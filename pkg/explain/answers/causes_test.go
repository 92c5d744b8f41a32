// SPDX-License-Identifier: Apache-2.0

package answers_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/placement-hub/placement-hub/pkg/apis/scheme"
	"github.com/placement-hub/placement-hub/pkg/explain/answers"
	"github.com/placement-hub/placement-hub/pkg/explain/endpoint"
	"github.com/placement-hub/placement-hub/pkg/explain/tools"
	"github.com/placement-hub/placement-hub/test/expect"
)

// Issue 26, U8: a Question to the hub has the flag and the width of the terminal.
func TestE1aHubGroupsRejectedClusters(t *testing.T) {
	objects := []client.Object{
		&clusterv1beta1.Placement{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "p"}, Spec: clusterv1beta1.PlacementSpec{
			Predicates: []clusterv1beta1.ClusterPredicate{{RequiredClusterSelector: clusterv1beta1.ClusterSelector{
				LabelSelector: metav1.LabelSelector{MatchLabels: map[string]string{"region": "europe"}},
			}}},
		}},
		&clusterv1beta2.ManagedClusterSet{ObjectMeta: metav1.ObjectMeta{Name: "default"}},
		&clusterv1beta2.ManagedClusterSetBinding{
			ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "default"},
			Spec:       clusterv1beta2.ManagedClusterSetBindingSpec{ClusterSet: "default"},
		},
	}
	for i := range 40 {
		objects = append(objects, &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{
			Name: fmt.Sprintf("us%02d", i), Labels: map[string]string{clusterv1beta2.ClusterSetLabel: "default"},
		}})
	}
	explainer := &answers.Explainer{Hub: tools.Hub{
		Client: fake.NewClientBuilder().WithScheme(scheme.New()).WithObjects(objects...).Build(), Limited: true,
		Now: func() time.Time { return time.Unix(0, 0) },
	}}
	question := endpoint.Question{
		Namespace: "team-a", Output: "table",
		Objects: []endpoint.Object{{Group: clusterv1.GroupName, Kind: "Placement", Name: "p"}},
	}
	answer, err := explainer.Explain(t.Context(), &question)
	expect.NoError(t, err)
	if !strings.Contains(answer.Output, "not selected: 40 clusters, by cause (--all-clusters lists them)") {
		t.Errorf("answer:\n%s", answer.Output)
	}
	question.AllClusters, question.Width = true, 60
	answer, err = explainer.Explain(t.Context(), &question)
	expect.NoError(t, err)
	if !strings.Contains(answer.Output, "us39     Predicate  -     -      -           -\n      predicate 1 label region In [europe]: not set\n") {
		t.Errorf("answer with all clusters:\n%s", answer.Output)
	}
}

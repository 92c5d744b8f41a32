// SPDX-License-Identifier: Apache-2.0

package answers

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/placement-hub/placement-hub/manifests"
	"github.com/placement-hub/placement-hub/pkg/explain/endpoint"
	"github.com/placement-hub/placement-hub/pkg/explain/tools"
	"github.com/placement-hub/placement-hub/pkg/federation"
	"github.com/placement-hub/placement-hub/test/expect"
)

// docs/spec/differences.md E1a: the right to read each object permits its explanation, and the right to write it what a file would change.
func TestE1aRightsThatAQuestionNeeds(t *testing.T) {
	placement := endpoint.Object{Group: "cluster.open-cluster-management.io", Kind: "Placement", Name: "p"}
	e := &Explainer{Hub: tools.Hub{Settings: tools.Settings{Delivered: federation.DefaultKinds()}, Limited: true}}
	for _, tc := range []struct {
		reason   string
		question endpoint.Question
		want     []string
		refused  []string
	}{
		{
			reason: "a Placement", question: endpoint.Question{Objects: []endpoint.Object{placement}},
			want: []string{"get placements.cluster.open-cluster-management.io p in namespace a"},
		},
		{
			reason:   "one of the older API",
			question: endpoint.Question{Objects: []endpoint.Object{{Group: "placement.open-cluster-management.io", Kind: "Placement", Name: "p"}}},
			want:     []string{"get placements.placement.open-cluster-management.io p in namespace a"},
		},
		{reason: "a list", want: []string{"list placements.cluster.open-cluster-management.io in namespace a"}},
		{
			reason: "a manifest", question: endpoint.Question{Command: endpoint.CommandDiff, Objects: []endpoint.Object{placement}, Manifests: "x"},
			want: []string{
				"get placements.cluster.open-cluster-management.io p in namespace a",
				"create placements.cluster.open-cluster-management.io in namespace a",
				"update placements.cluster.open-cluster-management.io p in namespace a",
			},
		},
		{
			reason: "objects that are delivered",
			question: endpoint.Question{Objects: []endpoint.Object{
				{Kind: "Secret", Name: "s"}, {Group: "networking.k8s.io", Kind: "Ingress", Name: "i"},
			}},
			want: []string{"get secrets s in namespace a", "get ingresses.networking.k8s.io i in namespace a"},
		},
		{
			reason:   "workloads",
			question: endpoint.Question{Objects: []endpoint.Object{{Group: "apps", Kind: "Deployment", Name: "d"}, {Kind: "Pod", Name: "p"}}},
			want:     []string{"get deployments.apps d in namespace a", "get pods p in namespace a"},
		},
		{
			reason:   "a ClusterRequest",
			question: endpoint.Question{Objects: []endpoint.Object{{Group: "cluster.openmcp.cloud", Kind: "ClusterRequest", Name: "r"}}},
			want:     []string{"get clusterrequests.cluster.openmcp.cloud r in namespace a"},
		},
		{
			reason:   "a kind that is not explained",
			question: endpoint.Question{Objects: []endpoint.Object{{Group: "rbac.authorization.k8s.io", Kind: "Role", Name: "r"}}},
			refused:  []string{"objects[0]", "does not explain"},
		},
		{
			reason:   "several kinds",
			question: endpoint.Question{Objects: []endpoint.Object{placement, {Kind: "Secret", Name: "s"}}}, refused: []string{"objects[1]"},
		},
		{
			reason: "a manifest of a ClusterRequest, and the Purpose that it uses",
			question: endpoint.Question{Command: endpoint.CommandDiff, Manifests: "x", Objects: []endpoint.Object{
				{Group: "cluster.openmcp.cloud", Kind: "ClusterRequest", Name: "r"}, {Group: "cluster.openmcp.cloud", Kind: "Purpose", Name: "gpu"},
			}},
			want: []string{
				"get clusterrequests.cluster.openmcp.cloud r in namespace a", "create clusterrequests.cluster.openmcp.cloud in namespace a",
				"update clusterrequests.cluster.openmcp.cloud r in namespace a", "use purposes.cluster.openmcp.cloud gpu in namespace a",
			},
		},
		{
			reason: "a manifest of a binding",
			question: endpoint.Question{Command: endpoint.CommandDiff, Manifests: "x", Objects: []endpoint.Object{
				{Group: placement.Group, Kind: "ManagedClusterSetBinding", Name: "s"},
			}},
			want: []string{
				"get managedclustersetbindings.cluster.open-cluster-management.io s in namespace a",
				"create managedclustersetbindings.cluster.open-cluster-management.io in namespace a",
				"update managedclustersetbindings.cluster.open-cluster-management.io s in namespace a",
				"create managedclustersets.cluster.open-cluster-management.io/bind s",
			},
		},
		{
			reason: "an explanation of a binding",
			question: endpoint.Question{Objects: []endpoint.Object{
				{Group: placement.Group, Kind: "ManagedClusterSetBinding", Name: "s"},
			}},
			refused: []string{"objects[0]", "does not explain"},
		},
		{
			reason: "a manifest of a policy, and one review for all workloads of a kind",
			question: endpoint.Question{
				Command: endpoint.CommandDiff, Manifests: "x", Kinds: []endpoint.KindRef{{Kind: "Pod"}},
				Objects:   []endpoint.Object{{Group: "kupid.gardener.cloud", Kind: "PodSchedulingPolicy", Name: "w"}},
				Workloads: []endpoint.Object{{Kind: "Pod", Name: "p"}, {Kind: "Pod", Name: "q"}},
			},
			want: []string{
				"get podschedulingpolicies.kupid.gardener.cloud w in namespace a", "create podschedulingpolicies.kupid.gardener.cloud in namespace a",
				"update podschedulingpolicies.kupid.gardener.cloud w in namespace a", "list pods in namespace a",
			},
		},
		{
			reason: "a workload that is none", refused: []string{"workloads[0]", "ConfigMap is no kind of workloads"},
			question: endpoint.Question{
				Command: endpoint.CommandDiff, Manifests: "x", Kinds: []endpoint.KindRef{{Kind: "ConfigMap"}},
				Objects:   []endpoint.Object{placement},
				Workloads: []endpoint.Object{{Kind: "ConfigMap", Name: "p"}},
			},
		},
		{
			reason: "a manifest of a Pod",
			question: endpoint.Question{
				Command: endpoint.CommandDiff, Manifests: "x", Objects: []endpoint.Object{{Kind: "Pod", Name: "p"}},
			},
			refused: []string{"objects[0]", "diff is not about objects of the kind Pod"},
		},
		{
			reason:   "an explanation of a Purpose",
			question: endpoint.Question{Objects: []endpoint.Object{{Group: "cluster.openmcp.cloud", Kind: "Purpose", Name: "gpu"}}},
			refused:  []string{"objects[0]", "does not explain"},
		},
		{
			reason: "a simulation without a binding",
			question: endpoint.Question{
				Command: endpoint.CommandSimulate, Kinds: []endpoint.KindRef{{Group: placement.Group, Kind: placement.Kind}, {Kind: "Secret"}},
				WithoutBindings: []string{"edge"},
			},
			want: []string{
				"list placements.cluster.open-cluster-management.io in namespace a", "list secrets in namespace a",
				"delete managedclustersetbindings.cluster.open-cluster-management.io edge in namespace a",
			},
		},
		{
			reason: "a simulation of a Secret",
			question: endpoint.Question{
				Command: endpoint.CommandSimulate, Objects: []endpoint.Object{{Kind: "Secret", Name: "s"}},
			},
			refused: []string{"objects[0]", "simulate is not about objects of the kind Secret"},
		},
		{
			reason: "a report of all objects of a kind and of one more",
			question: endpoint.Question{
				Command: endpoint.CommandFederated, Kinds: []endpoint.KindRef{{Kind: "ConfigMap"}},
				Objects: []endpoint.Object{{Kind: "Secret", Name: "s"}},
			},
			want: []string{"get secrets s in namespace a", "list configmaps in namespace a"},
		},
		{
			reason: "a report of a kind that is not delivered",
			question: endpoint.Question{
				Command: endpoint.CommandFederated, Kinds: []endpoint.KindRef{{Kind: "Pod"}},
			},
			refused: []string{"kinds[0]", "federated shows no objects of the kind Pod"},
		},
		{reason: "a format", question: endpoint.Question{Output: "exe"}, refused: []string{"output", `"exe"`}},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			tc.question.Namespace = "a"
			if tc.question.Command == "" {
				tc.question.Command = endpoint.CommandExplain
			}
			if tc.question.Output == "" {
				tc.question.Output = "table"
			}
			asked, err := e.Asked(&tc.question)
			if len(tc.refused) > 0 {
				expect.Error(t, err, tc.refused)
				return
			}
			expect.NoError(t, err)
			got := make([]string, 0, len(asked))
			for _, each := range asked {
				got = append(got, each.String())
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("rights (-want +got):\n%s", diff)
			}
		})
	}
}

// Manifests may have no object that the rights of the caller were not checked for.
func TestE1aManifestsAreWhatTheQuestionNames(t *testing.T) {
	placement := endpoint.Object{Group: "cluster.open-cluster-management.io", Kind: "Placement", Name: "p"}
	manifest := func(namespace, name string) string {
		return "apiVersion: cluster.open-cluster-management.io/v1beta1\nkind: Placement\n" +
			"metadata: {namespace: " + namespace + ", name: " + name + "}\nspec: {}\n"
	}
	for _, tc := range []struct {
		reason, manifests string
		refused           []string
	}{
		{reason: "the object that is named", manifests: manifest("a", "p")},
		{reason: "another object", manifests: manifest("a", "p") + "---\n" + manifest("a", "q"), refused: []string{"Placement q", "does not name"}},
		{reason: "another namespace", manifests: manifest("b", "p"), refused: []string{"namespace"}},
		{
			reason: "a binding that is not named",
			manifests: "apiVersion: cluster.open-cluster-management.io/v1beta2\nkind: ManagedClusterSetBinding\n" +
				"metadata: {name: s}\nspec: {clusterSet: s}\n",
			refused: []string{"ManagedClusterSetBinding s, which objects does not name"},
		},
		{
			reason: "a Namespace", manifests: "apiVersion: v1\nkind: Namespace\nmetadata: {name: a}\n",
			refused: []string{"the files have other objects"},
		},
		{
			reason: "a typo", manifests: strings.Replace(manifest("a", "p"), "spec: {}", "spec: {numberOfCluster: 1}", 1),
			refused: []string{"numberOfCluster"},
		},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			_, _, err := (&Explainer{Definitions: tools.Definitions{CRDs: manifests.Definitions}}).changesIn(&endpoint.Question{
				Namespace: "a", Objects: []endpoint.Object{placement}, Manifests: tc.manifests,
			})
			if len(tc.refused) == 0 {
				expect.NoError(t, err)
				return
			}
			expect.Error(t, err, tc.refused)
		})
	}
}

// A kind that the hub delivers because a flag adds it is among the objects that a question has to name, too.
func TestE1aManifestsOfAddedKindsAreNamed(t *testing.T) {
	widget := federation.FederatedKind{
		GroupVersionKind: schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Widget"}, Resource: "widgets",
	}
	settings := tools.Settings{Delivered: append(federation.DefaultKinds(), widget)}
	e := &Explainer{Hub: tools.Hub{Settings: settings}, Definitions: tools.Definitions{CRDs: manifests.Definitions}}
	question := &endpoint.Question{
		Command: endpoint.CommandDiff, Namespace: "a", Manifests: "apiVersion: example.com/v1\nkind: Widget\nmetadata: {namespace: a, name: w}\n",
	}
	_, _, err := e.changesIn(question)
	expect.Error(t, err, []string{"Widget w, which objects does not name"})
	question.Objects = []endpoint.Object{{Group: "example.com", Kind: "Widget", Name: "w"}}
	_, _, err = e.changesIn(question)
	expect.NoError(t, err)
}

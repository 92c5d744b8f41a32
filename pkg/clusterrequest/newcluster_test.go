// SPDX-License-Identifier: Apache-2.0

package clusterrequest

import (
	"testing"

	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
)

func TestNamespaceOfNewClusters(t *testing.T) {
	for _, test := range []struct {
		reason, purpose, want string
		options               Options
		change                func(*openmcpv1alpha1.ClusterRequest)
	}{
		{reason: "trust T5: a shared Cluster is in the namespace for those", purpose: "platform", want: DefaultSharedNamespace},
		{reason: "trust T5: that of the options", purpose: "workload", options: Options{SharedNamespace: "shared"}, want: "shared"},
		{reason: "trust T5: a shared Cluster of a dedicated purpose", purpose: "mcp", change: withDedicated(false), want: DefaultSharedNamespace},
		{reason: "cluster-request 4.1.3: a Cluster of its own", purpose: "mcp", want: "team-a"},
		{reason: "cluster-request 4.1.3: a Cluster of its own, by the request", purpose: "platform", change: withDedicated(true), want: "team-a"},
		{reason: "cluster-request 4.1.3: the template", purpose: "placed", want: "clusters"},
		{reason: "trust T5: the scope Namespaced keeps the namespace of the request", purpose: "platform",
			options: Options{Scope: ScopeNamespaced, SharedNamespace: "shared"}, want: "team-a"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			w := &world{Catalog: NewCatalog(test.options), t: t}
			w.SetClusterProvider(gardener())
			w.purpose("platform", openmcpv1alpha1.PurposeSpec{})
			w.purpose("workload", openmcpv1alpha1.PurposeSpec{TenancyLimit: 2})
			w.purpose("mcp", openmcpv1alpha1.PurposeSpec{Dedicated: true})
			w.purpose("placed", openmcpv1alpha1.PurposeSpec{ClusterTemplate: &openmcpv1alpha1.ClusterTemplate{Namespace: "clusters"}})
			expectEqual(t, test.want, w.Decide(w.request(test.purpose, test.change), now).Cluster.Namespace, "namespace")
		})
	}

	t.Run("trust T5: a shared Cluster that exists stays where it is, and is found there", func(t *testing.T) {
		w := &world{Catalog: NewCatalog(Options{}), t: t}
		w.SetClusterProvider(gardener())
		w.purpose("platform", openmcpv1alpha1.PurposeSpec{})
		w.cluster("c", "platform", nil)
		expectEqual(t, "team-a", w.Decide(w.request("platform", nil), now).Cluster.Namespace, "namespace")
	})
}

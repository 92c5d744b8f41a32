// SPDX-License-Identifier: Apache-2.0

package federation

import (
	"maps"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/manifests"
	"github.com/placement-hub/placement-hub/pkg/system"
	"github.com/placement-hub/placement-hub/test/integration/members"
	"github.com/placement-hub/placement-hub/test/integration/suite"
)

// boundSet is the set of all members.
const boundSet = "members"

// The members of the scenarios.
var eu1, eu2, us1 *members.Member

// hub has all rights on the hub.
var hub client.Client

func TestFederation(t *testing.T) {
	suite.Run(t, "federated objects", suite.DeletingFederated, suite.BeforeHub(startMembers), suite.ConfigureHub(func(o *system.Options) {
		o.Controllers = append(o.Controllers, "federation/objects")
	}))
}

// startMembers starts eu1, eu2 and us1, all of them members of one set.
func startMembers(ctx SpecContext) {
	hub = suite.Client
	admin := suite.ControlPlane.AdminConfig()
	Expect(manifests.InstallManifestWorks(ctx, admin)).To(Succeed())
	Expect(manifests.InstallSystem(ctx, admin, manifests.Federation, "")).To(Succeed())
	set := &clusterv1beta2.ManagedClusterSet{ObjectMeta: metav1.ObjectMeta{Name: boundSet}}
	Expect(hub.Create(ctx, set)).To(Succeed())
	started := members.Start(ctx, cluster("eu1"), cluster("eu2"), cluster("us1"))
	eu1, eu2, us1 = started[0], started[1], started[2]
}

// clusterLabels are the labels of the members in the scenarios.
var clusterLabels = map[string]map[string]string{
	"eu1": {"location": "europe", "environment": "prod", "version": "15", "load": "3"},
	"eu2": {"location": "europe", "environment": "test", "version": "9"},
	"us1": {"location": "usa", "environment": "prod"},
}

// cluster returns the ManagedCluster of a member as the scenarios begin with it.
func cluster(name string) *clusterv1.ManagedCluster {
	cluster := &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{
		Name: name, Labels: map[string]string{clusterv1beta2.ClusterSetLabel: boundSet},
	}}
	maps.Copy(cluster.Labels, clusterLabels[name])
	return cluster
}

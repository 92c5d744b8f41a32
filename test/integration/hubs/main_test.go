// SPDX-License-Identifier: Apache-2.0

package hubs

import (
	"context"
	"io/fs"
	"strings"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	clusterv1 "open-cluster-management.io/api/cluster/v1"

	"github.com/placement-hub/placement-hub/deploy/samples"
	"github.com/placement-hub/placement-hub/manifests"
	"github.com/placement-hub/placement-hub/pkg/localplane/workagent"
	"github.com/placement-hub/placement-hub/pkg/system"
	"github.com/placement-hub/placement-hub/test/integration/members"
	"github.com/placement-hub/placement-hub/test/integration/suite"
)

// The hubs below the hub of hubs, which is that of the suite.
var europe, usa *members.Member

func TestHubs(t *testing.T) {
	suite.Run(t, "a hub of hubs", suite.DeletingFederated, suite.BeforeHub(startHubs), suite.ConfigureHub(func(o *system.Options) {
		o.Controllers = append(o.Controllers, "federation/objects")
		o.FederatedKinds = []string{"cluster.open-cluster-management.io/v1beta1/Placement"}
	}))
}

// startHubs applies the sample to the hub of hubs, and starts both hubs below it with theirs.
func startHubs(ctx SpecContext) {
	admin := suite.ControlPlane.AdminConfig()
	Expect(manifests.InstallManifestWorks(ctx, admin)).To(Succeed())
	Expect(manifests.InstallSystem(ctx, admin, manifests.Federation, "")).To(Succeed())
	var clusters []*clusterv1.ManagedCluster
	var others []*unstructured.Unstructured
	for _, object := range sample(samples.HubsAbove) {
		if object.GetKind() != "ManagedCluster" {
			others = append(others, object)
			continue
		}
		cluster := &clusterv1.ManagedCluster{}
		Expect(runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, cluster)).To(Succeed())
		clusters = append(clusters, cluster)
	}
	Expect(manifests.Apply(ctx, admin, others)).To(Succeed())
	started := members.Start(ctx, clusters...)
	europe, usa = started[0], started[1]
	startHub(ctx, europe, samples.HubsEurope)
	startHub(ctx, usa, samples.HubsUSA)
}

// startHub installs a hub in a member, applies its part of the sample, and starts it.
func startHub(ctx context.Context, member *members.Member, clusters string) {
	GinkgoHelper()
	plane := member.ControlPlane()
	Expect(manifests.Install(ctx, plane.AdminConfig())).To(Succeed())
	apply(ctx, plane.AdminConfig(), samples.HubsBelow)
	apply(ctx, plane.AdminConfig(), clusters)
	// Open Cluster Management aggregates the ClusterRole of the sample, which kube-controller-manager does that does not run here.
	Expect(member.Client.Create(ctx, &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "delivered-placements"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "delivered-placements"},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: workagent.MemberUser}},
	})).To(Succeed())
	DeferCleanup(suite.StartHub(suite.HubConfig(ctx, plane), func(o *system.Options) { //nolint:contextcheck // It runs until the end of the suite.
		o.Controllers, o.FederatedKinds = []string{"placement"}, nil
	}))
}

// sample returns the objects of a file of the sample.
func sample(file string) []*unstructured.Unstructured {
	GinkgoHelper()
	content, err := fs.ReadFile(samples.Others(), file)
	Expect(err).NotTo(HaveOccurred())
	objects, err := manifests.Decode(strings.NewReader(string(content)), file)
	Expect(err).NotTo(HaveOccurred())
	return objects
}

func apply(ctx context.Context, config *rest.Config, file string) {
	GinkgoHelper()
	Expect(manifests.Apply(ctx, config, sample(file))).To(Succeed())
}

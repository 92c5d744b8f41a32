// SPDX-License-Identifier: Apache-2.0

package clusteradm

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/sets"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	workv1 "open-cluster-management.io/api/work/v1"
	sdkv1beta1 "open-cluster-management.io/sdk-go/pkg/apis/cluster/v1beta1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/manifests"
	"github.com/placement-hub/placement-hub/test/integration/suite"
)

// createWork is "clusteradm create work WORK -f manifest.yaml --placement NAMESPACE/NAME --overwrite": a ManifestWork in the namespace of
// every cluster in the decisions of the placement, and in no other cluster's.
func (c *clusteradm) createWork(ctx context.Context, name, placement, payload string) {
	GinkgoHelper()
	found := &clusterv1beta1.Placement{}
	Expect(c.Get(ctx, client.ObjectKey{Namespace: c.namespace, Name: placement}, found)).To(Succeed())
	works := &workv1.ManifestWorkList{}
	Expect(c.List(ctx, works, named(name))).To(Succeed())
	existing := sets.New[string]()
	for _, work := range works.Items {
		existing.Insert(work.Namespace)
	}

	tracker := sdkv1beta1.NewPlacementDecisionClustersTracker(found, suite.DecisionGetter{Context: ctx, Reader: c}, existing)
	_, removed, err := tracker.GetClusterChanges()
	Expect(err).NotTo(HaveOccurred())
	for cluster := range tracker.ExistingClusterGroupsBesides().GetClusters() {
		c.applyWork(ctx, cluster, name, payload)
	}
	for cluster := range removed {
		Expect(c.Delete(ctx, &workv1.ManifestWork{ObjectMeta: metav1.ObjectMeta{Namespace: cluster, Name: name}})).To(Succeed())
	}
}

// applyWork makes a ManifestWork, or updates the whole of it.
func (c *clusteradm) applyWork(ctx context.Context, cluster, name, payload string) {
	GinkgoHelper()
	content := `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"namespace":"default","name":"payload"},"data":{"text":"` + payload + `"}}`
	workSpec := workv1.ManifestWorkSpec{Workload: workv1.ManifestsTemplate{Manifests: []workv1.Manifest{{
		RawExtension: runtime.RawExtension{Raw: []byte(content)},
	}}}}
	work := &workv1.ManifestWork{}

	err := c.Get(ctx, client.ObjectKey{Namespace: cluster, Name: name}, work)
	if apierrors.IsNotFound(err) {
		work = &workv1.ManifestWork{ObjectMeta: metav1.ObjectMeta{Namespace: cluster, Name: name}, Spec: workSpec}
		Expect(c.Create(ctx, work)).To(Succeed())
		return
	}
	Expect(err).NotTo(HaveOccurred())
	work.Spec = workSpec
	Expect(c.Update(ctx, work)).To(Succeed())
}

// worksOf are the payloads of the works of a name, by the short names of their clusters.
func (c *clusteradm) worksOf(ctx context.Context, f *suite.Fixture, name string) map[string]string {
	GinkgoHelper()
	works := &workv1.ManifestWorkList{}
	Expect(c.List(ctx, works, named(name))).To(Succeed())
	payloads := map[string]string{}
	for _, work := range works.Items {
		payload := &corev1.ConfigMap{}
		Expect(json.Unmarshal(work.Spec.Workload.Manifests[0].Raw, payload)).To(Succeed())
		payloads[f.ShortName(work.Namespace)] = payload.Data["text"]
	}
	return payloads
}

var _ = Describe("clusteradm and works", func() {
	It("create work --placement: a work for each cluster in the decisions, and none for one that left", func(ctx SpecContext) {
		installWorks(ctx)
		f := suite.NewFixture(ctx)
		f.Set(ctx, "set")
		for _, short := range suite.Shorts(1, 5) {
			f.Cluster(ctx, "set", short)
			f.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: f.Name(short)}})
		}

		f.AwaitClusters(ctx)
		f.Placement(ctx, "p", clusterv1beta1.PlacementSpec{DecisionStrategy: clusterv1beta1.DecisionStrategy{
			GroupStrategy: clusterv1beta1.GroupStrategy{ClustersPerDecisionGroup: intstr.FromInt32(2)},
		}})
		settled := func(groups ...string) {
			GinkgoHelper()
			Eventually(func(g Gomega) { g.Expect(f.Look(ctx, g, "p").Groups).To(HaveExactElements(groups)) }).
				WithContext(ctx).WithTimeout(suite.Timeout).Should(Succeed())
		}
		settled("0/: 2 [p-decision-1]", "1/: 2 [p-decision-2]", "2/: 1 [p-decision-3]")

		deployer := as(ctx, f, "deployer",
			inNamespace(f.Namespace, "get,list "+clusterv1.GroupName+"/placements,placementdecisions"),
			everywhere("get,list,create,update,delete "+workv1.GroupName+"/manifestworks"))
		deployer.createWork(ctx, "app", "p", "one")
		Expect(deployer.worksOf(ctx, f, "app")).To(Equal(map[string]string{
			"c001": "one", "c002": "one", "c003": "one", "c004": "one", "c005": "one",
		}))

		f.EditCluster(ctx, "c002", suite.Tainted("away", "", clusterv1.TaintEffectNoSelect))
		f.EditCluster(ctx, "c003", suite.Tainted("away", "", clusterv1.TaintEffectNoSelect))
		settled("0/: 2 [p-decision-1]", "1/: 1 [p-decision-2]")

		deployer.createWork(ctx, "app", "p", "two")
		Expect(deployer.worksOf(ctx, f, "app")).To(Equal(map[string]string{"c001": "two", "c004": "two", "c005": "two"}))
	})
})

// installWorks has the API server know ManifestWorks, as the API module defines them.
func installWorks(ctx context.Context) {
	GinkgoHelper()

	// As go.mod and vendor say, the definition lies beside the Go types.
	output, err := exec.CommandContext(ctx, "go", "list", "-f", "{{.Dir}}", "open-cluster-management.io/api/work/v1").Output()
	Expect(err).NotTo(HaveOccurred())
	file, err := os.Open(filepath.Join(strings.TrimSpace(string(output)), "0000_00_work.open-cluster-management.io_manifestworks.crd.yaml"))
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(file.Close)
	objects, err := manifests.Decode(file, file.Name())
	Expect(err).NotTo(HaveOccurred())
	for _, object := range objects {
		delete(object.Object, "status")
	}

	Expect(manifests.Apply(ctx, suite.ControlPlane.AdminConfig(), objects)).To(Succeed())
}

// SPDX-License-Identifier: Apache-2.0

package multicluster

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	clusterinventory "sigs.k8s.io/cluster-inventory-api/apis/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/pkg/explain"
	"github.com/placement-hub/placement-hub/pkg/explain/hubstate"
	"github.com/placement-hub/placement-hub/pkg/explain/printers"
	"github.com/placement-hub/placement-hub/pkg/inventory"
	"github.com/placement-hub/placement-hub/pkg/localplane"
	"github.com/placement-hub/placement-hub/pkg/placement"
	"github.com/placement-hub/placement-hub/pkg/placement/controller"
	"github.com/placement-hub/placement-hub/pkg/system"
	"github.com/placement-hub/placement-hub/test/history"
	"github.com/placement-hub/placement-hub/test/integration/suite"
)

// moveTo has the suite work on another control plane, with a hub that runs there, until the container or spec that calls it ends.
func moveTo(ctx SpecContext, another *localplane.ControlPlane, settings ...func(*system.Options)) {
	GinkgoHelper()
	api, err := client.New(another.AdminConfig(), client.Options{Scheme: system.Scheme()})
	Expect(err).NotTo(HaveOccurred())
	before, beforeAPI, beforeStop := suite.ControlPlane, suite.Client, suite.StopHub
	suite.ControlPlane, suite.Client = another, api
	suite.StopHub = suite.StartHub(suite.HubConfig(ctx, another), settings...)
	DeferCleanup(func() {
		suite.StopHub()
		suite.ControlPlane, suite.Client, suite.StopHub = before, beforeAPI, beforeStop
	})
}

// The cluster managers of ClusterProfiles: the one of ManagedClusters, and another.
const (
	ourManager   = "open-cluster-management"
	otherManager = "elsewhere"
)

// createProfile makes a ClusterProfile in a namespace for a cluster of this fixture, of its name.
func createProfile(ctx context.Context, f *suite.Fixture, namespace, manager, short string) *clusterinventory.ClusterProfile {
	GinkgoHelper()
	profile := newProfile(namespace, manager, f.Name(short))
	f.Create(ctx, profile)
	return profile
}

func newProfile(namespace, manager, name string) *clusterinventory.ClusterProfile {
	return &clusterinventory.ClusterProfile{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec:       clusterinventory.ClusterProfileSpec{ClusterManager: clusterinventory.ClusterManager{Name: manager}},
	}
}

// createFleet makes the clusters from the first number to the last in the set "set", each with a ClusterProfile, several at a time.
func createFleet(ctx context.Context, f *suite.Fixture, first, last int) {
	GinkgoHelper()

	Expect(suite.Each(ctx, last-first+1, func(ctx context.Context, i int) error {
		name := f.Name(fmt.Sprintf("c%03d", first+i))
		cluster := &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{
			suite.FixtureLabel: f.Namespace, clusterv1beta2.ClusterSetLabel: f.Name("set"),
		}}}
		if err := suite.Client.Create(ctx, newProfile(f.Name("fleet"), ourManager, name)); err != nil {
			return fmt.Errorf("creating ClusterProfile %s: %w", name, err)
		}
		if err := suite.Client.Create(ctx, cluster); err != nil {
			return fmt.Errorf("creating ManagedCluster %s: %w", name, err)
		}
		return nil
	})).To(Succeed())
}

// slicesOf are the PlacementDecisions of multicluster.x-k8s.io that the hub has written for a placement, in the order of their indexes.
func slicesOf(ctx context.Context, f *suite.Fixture, g Gomega, name string) []clusterinventory.PlacementDecision {
	list := &clusterinventory.PlacementDecisionList{}
	labels := client.MatchingLabels{clusterinventory.PlacementKeyLabel: name}
	g.Expect(suite.Client.List(ctx, list, client.InNamespace(f.Namespace), labels)).To(Succeed())
	list.Items = slices.DeleteFunc(list.Items, func(slice clusterinventory.PlacementDecision) bool {
		return slice.SchedulerName != controller.SchedulerName
	})
	slices.SortFunc(list.Items, func(a, b clusterinventory.PlacementDecision) int {
		x, y := a.Labels[clusterinventory.DecisionIndexLabel], b.Labels[clusterinventory.DecisionIndexLabel]
		return cmp.Or(cmp.Compare(len(x), len(y)), cmp.Compare(x, y))
	})
	return list.Items
}

// watchSlices starts to watch all slices of the fixture; their members are "namespace/name" in short.
func watchSlices(ctx context.Context, f *suite.Fixture) *suite.Recording {
	GinkgoHelper()
	return f.RecordWith(ctx, history.Adapter{
		List: &clusterinventory.PlacementDecisionList{}, Convert: func(object runtime.Object) *clusterv1beta1.PlacementDecision {
			slice, ok := object.(*clusterinventory.PlacementDecision)
			if !ok {
				return nil
			}
			return suite.PageOf(slice.ObjectMeta, referencesOf(f, slice))
		},
	})
}

// shownSlices are the slices of the placement "p" as they are filmed.
func shownSlices(ctx context.Context, f *suite.Fixture, g Gomega) []clusterv1beta1.PlacementDecision {
	pages := []clusterv1beta1.PlacementDecision{}
	for _, slice := range slicesOf(ctx, f, g, "p") {
		pages = append(pages, *suite.PageOf(slice.ObjectMeta, referencesOf(f, &slice)))
	}
	return pages
}

// referencesOf are the ClusterProfiles of a slice as "namespace/name" in short; the namespace of the fixture itself is ".".
func referencesOf(f *suite.Fixture, slice *clusterinventory.PlacementDecision) []string {
	references := []string{}
	for _, decision := range slice.Decisions {
		namespace := f.ShortName(decision.ClusterProfileRef.Namespace)
		if namespace == f.Namespace {
			namespace = "."
		}
		references = append(references, namespace+"/"+f.ShortName(decision.ClusterProfileRef.Name))
	}
	return references
}

// expectSlices waits until the slices of a placement hold exactly these references, each slice in its order, and are as SIG Multicluster
// wants them.
func expectSlices(ctx context.Context, f *suite.Fixture, name string, want ...[]string) {
	GinkgoHelper()
	Eventually(func(g Gomega) {
		owner := f.Read(ctx, g, name)
		seen := [][]string{}
		for i, slice := range slicesOf(ctx, f, g, name) {
			seen = append(seen, referencesOf(f, &slice))
			g.Expect(len(slice.Decisions)).To(BeNumerically("<=", suite.PageSize))
			g.Expect(slice.Name).To(HavePrefix(name + "-decision-"))
			g.Expect(slice.Labels).To(Equal(map[string]string{
				clusterinventory.DecisionKeyLabel: name, clusterinventory.PlacementKeyLabel: name,
				clusterinventory.DecisionIndexLabel: strconv.Itoa(i),
			}))
			g.Expect(slice.OwnerReferences).To(HaveExactElements(metav1.OwnerReference{
				APIVersion: "cluster.open-cluster-management.io/v1beta1", Kind: "Placement", Name: name, UID: owner.UID,
				Controller: ptr.To(true), BlockOwnerDeletion: ptr.To(true),
			}))
		}

		g.Expect(seen).To(Equal(want))
	}).WithContext(ctx).WithTimeout(suite.Timeout).Should(Succeed())
}

// expectProfilesFound waits until the placement "p" says so about ClusterProfiles.
func expectProfilesFound(ctx context.Context, f *suite.Fixture, status, words string) {
	GinkgoHelper()
	Eventually(func(g Gomega) {
		p := f.Read(ctx, g, "p")
		condition := meta.FindStatusCondition(p.Status.Conditions, placement.ConditionProfilesFound)
		g.Expect(condition).NotTo(BeNil())
		g.Expect(suite.ConditionText(*condition)).To(Equal(status))
		g.Expect(condition.Message).To(ContainSubstring(words))
		g.Expect(condition.ObservedGeneration).To(Equal(p.Generation))
	}).WithContext(ctx).WithTimeout(suite.Timeout).Should(Succeed())
}

// inFleet are the ClusterProfiles that fleet makes, as references reads them.
func inFleet(shorts ...string) []string {
	references := []string{}
	for _, short := range shorts {
		references = append(references, "fleet/"+short)
	}
	return references
}

// explained is what "placement explain" prints of the placement "p".
func explained(ctx context.Context, f *suite.Fixture) string {
	GinkgoHelper()
	state, err := hubstate.FromCluster(ctx, suite.Client, []inventory.Key{inventory.NewPlacementKey(inventory.V1beta1, f.Namespace, "p")})
	Expect(err).NotTo(HaveOccurred())
	now := time.Now()
	reports := explain.Reports{Now: metav1.NewTime(now)}
	for _, evaluation := range state.Evaluate(now, nil) {
		reports.Placements = append(reports.Placements, state.Explain(evaluation, false))
	}
	var out bytes.Buffer
	Expect(printers.Print(&out, printers.FormatTable, reports, printers.Style{})).To(Succeed())
	return out.String()
}

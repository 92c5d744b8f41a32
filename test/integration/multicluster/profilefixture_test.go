// SPDX-License-Identifier: Apache-2.0

package multicluster

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	eventsv1 "k8s.io/api/events/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	apiwatch "k8s.io/apimachinery/pkg/watch"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	clusterinventory "sigs.k8s.io/cluster-inventory-api/apis/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/manifests"
	"github.com/placement-hub/placement-hub/pkg/localplane"
	"github.com/placement-hub/placement-hub/pkg/system"
	"github.com/placement-hub/placement-hub/test/integration/suite"
)

// withProfiles has a hub make ClusterProfiles beside PlacementDecisions that refer to them.
func withProfiles(o *system.Options) {
	o.ProfileDecisions = true
	o.Controllers = append(o.Controllers, "clusterprofiles")
}

// moveToProfiles has the suite work on a control plane of its own with a hub that has these settings.
func moveToProfiles(ctx SpecContext, prefix string, settings ...func(*system.Options)) {
	GinkgoHelper()
	another, err := suite.ControlPlane.AnotherAPIServer(ctx, prefix, localplane.Options{AuditLog: true, Log: GinkgoWriter})
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(func() { Expect(another.Stop()).To(Succeed()) })
	Expect(manifests.Install(ctx, another.AdminConfig())).To(Succeed())
	Expect(manifests.InstallMulticluster(ctx, another.AdminConfig())).To(Succeed())
	Expect(manifests.InstallSystem(ctx, another.AdminConfig(), manifests.ClusterProfiles, "")).To(Succeed())
	moveTo(ctx, another, settings...)
}

// restartHub stops the hub and starts one with other settings.
func restartHub(ctx SpecContext, settings ...func(*system.Options)) {
	GinkgoHelper()
	suite.StopHub()
	suite.StopHub = suite.StartHub(suite.HubConfig(ctx, suite.ControlPlane), settings...)
}

// readProfile returns the ClusterProfile of a cluster in the namespace of the fixture.
func readProfile(ctx context.Context, f *suite.Fixture, g Gomega, short string) *clusterinventory.ClusterProfile {
	profile := &clusterinventory.ClusterProfile{}
	g.Expect(suite.Client.Get(ctx, types.NamespacedName{Namespace: f.Namespace, Name: f.Name(short)}, profile)).To(Succeed())
	return profile
}

// propertiesOf returns the properties of a ClusterProfile by their names.
func propertiesOf(profile *clusterinventory.ClusterProfile) map[string]string {
	values := map[string]string{}
	for _, property := range profile.Status.Properties {
		values[property.Name] = property.Value
	}
	return values
}

// expectProperties waits until the ClusterProfile of a cluster has exactly these properties, and returns it.
func expectProperties(ctx context.Context, f *suite.Fixture, short string, want map[string]string) *clusterinventory.ClusterProfile {
	GinkgoHelper()
	var profile *clusterinventory.ClusterProfile
	Eventually(func(g Gomega) {
		profile = readProfile(ctx, f, g, short)
		g.Expect(propertiesOf(profile)).To(Equal(want))
	}).WithContext(ctx).WithTimeout(suite.Timeout).Should(Succeed())
	return profile
}

// setClaims replaces the claims of a cluster by one.
func setClaims(ctx context.Context, f *suite.Fixture, short, name, value string) {
	GinkgoHelper()
	cluster := f.ReadCluster(ctx, Default, short)
	cluster.Status.ClusterClaims = []clusterv1.ManagedClusterClaim{{Name: name, Value: value}}
	Expect(suite.Client.Status().Update(ctx, cluster)).To(Succeed())
}

// ownedByAnother are the Events of the namespace about ClusterProfiles of other writers.
func ownedByAnother(ctx context.Context, f *suite.Fixture, g Gomega) []eventsv1.Event {
	list := &eventsv1.EventList{}
	g.Expect(suite.Client.List(ctx, list, client.InNamespace(f.Namespace))).To(Succeed())
	return slices.DeleteFunc(list.Items, func(event eventsv1.Event) bool { return event.Reason != "ProfileOwnedByAnother" })
}

// profileWrites are the writes of the hub to ClusterProfiles of a namespace.
func profileWrites(g Gomega, namespace string) []string {
	return slices.DeleteFunc(suite.HubWrites(g, func(of string) bool { return of == namespace }), func(write string) bool {
		return !strings.Contains(write, " clusterprofiles/")
	})
}

// registration imitates the writes to ClusterProfiles of the registration controllers of Open Cluster Management v1.2 with the feature gate
// ClusterProfile: they create a ClusterProfile, and patch its status and its labels by merge patches, as the field manager registration.
type registration struct{ api client.Client }

func newRegistration() registration {
	return registration{client.WithFieldOwner(suite.Client, "registration")}
}

// publish creates the ClusterProfile of a cluster in the namespace of the fixture if there is none, and has it follow the cluster.
func (r registration) publish(ctx context.Context, f *suite.Fixture, short string) {
	GinkgoHelper()
	cluster := f.ReadCluster(ctx, Default, short)
	profile := newProfile(f.Namespace, ourManager, cluster.Name)
	profile.Spec.DisplayName = cluster.Name
	profile.Labels = map[string]string{clusterinventory.LabelClusterManagerKey: ourManager, clusterv1.ClusterNameLabelKey: cluster.Name}
	Expect(client.IgnoreAlreadyExists(r.api.Create(ctx, profile))).To(Succeed())

	r.patchStatus(ctx, f, short, func(status *clusterinventory.ClusterProfileStatus) {
		status.Version.Kubernetes = cluster.Status.Version.Kubernetes
		status.Properties = []clusterinventory.Property{}
		for _, claim := range cluster.Status.ClusterClaims {
			status.Properties = append(status.Properties, clusterinventory.Property{Name: claim.Name, Value: claim.Value})
		}
		for from, to := range map[string]string{
			clusterv1.ManagedClusterConditionAvailable: clusterinventory.ClusterConditionControlPlaneHealthy,
			clusterv1.ManagedClusterConditionJoined:    "Joined",
		} {
			if known := meta.FindStatusCondition(cluster.Status.Conditions, from); known != nil {
				meta.SetStatusCondition(&status.Conditions, metav1.Condition{
					Type: to, Status: known.Status, Reason: known.Reason, Message: known.Message,
				})
			}
		}
	})
	current := readProfile(ctx, f, Default, short)
	changed := current.DeepCopy()
	changed.Labels[clusterinventory.LabelClusterSetKey] = cluster.Labels[clusterv1beta2.ClusterSetLabel]
	Expect(r.api.Patch(ctx, changed, client.MergeFromWithOptions(current, client.MergeFromWithOptimisticLock{}))).To(Succeed())
}

// patchStatus changes the status of the ClusterProfile of a cluster.
func (r registration) patchStatus(ctx context.Context, f *suite.Fixture, short string, change func(*clusterinventory.ClusterProfileStatus)) {
	GinkgoHelper()
	Eventually(func(g Gomega) { // A concurrent write of the hub is a conflict, after which registration reads again.
		current := readProfile(ctx, f, g, short)
		changed := current.DeepCopy()
		change(&changed.Status)
		g.Expect(r.api.Status().Patch(ctx, changed, client.MergeFromWithOptions(current, client.MergeFromWithOptimisticLock{}))).To(Succeed())
	}).WithContext(ctx).WithTimeout(suite.Timeout).Should(Succeed())
}

// changes records the ClusterProfiles and the slices of a namespace by watches of both kinds, in the order of the resource versions, which etcd
// counts for all kinds together.
type changes struct {
	// names are the ClusterProfiles that slices refer to at the start.
	names []string

	mu      sync.Mutex
	changes []change
	failed  error
}

// change is a change of a ClusterProfile or of a slice.
type change struct {
	revision uint64
	kind     apiwatch.EventType
	// profile is the name of a ClusterProfile; empty for a slice.
	profile string
	// slice is the name of a slice, and names has the ClusterProfiles of the namespace that it refers to.
	slice string
	names []string
}

// recordChanges records until the spec ends. It returns when the changes have slices that refer to the ClusterProfiles of these names.
func recordChanges(ctx context.Context, f *suite.Fixture, names ...string) *changes {
	GinkgoHelper()
	api, err := client.NewWithWatch(suite.ControlPlane.AdminConfig(), client.Options{Scheme: system.Scheme()})
	Expect(err).NotTo(HaveOccurred())
	recorded := &changes{names: names}
	for _, list := range []client.ObjectList{&clusterinventory.ClusterProfileList{}, &clusterinventory.PlacementDecisionList{}} {
		watch, err := api.Watch(ctx, list, client.InNamespace(f.Namespace))
		Expect(err).NotTo(HaveOccurred())
		DeferCleanup(watch.Stop)
		go func() {
			for event := range watch.ResultChan() {
				recorded.add(newChange(event))
			}
		}()
	}
	Eventually(func(g Gomega) {
		referred := []string{}
		for _, taken := range recorded.play() {
			referred = append(referred, taken.names...)
		}
		g.Expect(referred).To(ContainElements(names))
	}).WithContext(ctx).WithTimeout(suite.Timeout).Should(Succeed())
	return recorded
}

func newChange(event apiwatch.Event) (change, error) {
	taken := change{kind: event.Type}
	object, is := event.Object.(client.Object)
	if !is {
		return taken, fmt.Errorf("a watch sent %s: %v", event.Type, event.Object)
	}
	switch of := object.(type) {
	case *clusterinventory.ClusterProfile:
		taken.profile = of.Name
	case *clusterinventory.PlacementDecision:
		taken.slice = of.Name
		for _, decision := range of.Decisions {
			taken.names = append(taken.names, decision.ClusterProfileRef.Name)
		}
	}
	var err error
	taken.revision, err = strconv.ParseUint(object.GetResourceVersion(), 10, 64)
	return taken, err
}

func (c *changes) add(taken change, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.changes, c.failed = append(c.changes, taken), errors.Join(c.failed, err)
}

// play returns all changes in their order.
func (c *changes) play() []change {
	GinkgoHelper()
	c.mu.Lock()
	defer c.mu.Unlock()
	Expect(c.failed).NotTo(HaveOccurred())
	return slices.SortedFunc(slices.Values(c.changes), func(a, b change) int { return cmp.Compare(a.revision, b.revision) })
}

// expectSlicesFirst waits until the ClusterProfiles of the changes are deleted, and demands that no slice referred to one at that moment.
func (c *changes) expectSlicesFirst(ctx context.Context) {
	GinkgoHelper()
	Eventually(func(g Gomega) {
		deleted := []string{}
		for _, taken := range c.play() {
			if taken.profile != "" && taken.kind == apiwatch.Deleted {
				deleted = append(deleted, taken.profile)
			}
		}
		g.Expect(deleted).To(ConsistOf(c.names))
	}).WithContext(ctx).WithTimeout(suite.Timeout).Should(Succeed())

	references := map[string][]string{} // By slice.
	for _, taken := range c.play() {
		switch {
		case taken.slice != "" && taken.kind == apiwatch.Deleted:
			delete(references, taken.slice)
		case taken.slice != "":
			references[taken.slice] = taken.names
		case taken.kind == apiwatch.Deleted:
			for slice, names := range references {
				Expect(names).NotTo(ContainElement(taken.profile), "CP8: slice %s, when ClusterProfile %s went", slice, taken.profile)
			}
		}
	}
}

// SPDX-License-Identifier: Apache-2.0

package clusterrequest

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
)

const (
	aws        = "infrastructure/vendor/aws"
	compute    = "kubernetes.io/apis/compute"
	workerless = "cluster.openmcp.cloud/workerless"
)

var now = metav1.NewTime(time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC))

// world is a Catalog with requests, and writes what decisions ask for like a controller.
type world struct {
	*Catalog
	t *testing.T

	created int // requests, for their UIDs
}

// newWorld has the provider and the purposes of docs/spec/cluster-request.md. New shared Clusters are beside the requests, unless the options
// say otherwise.
func newWorld(t *testing.T, options Options) *world {
	t.Helper()
	options.SharedNamespace = cmp.Or(options.SharedNamespace, "team-a")
	w := &world{Catalog: NewCatalog(options), t: t}
	w.SetClusterProvider(gardener())
	optional := openmcpv1alpha1.TraitRequirement{Trait: workerless, Optional: true}
	w.purpose("platform", openmcpv1alpha1.PurposeSpec{})
	w.purpose("onboarding", openmcpv1alpha1.PurposeSpec{Traits: []openmcpv1alpha1.TraitRequirement{optional}})
	w.purpose("workload", openmcpv1alpha1.PurposeSpec{TenancyLimit: 2})
	w.purpose("mcp", openmcpv1alpha1.PurposeSpec{Dedicated: true, Traits: []openmcpv1alpha1.TraitRequirement{{Name: workerless, Optional: true}}})
	return w
}

func gardener() *openmcpv1alpha1.ClusterProvider {
	return provider("gardener", profile("aws", aws, compute), profile("aws-workerless", aws, workerless))
}

func provider(name string, profiles ...openmcpv1alpha1.Profile) *openmcpv1alpha1.ClusterProvider {
	return &openmcpv1alpha1.ClusterProvider{
		ObjectMeta: metav1.ObjectMeta{Name: name}, Status: openmcpv1alpha1.ClusterProviderStatus{Ready: true, Profiles: profiles},
	}
}

func profile(name string, traits ...string) openmcpv1alpha1.Profile {
	p := openmcpv1alpha1.Profile{Name: openmcpv1alpha1.ProfileName(name), SupportedVersions: []openmcpv1alpha1.SupportedVersion{
		{Version: "1.19.1", Deprecated: true}, {Version: "1.19.2", Deprecated: true}, {Version: "1.20.0"}, {Version: "1.20.1"}, {Version: "1.20.3"},
	}}
	for i, trait := range traits {
		supported := openmcpv1alpha1.SupportedTrait{Trait: trait}
		if i%2 == 1 {
			supported = openmcpv1alpha1.SupportedTrait{Name: trait}
		}
		p.SupportedTraits = append(p.SupportedTraits, supported)
	}
	return p
}

func (w *world) purpose(name string, spec openmcpv1alpha1.PurposeSpec) {
	w.SetPurpose(&openmcpv1alpha1.Purpose{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: spec})
}

func (w *world) equivalence(name string, traits ...openmcpv1alpha1.TraitName) {
	w.SetTraitEquivalence(&openmcpv1alpha1.TraitEquivalence{
		ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: openmcpv1alpha1.TraitEquivalenceSpec{Traits: traits},
	})
}

// request returns a new request team-a/r<n> with the UID u<n>. A change may be nil.
func (w *world) request(purposes string, change func(*openmcpv1alpha1.ClusterRequest)) *openmcpv1alpha1.ClusterRequest {
	w.created++
	request := &openmcpv1alpha1.ClusterRequest{ObjectMeta: metav1.ObjectMeta{
		Namespace: "team-a", Name: fmt.Sprintf("r%d", w.created), UID: types.UID(fmt.Sprintf("u%d", w.created)), Generation: 1,
	}}
	for name := range strings.FieldsSeq(purposes) {
		request.Spec.Purposes = append(request.Spec.Purposes, openmcpv1alpha1.PurposeName(name))
	}
	if change != nil {
		change(request)
	}
	return request
}

func withTraits(traits ...openmcpv1alpha1.TraitRequirement) func(*openmcpv1alpha1.ClusterRequest) {
	return func(r *openmcpv1alpha1.ClusterRequest) { r.Spec.Traits = traits }
}

func withVersion(version string) func(*openmcpv1alpha1.ClusterRequest) {
	return func(r *openmcpv1alpha1.ClusterRequest) {
		r.Spec.Kubernetes = &openmcpv1alpha1.Kubernetes{Version: version}
	}
}

func withDedicated(dedicated bool) func(*openmcpv1alpha1.ClusterRequest) {
	return func(r *openmcpv1alpha1.ClusterRequest) { r.Spec.Dedicated = ptr.To(dedicated) }
}

func withPrefix(prefix string) func(*openmcpv1alpha1.ClusterRequest) {
	return func(r *openmcpv1alpha1.ClusterRequest) { r.Spec.Prefix = prefix }
}

// cluster adds a shared Cluster of the profile gardener/aws with the version 1.20.1. A change may be nil.
func (w *world) cluster(name, purposes string, change func(*openmcpv1alpha1.Cluster)) {
	cluster := &openmcpv1alpha1.Cluster{
		ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: name},
		Spec: openmcpv1alpha1.ClusterSpec{
			ClusterProviderRef: openmcpv1alpha1.ClusterProviderReference{Name: "gardener", Profile: "aws"},
			Kubernetes:         &openmcpv1alpha1.Kubernetes{Version: "1.20.1"}, Tenancy: openmcpv1alpha1.TenancyShared,
		},
	}
	for name := range strings.FieldsSeq(purposes) {
		cluster.Spec.Purposes = append(cluster.Spec.Purposes, openmcpv1alpha1.PurposeName(name))
	}
	if change != nil {
		change(cluster)
	}
	w.SetCluster(cluster)
}

func withRequests(uids ...string) func(*openmcpv1alpha1.Cluster) {
	return func(c *openmcpv1alpha1.Cluster) {
		for _, uid := range uids {
			c.Finalizers = append(c.Finalizers, finalizerOf(types.UID(uid)))
		}
	}
}

// decide decides on a request and writes what the decision asks for. It checks that deciding again asks for no write.
func (w *world) decide(request *openmcpv1alpha1.ClusterRequest) Decision {
	w.t.Helper()
	decision := w.Decide(request, now)
	w.write(decision)
	if decision.Grant != nil {
		expectKept(w.t, w.Decide(request, now), w.Catalog)
	}
	return decision
}

func (w *world) write(decision Decision) {
	for _, cluster := range slices.Concat([]*openmcpv1alpha1.Cluster{decision.Cluster}, decision.Leave) {
		if cluster != nil {
			w.SetCluster(cluster)
		}
	}
	if decision.Grant != nil {
		w.SetGrant(decision.Grant)
	}
	if decision.Obsolete != nil {
		w.DeleteGrant(keyOf(decision.Obsolete))
	}
}

// granted decides on a request, expects that it is granted, and returns its Cluster.
func (w *world) granted(request *openmcpv1alpha1.ClusterRequest) *openmcpv1alpha1.Cluster {
	w.t.Helper()
	decision := w.decide(request)
	if decision.Result.Status != openmcpv1alpha1.RequestGranted {
		w.t.Fatalf("%s: %+v", request.Name, decision.Result)
	}
	return w.Cluster(clusterOf(w.Grant(keyOf(request))))
}

func expectKept(t *testing.T, decision Decision, c *Catalog) {
	t.Helper()
	if decision.Outcome != OutcomeKept || decision.Create || len(decision.Leave) > 0 || decision.Evaluation != nil {
		t.Errorf("a granted request is decided again: %+v", decision)
	}
	expectEqual(t, c.Grant(keyOf(decision.Grant)), decision.Grant, "the Grant is written again")
	if decision.Cluster != nil {
		expectEqual(t, c.Cluster(keyOf(decision.Cluster)), decision.Cluster, "the Cluster is written again")
		if decision.Cluster != c.Cluster(keyOf(decision.Cluster)) {
			t.Error("the Cluster is copied for nothing")
		}
	}
}

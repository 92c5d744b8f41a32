// SPDX-License-Identifier: Apache-2.0

package clusterrequest

import (
	"fmt"
	"slices"
	"strconv"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
	"github.com/placement-hub/placement-hub/test/property"
)

func TestEvaluateIsReference(t *testing.T) {
	property.Check(t, func(t *rapid.T) {
		o := drawObjects(t)
		catalog := NewCatalog(o.options)
		fill(catalog, o, func() { catalog.Explain(drawRequest(t)) })
		change(t, catalog, &o)
		for range 3 {
			request := drawRequest(t)
			e := catalog.Explain(request)
			want := reference(o, request)
			got := choice{reason: e.Result.Reason}
			switch {
			case e.Cluster != nil:
				got = choice{cluster: keyOf(e.Cluster).String()}
			case e.New != nil:
				ref := e.New.Spec.ClusterProviderRef
				got = choice{profile: fmt.Sprintf("%s/%s %s", ref.Name, ref.Profile, e.New.Spec.Kubernetes.Version)}
			case e.Result.Reason == "ClusterConflict":
				if catalog.clusters[catalog.newName(request, e.Requirement.Dedicated)] == nil {
					t.Fatal("a conflict with no Cluster")
				}
				best := e.Profiles[slices.IndexFunc(e.Profiles, func(p ProfileVerdict) bool { return p.Rank == 1 })]
				got = choice{profile: fmt.Sprintf("%s/%s %s", best.Provider, best.Profile, best.Version)}
			}
			if got != want {
				t.Fatalf("got %+v, want %+v: %+v", got, want, e.Result)
			}
			checkVerdicts(t, e)
			first := slices.IndexFunc(e.Clusters, func(v ClusterVerdict) bool { return v.Rank == 1 })
			if (first >= 0) != (e.Cluster != nil) || first >= 0 && e.Clusters[first].Cluster != e.Cluster {
				t.Fatalf("the choice is %v, and the Cluster of rank 1 is number %d", e.Cluster, first)
			}
		}
	})
}

// checkVerdicts checks that every Cluster and every profile either lacks something or has a rank, and that the ranks are 1, 2, 3, ...
func checkVerdicts(t *rapid.T, e *Evaluation) {
	var clusters, profiles []int
	for _, v := range e.Clusters {
		if (v.Lack == nil) != (v.Rank > 0) || v.Lack != nil && v.Lack.String() == "" {
			t.Fatalf("%+v", v)
		}
		clusters = append(clusters, v.Rank)
	}
	for _, v := range e.Profiles {
		if (v.Lack == nil && v.Ready) != (v.Rank > 0) || v.Lack != nil && v.Lack.String() == "" {
			t.Fatalf("%+v", v)
		}
		profiles = append(profiles, v.Rank)
	}
	for _, ranks := range [][]int{clusters, profiles} {
		ranks = slices.DeleteFunc(slices.Sorted(slices.Values(ranks)), func(r int) bool { return r == 0 })
		for i, rank := range ranks {
			if rank != i+1 {
				t.Fatalf("ranks %v", ranks)
			}
		}
	}
}

// fill uses the Catalog between the kinds, so that it has to forget what it has compiled.
func fill(catalog *Catalog, o objects, use func()) {
	for _, p := range o.purposes {
		catalog.SetPurpose(p)
	}
	use()
	for _, p := range o.providers {
		catalog.SetClusterProvider(p)
	}
	use()
	for _, e := range o.equivalences {
		catalog.SetTraitEquivalence(e)
	}
	for _, c := range o.clusters {
		catalog.SetCluster(c)
	}
}

// change removes an object of each kind after the Catalog was used.
func change(t *rapid.T, catalog *Catalog, o *objects) {
	catalog.Explain(drawRequest(t))
	if rapid.Bool().Draw(t, "remove") {
		return
	}
	if len(o.clusters) > 0 {
		catalog.DeleteCluster(keyOf(o.clusters[0]))
		o.clusters = o.clusters[1:]
	}
	if len(o.equivalences) > 0 {
		catalog.DeleteTraitEquivalence(o.equivalences[0].Name)
		o.equivalences = o.equivalences[1:]
	}
	if len(o.providers) > 1 {
		catalog.DeleteClusterProvider(o.providers[0].Name)
		o.providers = o.providers[1:]
	}
}

var (
	traitNames   = []string{"a", "b", "c", "d"}
	purposeNames = []openmcpv1alpha1.PurposeName{"p", "q", "r"}
	versionNames = []string{"1.19.1", "1.20.0", "1.20.3", "1.3.0"}
)

func drawTraits(t *rapid.T) []openmcpv1alpha1.TraitRequirement {
	plain := rapid.Custom(func(t *rapid.T) openmcpv1alpha1.TraitRequirement {
		return openmcpv1alpha1.TraitRequirement{
			Trait: rapid.SampledFrom(traitNames).Draw(t, "trait"), Optional: rapid.Bool().Draw(t, "optional"),
			Negated: rapid.Bool().Draw(t, "negated"),
		}
	})
	group := rapid.Custom(func(t *rapid.T) openmcpv1alpha1.TraitRequirement {
		requirement := openmcpv1alpha1.TraitRequirement{Optional: rapid.Bool().Draw(t, "optional")}
		for _, member := range rapid.SliceOfN(plain, 1, 3).Draw(t, "anyOf") {
			requirement.AnyOf = append(requirement.AnyOf, openmcpv1alpha1.TraitAlternative{Name: member.Trait, Negated: member.Negated})
		}
		return requirement
	})

	return rapid.SliceOfN(rapid.OneOf(plain, plain, group), 0, 3).Draw(t, "traits")
}

func drawPurposes(t *rapid.T, least int) []openmcpv1alpha1.PurposeName {
	return rapid.SliceOfNDistinct(rapid.SampledFrom(purposeNames), least, len(purposeNames), rapid.ID).Draw(t, "purposes")
}

func drawRequest(t *rapid.T) *openmcpv1alpha1.ClusterRequest {
	request := &openmcpv1alpha1.ClusterRequest{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "request", UID: "uid"}}
	request.Spec.Purposes, request.Spec.Traits = drawPurposes(t, 1)[:1], drawTraits(t)
	if rapid.IntRange(0, 3).Draw(t, "many") == 0 {
		request.Spec.Purposes = drawPurposes(t, 1)
	}
	if rapid.Bool().Draw(t, "versioned") {
		wanted := rapid.SampledFrom([]string{"1", "1.2", "1.20", "1.3", "1.19", "1.19.1", "1.20.3", "1.3.0"}).Draw(t, "version")
		request.Spec.Kubernetes = &openmcpv1alpha1.Kubernetes{Version: wanted}
	}
	request.Spec.Dedicated = rapid.SampledFrom([]*bool{nil, nil, new(bool)}).Draw(t, "dedicated")
	return request
}

func drawObjects(t *rapid.T) objects {
	o := objects{options: Options{
		Strategy: rapid.SampledFrom([]Strategy{"", Balanced, Simple}).Draw(t, "strategy"),
		Scope:    rapid.SampledFrom([]Scope{"", ScopeCluster, ScopeNamespaced}).Draw(t, "scope"),
	}}
	for _, name := range drawPurposes(t, 2) {
		purpose := &openmcpv1alpha1.Purpose{ObjectMeta: metav1.ObjectMeta{Name: string(name)}}
		purpose.Spec.Dedicated = rapid.IntRange(0, 4).Draw(t, "dedicated") == 0
		purpose.Spec.TenancyLimit = rapid.Int32Range(0, 2).Draw(t, "limit")
		if rapid.Bool().Draw(t, "strict") {
			purpose.Spec.Traits = drawTraits(t)
		}
		purpose.Spec.ClusterTemplate = rapid.SampledFrom([]*openmcpv1alpha1.ClusterTemplate{nil, {}, {Namespace: "m"}}).Draw(t, "template")
		o.purposes = append(o.purposes, purpose)
	}
	for i := range rapid.IntRange(0, 2).Draw(t, "equivalences") {
		names := rapid.SliceOfNDistinct(rapid.SampledFrom(traitNames), 2, 3, rapid.ID).Draw(t, "names")
		equivalence := &openmcpv1alpha1.TraitEquivalence{ObjectMeta: metav1.ObjectMeta{Name: strconv.Itoa(i)}}
		for _, name := range names {
			equivalence.Spec.Traits = append(equivalence.Spec.Traits, openmcpv1alpha1.TraitName(name))
		}
		o.equivalences = append(o.equivalences, equivalence)
	}
	for i := range rapid.IntRange(1, 2).Draw(t, "providers") {
		p := provider(strconv.Itoa(i))
		p.Status.Ready = rapid.IntRange(0, 3).Draw(t, "unready") > 0
		for j := range rapid.IntRange(0, 3).Draw(t, "profiles") {
			p.Status.Profiles = append(p.Status.Profiles, drawProfile(t, strconv.Itoa(j)))
		}
		o.providers = append(o.providers, p)
	}
	for i := range rapid.IntRange(0, 6).Draw(t, "clusters") {
		o.clusters = append(o.clusters, drawCluster(t, strconv.Itoa(i)))
	}

	return o
}

func drawProfile(t *rapid.T, name string) openmcpv1alpha1.Profile {
	p := openmcpv1alpha1.Profile{Name: openmcpv1alpha1.ProfileName(name)}
	for _, trait := range rapid.SliceOfDistinct(rapid.SampledFrom(traitNames), rapid.ID).Draw(t, "traits") {
		p.SupportedTraits = append(p.SupportedTraits, openmcpv1alpha1.SupportedTrait{Trait: trait})
	}
	for _, version := range rapid.SliceOfDistinct(rapid.SampledFrom(versionNames), rapid.ID).Draw(t, "versions") {
		deprecated := rapid.Bool().Draw(t, "deprecated")
		p.SupportedVersions = append(p.SupportedVersions, openmcpv1alpha1.SupportedVersion{Version: version, Deprecated: deprecated})
	}
	return p
}

func drawCluster(t *rapid.T, name string) *openmcpv1alpha1.Cluster {
	namespace := rapid.SampledFrom([]string{"n", "m"}).Draw(t, "namespace")
	cluster := &openmcpv1alpha1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	cluster.Spec.Tenancy = openmcpv1alpha1.TenancyShared
	if rapid.IntRange(0, 5).Draw(t, "odd") == 0 {
		cluster.Spec.Tenancy, cluster.DeletionTimestamp = openmcpv1alpha1.TenancyExclusive, &now
	}
	cluster.Spec.Purposes = drawPurposes(t, 0)
	cluster.Spec.ClusterProviderRef = openmcpv1alpha1.ClusterProviderReference{
		Name:    rapid.SampledFrom([]string{"0", "1"}).Draw(t, "provider"),
		Profile: rapid.SampledFrom([]openmcpv1alpha1.ProfileName{"0", "1"}).Draw(t, "profile"),
	}
	if rapid.Bool().Draw(t, "versioned") {
		cluster.Spec.Kubernetes = &openmcpv1alpha1.Kubernetes{Version: rapid.SampledFrom(versionNames).Draw(t, "version")}
	}
	for i := range rapid.IntRange(0, 2).Draw(t, "requests") {
		withRequests("other" + strconv.Itoa(i))(cluster)
	}

	return cluster
}

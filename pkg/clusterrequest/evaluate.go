// SPDX-License-Identifier: Apache-2.0

package clusterrequest

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
)

// Evaluation says what a ClusterRequest that has no Grant would get, and why. Exactly one of Cluster and New is set if it gets anything.
type Evaluation struct {
	Requirement Requirement
	// Clusters are all Clusters, sorted by namespace and name.
	Clusters []ClusterVerdict
	// Profiles are the profiles of all ClusterProviders, sorted by provider and name.
	Profiles []ProfileVerdict

	// Cluster is the existing Cluster that the request gets.
	Cluster *openmcpv1alpha1.Cluster
	// New is the Cluster that has to be created, without the finalizer and the prefix of the request.
	New *openmcpv1alpha1.Cluster

	Result Result
}

// Result is the outcome of a request for its status.
type Result struct {
	Status  openmcpv1alpha1.RequestPhase
	Reason  string
	Message string
}

// ClusterVerdict says why a Cluster is, or is not, the choice.
type ClusterVerdict struct {
	Cluster *openmcpv1alpha1.Cluster
	// Lack is the first thing that the Cluster lacks. Nil if it fits.
	Lack *Lack
	// OptionalTraits is the number of optional traits that the Cluster satisfies.
	OptionalTraits int
	// Requests is the number of requests that have the Cluster.
	Requests int
	// Rank is 1 for the choice. 0 if the Cluster does not fit.
	Rank int
}

// ProfileVerdict says why a profile is, or is not, the choice for a new Cluster. It has a rank also where an existing Cluster is chosen.
type ProfileVerdict struct {
	Provider, Profile string
	// Ready says whether the provider makes new Clusters. A profile that is not ready has no rank.
	Ready bool
	// Lack is the first thing that the profile lacks. Nil if it fits.
	Lack *Lack
	// OptionalTraits is the number of optional traits that the profile satisfies.
	OptionalTraits int
	// Version is the version of a new Cluster.
	Version string
	// Deprecated says whether the version is deprecated.
	Deprecated bool
	// Rank is 1 for the choice. 0 if the profile does not fit.
	Rank int
}

// Explain chooses a Cluster or a profile for a request as if it had none. Decide is what controllers call, because a request that is
// granted keeps what it has (docs/spec/cluster-request.md 4.1.3).
func (c *Catalog) Explain(request *openmcpv1alpha1.ClusterRequest) *Evaluation {
	e := c.choose(request)
	if len(e.Requirement.Missing) > 0 {
		return e
	}
	e.Clusters = c.judgeClusters(&e.Requirement, c.newName(request, e.Requirement.Dedicated).Namespace)
	c.rankClusters(e.Clusters)
	if e.Profiles == nil {
		e.Profiles = c.judgeProfiles(&e.Requirement)
		rankProfiles(e.Profiles)
	}
	return e
}

// choose returns the Evaluation without the verdicts on Clusters, and without those on profiles if an existing Cluster is the choice.
func (c *Catalog) choose(request *openmcpv1alpha1.ClusterRequest) *Evaluation {
	c.compile()
	e := &Evaluation{Requirement: aggregate(&request.Spec, c.purposes, c.same)}
	if missing := e.Requirement.Missing; len(missing) > 0 {
		e.Result = Result{openmcpv1alpha1.RequestDenied, openmcpv1alpha1.ReasonPurposeNotFound, fmt.Sprintf(
			"Purpose %s not found: create a ClusterRequest for a Purpose that exists (kubectl get purposes), "+
				"or ask an administrator for this one", quoted(missing))}
		return e
	}
	name := c.newName(request, e.Requirement.Dedicated)
	if existing := c.bestCluster(&e.Requirement, name.Namespace); existing != nil {
		e.Cluster, e.Result = existing.Cluster, granted(existing.key)
		return e
	}
	e.Profiles = c.judgeProfiles(&e.Requirement)
	best := rankProfiles(e.Profiles)
	switch conflict := c.clusters[name]; {
	case best == nil:
		e.Result = noProfile(e.Profiles, c.providers)
	case conflict != nil:
		e.Result = nameConflict(conflict.Cluster)
	default:
		e.New, e.Result = c.newCluster(request, e.Requirement.Dedicated, name, best), granted(name)
	}

	return e
}

func granted(cluster types.NamespacedName) Result {
	return Result{openmcpv1alpha1.RequestGranted, openmcpv1alpha1.ReasonSuccess, "granted Cluster " + cluster.String()}
}

func nameConflict(cluster *openmcpv1alpha1.Cluster) Result {
	message := fmt.Sprintf("Cluster %s exists and was not made for this request: delete it, or label the request %s=true", keyOf(cluster),
		openmcpv1alpha1.RandomizeNameLabel)
	if cluster.DeletionTimestamp != nil {
		message = fmt.Sprintf("Cluster %s is being deleted: the request waits for that, unless it is labelled %s=true", keyOf(cluster),
			openmcpv1alpha1.RandomizeNameLabel)
	}
	return Result{openmcpv1alpha1.RequestPending, openmcpv1alpha1.ReasonClusterConflict, message}
}

// noProfile says why there is no profile: a provider that has one is not ready, or none has one.
func noProfile(profiles []ProfileVerdict, providers map[string]*openmcpv1alpha1.ClusterProvider) Result {
	for _, p := range profiles {
		if p.Lack == nil {
			why := cmp.Or(providers[p.Provider].Status.Message, "its status is not ready")
			return Result{openmcpv1alpha1.RequestPending, openmcpv1alpha1.ReasonProviderNotReady, fmt.Sprintf(
				"profile %s/%s fits, and ClusterProvider %s is not ready: %s", p.Provider, p.Profile, p.Provider, why)}
		}
	}
	if len(profiles) == 0 {
		return Result{openmcpv1alpha1.RequestDenied, openmcpv1alpha1.ReasonNoMatchingProfile,
			"no ClusterProvider publishes a profile: install one, or see why those that exist publish none"}
	}
	const told = 10
	var lacks []string
	for _, p := range profiles[:min(told, len(profiles))] {
		lacks = append(lacks, fmt.Sprintf("%s/%s: %s", p.Provider, p.Profile, p.Lack))
	}
	if more := len(profiles) - told; more > 0 {
		lacks = append(lacks, fmt.Sprintf("and %d more", more))
	}

	return Result{openmcpv1alpha1.RequestDenied, openmcpv1alpha1.ReasonNoMatchingProfile,
		"no profile has all that is required: " + strings.Join(lacks, "; ")}
}

func (c *Catalog) judgeClusters(r *Requirement, namespace string) []ClusterVerdict {
	verdicts := make([]ClusterVerdict, len(c.sorted))
	for i, cluster := range c.sorted {
		lack, optional := c.lackOfCluster(r, namespace, cluster)
		verdicts[i] = ClusterVerdict{Cluster: cluster.Cluster, Lack: lack, OptionalTraits: optional, Requests: len(cluster.requests)}
	}
	return verdicts
}

// bestCluster returns the Cluster that rankClusters ranks first; nil if none fits. It makes no verdicts, because a controller needs none of the
// thousands that there may be.
func (c *Catalog) bestCluster(r *Requirement, namespace string) *catalogCluster {
	if r.Dedicated {
		return nil
	}
	var best *catalogCluster
	var least fitting
	for _, cluster := range c.sorted {
		if c.isFull(cluster) { // This comes first because most Clusters of a large world are full.
			continue
		}
		lack, optional := c.lackOfCluster(r, namespace, cluster)
		if lack != nil {
			continue
		}
		this := fitting{purposes: len(cluster.Spec.Purposes), optional: optional, requests: len(cluster.requests)}
		if best == nil || c.compareFitting(this, least) < 0 {
			best, least = cluster, this
		}
	}

	return best
}

// fitting has what Clusters that fit a request are compared by: how many purposes, satisfied optional traits and requests they have.
type fitting struct{ purposes, optional, requests int }

// compareFitting compares two Clusters that fit. The better one is less. Fewer purposes come first: all Clusters that fit have those of the
// request, and one more purpose would let the request have what others deliver by it.
func (c *Catalog) compareFitting(a, b fitting) int {
	order := cmp.Or(cmp.Compare(a.purposes, b.purposes), cmp.Compare(b.optional, a.optional))
	if c.options.Strategy != Simple {
		order = cmp.Or(order, cmp.Compare(a.requests, b.requests))
	}
	return order
}

// rankClusters ranks the Clusters that fit. Equal Clusters keep the order of their names.
func (c *Catalog) rankClusters(verdicts []ClusterVerdict) {
	ranked := pointers(verdicts, func(v *ClusterVerdict) bool { return v.Lack == nil })
	values := func(v *ClusterVerdict) fitting {
		return fitting{purposes: len(v.Cluster.Spec.Purposes), optional: v.OptionalTraits, requests: v.Requests}
	}
	slices.SortStableFunc(ranked, func(a, b *ClusterVerdict) int { return c.compareFitting(values(a), values(b)) })
	for i, v := range ranked {
		v.Rank = i + 1
	}
}

func (c *Catalog) judgeProfiles(r *Requirement) []ProfileVerdict {
	verdicts := make([]ProfileVerdict, len(c.sortedProfiles))
	for i, profile := range c.sortedProfiles {
		lack, version, optional := r.lackOfProfile(profile)
		verdicts[i] = ProfileVerdict{
			Provider: profile.provider, Profile: profile.name, Ready: profile.by.Status.Ready, Lack: lack, OptionalTraits: optional,
		}
		if version != nil {
			verdicts[i].Version, verdicts[i].Deprecated = version.Version, version.Deprecated
		}
	}
	return verdicts
}

// rankProfiles ranks the profiles that fit and are ready, and returns the best; nil if there is none.
func rankProfiles(verdicts []ProfileVerdict) *ProfileVerdict {
	fitting := pointers(verdicts, func(v *ProfileVerdict) bool { return v.Lack == nil && v.Ready })
	slices.SortStableFunc(fitting, func(a, b *ProfileVerdict) int {
		return cmp.Or(cmp.Compare(b.OptionalTraits, a.OptionalTraits), compareBools(a.Deprecated, b.Deprecated))
	})
	for i, v := range fitting {
		v.Rank = i + 1
	}
	return first(fitting)
}

// pointers returns the addresses of the items that fit.
func pointers[T any](items []T, fits func(*T) bool) []*T {
	var fitting []*T
	for i := range items {
		if fits(&items[i]) {
			fitting = append(fitting, &items[i])
		}
	}
	return fitting
}

func first[T any](items []*T) *T {
	if len(items) == 0 {
		return nil
	}
	return items[0]
}

// compareBools sorts false before true.
func compareBools(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	default:
		return 1
	}
}

func quoted(names []string) string {
	texts := make([]string, len(names))
	for i, name := range names {
		texts[i] = fmt.Sprintf("%q", name)
	}
	return strings.Join(texts, ", ")
}

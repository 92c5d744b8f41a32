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

// Catalog has the objects that decide what ClusterRequests get. An object that is set belongs to the Catalog and must not be changed any
// more. A Catalog must not be used by several goroutines at once.
type Catalog struct {
	options      Options
	purposes     map[string]*openmcpv1alpha1.Purpose
	equivalences map[string]*openmcpv1alpha1.TraitEquivalence
	providers    map[string]*openmcpv1alpha1.ClusterProvider
	clusters     map[types.NamespacedName]*catalogCluster
	sorted       []*catalogCluster // of clusters, by namespace and name
	grants       map[types.NamespacedName]*openmcpv1alpha1.ClusterRequestGrant
	clustersOf   keysOf[types.UID]            // by the UIDs of the requests in their finalizers
	grantsOn     keysOf[types.NamespacedName] // by the Cluster that they name

	// compile fills these; profiles is nil after a change of a provider or an equivalence.
	same           equivalence
	profiles       map[profileKey]*catalogProfile
	sortedProfiles []*catalogProfile // by provider and name
}

// Options are the settings of the choice.
type Options struct {
	// Strategy chooses among Clusters that fit equally well. Empty means Balanced.
	Strategy Strategy
	// Scope says where existing Clusters are looked for. Empty means ScopeCluster.
	Scope Scope
	// SharedNamespace is the namespace of new shared Clusters whose template names none, with ScopeCluster: one in which no tenant has rights.
	// Empty means DefaultSharedNamespace.
	SharedNamespace string
}

// DefaultSharedNamespace is the namespace that the manifests of the system make for shared Clusters.
const DefaultSharedNamespace = "cluster-openmcp-shared"

// Strategy chooses among Clusters that fit equally well.
type Strategy string

// The strategies.
const (
	// Balanced chooses the Cluster with the fewest requests.
	Balanced Strategy = "Balanced"
	// Simple chooses the first Cluster by namespace and name.
	Simple Strategy = "Simple"
)

// Validate reports a strategy that there is not.
func (s Strategy) Validate() error {
	switch s {
	case "", Balanced, Simple:
		return nil
	default:
		return fmt.Errorf("%q is not a strategy; use %s or %s", string(s), Balanced, Simple)
	}
}

// Scope says where existing Clusters are looked for.
type Scope string

// The scopes.
const (
	// ScopeCluster looks in all namespaces.
	ScopeCluster Scope = "Cluster"
	// ScopeNamespaced looks in the namespace where the Cluster of the request would be created.
	ScopeNamespaced Scope = "Namespaced"
)

// catalogCluster is a Cluster with what is read of it often.
type catalogCluster struct {
	*openmcpv1alpha1.Cluster

	key      types.NamespacedName
	profile  profileKey
	requests []types.UID          // of the finalizers
	prefixes map[types.UID]string // of the annotation; nil before givenPrefixes
}

// givenPrefixes returns the prefixes of the annotation, which is read once. They must not be changed.
func (c *catalogCluster) givenPrefixes() map[types.UID]string {
	if c.prefixes == nil {
		c.prefixes = prefixes(c.Cluster)
	}
	return c.prefixes
}

// profileKey has the names of a provider and of a profile.
type profileKey struct{ provider, name string }

// catalogProfile is a profile of a provider with its traits under their canonical names.
type catalogProfile struct {
	profileKey

	by       *openmcpv1alpha1.ClusterProvider
	versions []openmcpv1alpha1.SupportedVersion
	traits   map[string]bool
}

// NewCatalog returns an empty Catalog.
func NewCatalog(options Options) *Catalog {
	return &Catalog{
		options: options, purposes: map[string]*openmcpv1alpha1.Purpose{}, equivalences: map[string]*openmcpv1alpha1.TraitEquivalence{},
		providers: map[string]*openmcpv1alpha1.ClusterProvider{}, clusters: map[types.NamespacedName]*catalogCluster{},
		grants: map[types.NamespacedName]*openmcpv1alpha1.ClusterRequestGrant{}, clustersOf: keysOf[types.UID]{},
		grantsOn: keysOf[types.NamespacedName]{},
	}
}

// SetPurpose adds or replaces a Purpose.
func (c *Catalog) SetPurpose(purpose *openmcpv1alpha1.Purpose) { c.purposes[purpose.Name] = purpose }

// DeletePurpose removes a Purpose.
func (c *Catalog) DeletePurpose(name string) { delete(c.purposes, name) }

// SetTraitEquivalence adds or replaces a TraitEquivalence.
func (c *Catalog) SetTraitEquivalence(object *openmcpv1alpha1.TraitEquivalence) {
	c.equivalences[object.Name], c.profiles = object, nil
}

// DeleteTraitEquivalence removes a TraitEquivalence.
func (c *Catalog) DeleteTraitEquivalence(name string) {
	delete(c.equivalences, name)
	c.profiles = nil
}

// SetClusterProvider adds or replaces a ClusterProvider.
func (c *Catalog) SetClusterProvider(provider *openmcpv1alpha1.ClusterProvider) {
	c.providers[provider.Name], c.profiles = provider, nil
}

// DeleteClusterProvider removes a ClusterProvider.
func (c *Catalog) DeleteClusterProvider(name string) {
	delete(c.providers, name)
	c.profiles = nil
}

// SetCluster adds or replaces a Cluster.
func (c *Catalog) SetCluster(cluster *openmcpv1alpha1.Cluster) {
	ref := cluster.Spec.ClusterProviderRef
	added := &catalogCluster{
		Cluster: cluster, key: keyOf(cluster), profile: profileKey{ref.Name, string(ref.Profile)}, requests: RequestUIDs(cluster),
	}
	at, found := c.search(added.key)
	if found {
		c.forgetRequests(c.sorted[at])
		c.sorted[at] = added
	} else {
		c.sorted = slices.Insert(c.sorted, at, added)
	}
	c.clusters[added.key] = added
	for _, uid := range added.requests {
		c.clustersOf.add(uid, added.key)
	}
}

// DeleteCluster removes a Cluster.
func (c *Catalog) DeleteCluster(key types.NamespacedName) {
	if at, found := c.search(key); found {
		c.forgetRequests(c.sorted[at])
		c.sorted = slices.Delete(c.sorted, at, at+1)
		delete(c.clusters, key)
	}
}

func (c *Catalog) search(key types.NamespacedName) (at int, found bool) {
	return slices.BinarySearchFunc(c.sorted, key, func(known *catalogCluster, key types.NamespacedName) int {
		return compareKeys(known.key, key)
	})
}

func (c *Catalog) forgetRequests(cluster *catalogCluster) {
	for _, uid := range cluster.requests {
		c.clustersOf.remove(uid, cluster.key)
	}
}

// Cluster returns a Cluster; nil if there is none of that name.
func (c *Catalog) Cluster(key types.NamespacedName) *openmcpv1alpha1.Cluster {
	if known, found := c.clusters[key]; found {
		return known.Cluster
	}
	return nil
}

// SetGrant adds or replaces a ClusterRequestGrant.
func (c *Catalog) SetGrant(grant *openmcpv1alpha1.ClusterRequestGrant) {
	key := keyOf(grant)
	c.DeleteGrant(key)
	c.grants[key] = grant
	c.grantsOn.add(clusterOf(grant), key)
}

// DeleteGrant removes a ClusterRequestGrant.
func (c *Catalog) DeleteGrant(key types.NamespacedName) {
	if grant, found := c.grants[key]; found {
		c.grantsOn.remove(clusterOf(grant), key)
		delete(c.grants, key)
	}
}

// Grant returns a ClusterRequestGrant; nil if there is none of that name.
func (c *Catalog) Grant(key types.NamespacedName) *openmcpv1alpha1.ClusterRequestGrant {
	return c.grants[key]
}

// GrantsOn returns the ClusterRequestGrants that name a Cluster, sorted by namespace and name.
func (c *Catalog) GrantsOn(cluster types.NamespacedName) []*openmcpv1alpha1.ClusterRequestGrant {
	keys := c.grantsOn[cluster]
	grants := make([]*openmcpv1alpha1.ClusterRequestGrant, len(keys))
	for i, key := range keys {
		grants[i] = c.grants[key]
	}
	return grants
}

// ClustersOf returns the Clusters with the finalizer of a request, sorted by namespace and name.
func (c *Catalog) ClustersOf(request types.UID) []*openmcpv1alpha1.Cluster {
	keys := c.clustersOf[request]
	clusters := make([]*openmcpv1alpha1.Cluster, len(keys))
	for i, key := range keys {
		clusters[i] = c.clusters[key].Cluster
	}
	return clusters
}

// compile brings profiles and equivalence up to date.
func (c *Catalog) compile() {
	if c.profiles != nil {
		return
	}
	c.same, c.profiles, c.sortedProfiles = newEquivalence(c.equivalences), map[profileKey]*catalogProfile{}, nil
	for _, provider := range c.providers {
		for i := range provider.Status.Profiles {
			published := &provider.Status.Profiles[i]
			profile := &catalogProfile{
				profileKey{provider.Name, string(published.Name)}, provider, published.SupportedVersions, map[string]bool{},
			}
			for j := range published.SupportedTraits {
				profile.traits[c.same.canonical(published.SupportedTraits[j].TraitName())] = true
			}
			c.profiles[profile.profileKey] = profile
			c.sortedProfiles = append(c.sortedProfiles, profile)
		}
	}
	slices.SortFunc(c.sortedProfiles, func(a, b *catalogProfile) int {
		return cmp.Or(strings.Compare(a.provider, b.provider), strings.Compare(a.name, b.name))
	})
}

// limit returns how many requests a Cluster with these purposes takes: the smallest limit that is not 0. 0 means any number.
func limit[Name ~string](purposes map[string]*openmcpv1alpha1.Purpose, names []Name) int {
	var smallest int32
	for _, name := range names {
		purpose, found := purposes[string(name)]
		if found && purpose.Spec.TenancyLimit > 0 && (smallest == 0 || purpose.Spec.TenancyLimit < smallest) {
			smallest = purpose.Spec.TenancyLimit
		}
	}
	return int(smallest)
}

// keysOf is an index of objects, whose keys are sorted by namespace and name.
type keysOf[Value comparable] map[Value][]types.NamespacedName

func (k keysOf[Value]) add(value Value, key types.NamespacedName) {
	keys := k[value]
	at, found := slices.BinarySearchFunc(keys, key, compareKeys)
	if !found {
		k[value] = slices.Insert(keys, at, key)
	}
}

func (k keysOf[Value]) remove(value Value, key types.NamespacedName) {
	keys := k[value]
	at, found := slices.BinarySearchFunc(keys, key, compareKeys)
	if !found {
		return
	}
	if k[value] = slices.Delete(keys, at, at+1); len(k[value]) == 0 {
		delete(k, value)
	}
}

func compareKeys(a, b types.NamespacedName) int {
	return cmp.Or(strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name))
}

// keyOf returns namespace and name of an object.
func keyOf(object interface {
	GetNamespace() string
	GetName() string
}) types.NamespacedName {
	return types.NamespacedName{Namespace: object.GetNamespace(), Name: object.GetName()}
}

// clusterOf returns the key of the Cluster that a grant names.
func clusterOf(grant *openmcpv1alpha1.ClusterRequestGrant) types.NamespacedName {
	return types.NamespacedName{Namespace: grant.Spec.ClusterRef.Namespace, Name: grant.Spec.ClusterRef.Name}
}

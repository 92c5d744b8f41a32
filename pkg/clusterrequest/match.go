// SPDX-License-Identifier: Apache-2.0

package clusterrequest

import (
	"fmt"
	"slices"
	"strings"

	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
)

// LackKind says what of a requirement a Cluster or a profile lacks.
type LackKind string

// What Clusters and profiles lack, in the order in which they are checked.
const (
	// LackDedicated means that the request needs a Cluster of its own.
	LackDedicated LackKind = "Dedicated"
	// LackScope means that the Cluster is in another namespace than those that the scope allows.
	LackScope LackKind = "Scope"
	// LackTerminating means that the Cluster is being deleted.
	LackTerminating LackKind = "Terminating"
	// LackTenancy means that the Cluster is exclusive.
	LackTenancy LackKind = "Tenancy"
	// LackPurpose means that the Cluster does not serve a purpose of the request.
	LackPurpose LackKind = "Purpose"
	// LackProfile means that the profile of the Cluster is not published any more, so that its traits are unknown.
	LackProfile LackKind = "Profile"
	// LackTrait means that a required trait is not satisfied.
	LackTrait LackKind = "Trait"
	// LackVersion means that no version matches.
	LackVersion LackKind = "Version"
	// LackCapacity means that the Cluster has as many requests as it takes.
	LackCapacity LackKind = "Capacity"
)

// Lack is the first thing that a Cluster or a profile lacks. It refers to the objects of the evaluation and makes a text of them on demand.
type Lack struct {
	Kind LackKind

	trait   Trait
	text    string
	used    int
	allowed int
}

func (l Lack) String() string {
	switch l.Kind {
	case LackDedicated:
		return "the request needs a Cluster of its own"
	case LackScope:
		return "it is not in namespace " + l.text
	case LackTerminating:
		return "it is being deleted"
	case LackTenancy:
		return "its tenancy is " + l.text
	case LackPurpose:
		return "it does not serve purpose " + l.text
	case LackProfile:
		return "its profile " + l.text + " is not published"
	case LackTrait:
		return l.trait.String() + " is required"
	case LackVersion:
		return l.text
	case LackCapacity:
		return fmt.Sprintf("it has %d of %d requests", l.used, l.allowed)
	default:
		return string(l.Kind)
	}
}

// lackOfCluster returns the first thing that an existing Cluster lacks, or nil and the number of optional traits that it satisfies.
func (c *Catalog) lackOfCluster(r *Requirement, namespace string, cluster *catalogCluster) (lack *Lack, optional int) {
	switch {
	case r.Dedicated:
		return &Lack{Kind: LackDedicated}, 0
	case c.options.Scope == ScopeNamespaced && cluster.Namespace != namespace:
		return &Lack{Kind: LackScope, text: namespace}, 0
	case cluster.DeletionTimestamp != nil:
		return &Lack{Kind: LackTerminating}, 0
	case cluster.Spec.Tenancy != openmcpv1alpha1.TenancyShared:
		return &Lack{Kind: LackTenancy, text: string(openmcpv1alpha1.TenancyExclusive)}, 0
	}
	for _, purpose := range r.Purposes {
		if !slices.Contains(cluster.Spec.Purposes, openmcpv1alpha1.PurposeName(purpose)) {
			return &Lack{Kind: LackPurpose, text: purpose}, 0
		}
	}
	var traits map[string]bool
	if profile, published := c.profiles[cluster.profile]; published {
		traits = profile.traits
	} else if slices.ContainsFunc(r.Traits, func(t Trait) bool { return !t.Optional }) {
		return &Lack{Kind: LackProfile, text: cluster.profile.provider + "/" + cluster.profile.name}, 0
	}
	if lack, optional = r.lackOfTraits(traits); lack != nil {
		return lack, 0
	}
	if lack := r.lackOfVersion(versionOf(cluster.Spec.Kubernetes)); lack != nil {
		return lack, 0
	}
	if c.isFull(cluster) {
		return &Lack{Kind: LackCapacity, used: len(cluster.requests), allowed: limit(c.purposes, cluster.Spec.Purposes)}, 0
	}

	return nil, optional
}

// isFull reports whether a Cluster has as many requests as it takes.
func (c *Catalog) isFull(cluster *catalogCluster) bool {
	allowed := limit(c.purposes, cluster.Spec.Purposes)
	return allowed > 0 && len(cluster.requests) >= allowed
}

// lackOfTraits returns the first required trait that is not satisfied, or nil and the number of optional traits that are. The traits of an
// unpublished profile are nil, and satisfy nothing.
func (r *Requirement) lackOfTraits(traits map[string]bool) (lack *Lack, optional int) {
	for i := range r.Traits {
		switch satisfied := traits != nil && r.Traits[i].satisfied(traits); {
		case !satisfied && !r.Traits[i].Optional:
			return &Lack{Kind: LackTrait, trait: r.Traits[i]}, 0
		case satisfied && r.Traits[i].Optional:
			optional++
		}
	}
	return nil, optional
}

// lackOfVersion compares with the version of an existing Cluster, for which it does not matter whether the version is deprecated.
func (r *Requirement) lackOfVersion(have string) *Lack {
	switch {
	case versionMatches(r.Version, have):
		return nil
	case have == "":
		return &Lack{Kind: LackVersion, text: "its version is unknown, and " + r.Version + " is required"}
	default:
		return &Lack{Kind: LackVersion, text: fmt.Sprintf("its version is %s, and %s is required", have, r.Version)}
	}
}

// lackOfProfile returns the first thing that a profile lacks, or nil, the version of a new Cluster and the number of optional traits.
func (r *Requirement) lackOfProfile(profile *catalogProfile) (*Lack, *openmcpv1alpha1.SupportedVersion, int) {
	lack, optional := r.lackOfTraits(profile.traits)
	if lack != nil {
		return lack, nil, 0
	}
	version := chooseVersion(r.Version, profile.versions)
	if version == nil {
		return &Lack{Kind: LackVersion, text: r.noVersion(profile.versions)}, nil, 0
	}
	return nil, version, optional
}

func (r *Requirement) noVersion(supported []openmcpv1alpha1.SupportedVersion) string {
	deprecated := slices.ContainsFunc(supported, func(v openmcpv1alpha1.SupportedVersion) bool { return versionMatches(r.Version, v.Version) })
	switch {
	case len(supported) == 0:
		return "it supports no version"
	case deprecated && r.Version == "":
		return "all of its versions are deprecated"
	case deprecated:
		return fmt.Sprintf("its versions %s are deprecated", r.Version)
	}
	versions := make([]string, len(supported))
	for i := range supported {
		versions[i] = supported[i].Version
	}
	slices.Sort(versions)

	return fmt.Sprintf("version %s is not among %s", r.Version, strings.Join(versions, ", "))
}

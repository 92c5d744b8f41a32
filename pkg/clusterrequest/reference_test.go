// SPDX-License-Identifier: Apache-2.0

package clusterrequest

import (
	"fmt"
	"slices"
	"sort"
	"strconv"
	"strings"

	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
)

// objects are the plain lists that the reference reads.
type objects struct {
	options      Options
	purposes     []*openmcpv1alpha1.Purpose
	equivalences []*openmcpv1alpha1.TraitEquivalence
	providers    []*openmcpv1alpha1.ClusterProvider
	clusters     []*openmcpv1alpha1.Cluster
}

// choice is what the reference finds: the key of an existing Cluster; or provider, profile and version of a new one; or a reason.
type choice struct {
	cluster, profile, reason string
}

// reference chooses in the plain way: it looks at every Cluster and every profile, with the sentences of docs/spec/cluster-request.md 4.1.2
// and 4.1.3 one after the other.
func reference(o objects, r *openmcpv1alpha1.ClusterRequest) choice {
	purposes := o.purposesOf(r.Spec.Purposes)
	if len(purposes) < len(r.Spec.Purposes) {
		return choice{reason: "PurposeNotFound"}
	}
	dedicated := slices.ContainsFunc(purposes, func(p *openmcpv1alpha1.Purpose) bool { return p.Spec.Dedicated })
	if r.Spec.Dedicated != nil {
		dedicated = *r.Spec.Dedicated
	}
	type ranked struct {
		name    string
		numbers [3]int
		choice  choice
	}
	best := func(all []ranked) choice {
		sort.Slice(all, func(i, j int) bool {
			if all[i].numbers != all[j].numbers {
				return slices.Compare(all[i].numbers[:], all[j].numbers[:]) < 0
			}
			return all[i].name < all[j].name
		})
		return all[0].choice
	}
	var existing, profiles, unready []ranked
	for _, c := range o.clusters {
		fits, optional := o.traitsFit(r, c.Spec.ClusterProviderRef)
		if dedicated || !fits || !o.takes(c) || !o.serves(c, r) || !versionFits(r, versionOf(c.Spec.Kubernetes)) {
			continue
		}
		requests := len(RequestUIDs(c))
		if o.options.Strategy == Simple {
			requests = 0
		}
		key := c.Namespace + "/" + c.Name
		existing = append(existing, ranked{c.Namespace + "\x00" + c.Name, [3]int{len(c.Spec.Purposes), -optional, requests}, choice{cluster: key}})
	}
	if len(existing) > 0 {
		return best(existing)
	}
	for _, p := range o.providers {
		for _, profile := range p.Status.Profiles {
			fits, optional := o.traitsFit(r, openmcpv1alpha1.ClusterProviderReference{Name: p.Name, Profile: profile.Name})
			version, deprecated := newest(r, profile.SupportedVersions)
			if !fits || version == "" {
				continue
			}
			found := ranked{p.Name + "\x00" + string(profile.Name), [3]int{-optional, deprecated},
				choice{profile: fmt.Sprintf("%s/%s %s", p.Name, profile.Name, version)}}
			if p.Status.Ready {
				profiles = append(profiles, found)
			} else {
				unready = append(unready, found)
			}
		}
	}
	switch {
	case len(profiles) > 0:
		return best(profiles)
	case len(unready) > 0:
		return choice{reason: "ProviderNotReady"}
	default:
		return choice{reason: "NoMatchingProfile"}
	}
}

func (o objects) purposesOf(names []openmcpv1alpha1.PurposeName) []*openmcpv1alpha1.Purpose {
	var found []*openmcpv1alpha1.Purpose
	for _, name := range names {
		for _, p := range o.purposes {
			if p.Name == string(name) {
				found = append(found, p)
			}
		}
	}
	return found
}

// takes reports whether a Cluster takes one more request.
func (o objects) takes(c *openmcpv1alpha1.Cluster) bool {
	if c.DeletionTimestamp != nil || c.Spec.Tenancy != openmcpv1alpha1.TenancyShared {
		return false
	}
	for _, p := range o.purposesOf(c.Spec.Purposes) {
		if p.Spec.TenancyLimit > 0 && len(RequestUIDs(c)) >= int(p.Spec.TenancyLimit) {
			return false
		}
	}
	return true
}

// serves reports whether a Cluster is in scope and serves the purposes of a request.
func (o objects) serves(c *openmcpv1alpha1.Cluster, r *openmcpv1alpha1.ClusterRequest) bool {
	namespace := r.Namespace
	for _, p := range o.purposesOf(r.Spec.Purposes) {
		if p.Spec.ClusterTemplate != nil {
			if p.Spec.ClusterTemplate.Namespace != "" {
				namespace = p.Spec.ClusterTemplate.Namespace
			}
			break
		}
	}
	if o.options.Scope == ScopeNamespaced && c.Namespace != namespace {
		return false
	}

	return !slices.ContainsFunc(r.Spec.Purposes, func(p openmcpv1alpha1.PurposeName) bool { return !slices.Contains(c.Spec.Purposes, p) })
}

// same reports whether two names are in one set, by walking through the sets.
func (o objects) same(a, b string) bool {
	reached := map[string]bool{a: true}
	for range o.equivalences {
		for _, e := range o.equivalences {
			if slices.ContainsFunc(e.Spec.Traits, func(n openmcpv1alpha1.TraitName) bool { return reached[string(n)] }) {
				for _, n := range e.Spec.Traits {
					reached[string(n)] = true
				}
			}
		}
	}
	return reached[b]
}

// traitsFit reports whether a profile satisfies all required traits, and how many optional ones.
func (o objects) traitsFit(r *openmcpv1alpha1.ClusterRequest, ref openmcpv1alpha1.ClusterProviderReference) (fits bool, optional int) {
	var published *openmcpv1alpha1.Profile
	for _, p := range o.providers {
		for i := range p.Status.Profiles {
			if p.Name == ref.Name && p.Status.Profiles[i].Name == ref.Profile {
				published = &p.Status.Profiles[i]
			}
		}
	}
	satisfied := func(name string, negated bool) bool {
		if published == nil {
			return false
		}
		has := slices.ContainsFunc(published.SupportedTraits, func(s openmcpv1alpha1.SupportedTrait) bool { return o.same(name, s.TraitName()) })
		return has != negated
	}
	fits = true
	count := func(ok, isOptional bool) {
		switch {
		case ok && isOptional:
			optional++
		case !ok && !isOptional:
			fits = false
		}
	}
	// Mentions with the request first: of those of one trait, the first decides on negated.
	mentions := slices.Clone(r.Spec.Traits)
	for _, p := range o.purposesOf(r.Spec.Purposes) {
		mentions = append(mentions, p.Spec.Traits...)
	}
	for i, m := range mentions {
		if len(m.AnyOf) > 0 {
			holds := func(a openmcpv1alpha1.TraitAlternative) bool { return satisfied(a.TraitName(), a.Negated) }
			count(slices.ContainsFunc(m.AnyOf, holds), m.Optional)
			continue
		}
		mentionsIt := func(other openmcpv1alpha1.TraitRequirement) bool {
			return len(other.AnyOf) == 0 && o.same(m.TraitName(), other.TraitName())
		}
		if slices.ContainsFunc(mentions[:i], mentionsIt) {
			continue
		}
		required := slices.ContainsFunc(mentions, func(other openmcpv1alpha1.TraitRequirement) bool { return mentionsIt(other) && !other.Optional })
		count(satisfied(m.TraitName(), m.Negated), !required)
	}

	return fits, optional
}

// versionFits compares segment by segment.
func versionFits(r *openmcpv1alpha1.ClusterRequest, version string) bool {
	if r.Spec.Kubernetes == nil || r.Spec.Kubernetes.Version == "" {
		return true
	}
	wanted, have := strings.Split(r.Spec.Kubernetes.Version, "."), strings.Split(version, ".")
	return len(wanted) <= len(have) && slices.Equal(wanted, have[:len(wanted)])
}

// newest returns the version of a new Cluster, and 1 if it is deprecated.
func newest(r *openmcpv1alpha1.ClusterRequest, supported []openmcpv1alpha1.SupportedVersion) (version string, deprecated int) {
	number := func(v string) (n int) {
		for s := range strings.SplitSeq(v, ".") {
			segment, _ := strconv.Atoi(s)
			n = 1000*n + segment
		}
		return n
	}
	for _, s := range supported {
		exact := r.Spec.Kubernetes != nil && r.Spec.Kubernetes.Version == s.Version
		if versionFits(r, s.Version) && (!s.Deprecated || exact) && (version == "" || number(s.Version) > number(version)) {
			version, deprecated = s.Version, 0
			if s.Deprecated {
				deprecated = 1
			}
		}
	}

	return version, deprecated
}

// SPDX-License-Identifier: Apache-2.0

package clusterrequest

import (
	"cmp"
	"slices"
	"strings"

	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
)

// fromRequest is the source of what the ClusterRequest itself says. No Purpose has this name.
const fromRequest = ""

// Requirement is what a ClusterRequest and its Purposes ask for together.
type Requirement struct {
	// Purposes are the names of the Purposes in the order of the request.
	Purposes []string
	// Missing are those of the Purposes that do not exist.
	Missing []string
	// Dedicated says whether the request needs a Cluster of its own.
	Dedicated bool
	// DedicatedBy is the first Purpose that asks for a dedicated cluster; "" if the request decides, or no Purpose asks.
	DedicatedBy string
	// Version is the version of Kubernetes or its first segments; "" for any.
	Version string
	// Traits are sorted by their names, alternatives last in the order of the Purposes and the request.
	Traits []Trait
}

// Trait is one requirement on traits.
type Trait struct {
	// AnyOf are the alternatives, of which one suffices. A plain trait is the only alternative.
	AnyOf []Alternative
	// Optional traits rank Clusters and profiles, and rule none out.
	Optional bool
	// By are the Purposes that ask for the trait; "" is the request.
	By []string
}

// Alternative is a trait that has to be there, or not.
type Alternative struct {
	// Name is the name as it was first written.
	Name string
	// Negated is satisfied where the trait is not supported.
	Negated bool

	// canonical is the alphabetically first of Name and its equivalents.
	canonical string
}

func (a Alternative) String() string {
	if a.Negated {
		return "not " + a.Name
	}
	return a.Name
}

func (t Trait) String() string {
	names := make([]string, len(t.AnyOf))
	for i, alternative := range t.AnyOf {
		names[i] = alternative.String()
	}
	if len(names) == 1 {
		return "trait " + names[0]
	}
	return "any of the traits " + strings.Join(names, ", ")
}

// satisfied reports whether a profile with these canonical traits satisfies the requirement.
func (t Trait) satisfied(traits map[string]bool) bool {
	return slices.ContainsFunc(t.AnyOf, func(a Alternative) bool { return traits[a.canonical] != a.Negated })
}

// aggregate adds up the requirements of a request and its Purposes (docs/spec/cluster-request.md 4.1.2).
func aggregate(
	spec *openmcpv1alpha1.ClusterRequestSpec, purposes map[string]*openmcpv1alpha1.Purpose, same equivalence,
) Requirement {
	requirement := Requirement{Version: versionOf(spec.Kubernetes)}
	var traits traitSum
	for _, name := range spec.Purposes {
		name := string(name)
		requirement.Purposes = append(requirement.Purposes, name)
		purpose, found := purposes[name]
		if !found {
			requirement.Missing = append(requirement.Missing, name)
			continue
		}
		if purpose.Spec.Dedicated && !requirement.Dedicated {
			requirement.Dedicated, requirement.DedicatedBy = true, name
		}
		traits.add(purpose.Spec.Traits, name, same)
	}
	if spec.Dedicated != nil {
		requirement.Dedicated, requirement.DedicatedBy = *spec.Dedicated, fromRequest
	}
	traits.add(spec.Traits, fromRequest, same)
	slices.SortFunc(traits.plain, func(a, b Trait) int { return cmp.Compare(a.AnyOf[0].canonical, b.AnyOf[0].canonical) })
	requirement.Traits = slices.Concat(traits.plain, traits.groups)

	return requirement
}

// traitSum adds up mentions of traits. A plain trait has one entry for all its mentions; groups are kept apart.
type traitSum struct {
	plain, groups []Trait
}

// add adds the items of one source. The sources come in the order of the Purposes, the request last.
func (s *traitSum) add(items []openmcpv1alpha1.TraitRequirement, by string, same equivalence) {
	for i := range items {
		item := &items[i]
		if len(item.AnyOf) > 0 {
			group := Trait{Optional: item.Optional, By: []string{by}}
			for _, a := range item.AnyOf {
				group.AnyOf = append(group.AnyOf, newAlternative(a.TraitName(), a.Negated, same))
			}
			s.groups = append(s.groups, group)
			continue
		}
		mention := newAlternative(item.TraitName(), item.Negated, same)
		known := slices.IndexFunc(s.plain, func(t Trait) bool { return t.AnyOf[0].canonical == mention.canonical })
		if known < 0 {
			s.plain = append(s.plain, Trait{AnyOf: []Alternative{mention}, Optional: item.Optional, By: []string{by}})
			continue
		}
		trait := &s.plain[known]
		trait.Optional = trait.Optional && item.Optional
		if slices.Contains(trait.By, by) {
			continue // The first mention of a source decides on negated.
		}
		if by == fromRequest {
			trait.AnyOf[0] = mention
		}
		trait.By = append(trait.By, by)
	}
}

func newAlternative(name string, negated bool, same equivalence) Alternative {
	return Alternative{Name: name, Negated: negated, canonical: same.canonical(name)}
}

// SPDX-License-Identifier: Apache-2.0

package clusterrequest

import (
	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
)

// equivalence maps names of traits to the alphabetically first name of their set. Names that no TraitEquivalence has are missing.
type equivalence map[string]string

// newEquivalence unites the sets of TraitEquivalences that share a name.
func newEquivalence(objects map[string]*openmcpv1alpha1.TraitEquivalence) equivalence {
	e := equivalence{}
	for _, object := range objects {
		for _, name := range object.Spec.Traits {
			e.unite(string(object.Spec.Traits[0]), string(name))
		}
	}
	for name := range e {
		e[name] = e.root(name)
	}
	return e
}

// canonical returns the alphabetically first name of the equivalence set of a name.
func (e equivalence) canonical(name string) string {
	if first, found := e[name]; found {
		return first
	}
	return name
}

// root follows the links of a name that is being united. A link leads to an alphabetically smaller name, or to the name itself.
func (e equivalence) root(name string) string {
	for {
		next, found := e[name]
		if !found || next == name {
			return name
		}
		name = next
	}
}

func (e equivalence) unite(a, b string) {
	a, b = e.root(a), e.root(b)
	if a > b {
		a, b = b, a
	}
	e[a], e[b] = a, a
}

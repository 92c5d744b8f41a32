// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/clusterrequest"
	"github.com/placement-hub/placement-hub/pkg/explain/search"
)

// maxChanges bounds the Changes of a Report.
const maxChanges = 5

// Change is one or two edits that grant a request together. The request was evaluated with them.
type Change struct {
	Edits []string `json:"edits"`
	// Cluster is the Cluster that the request would get, as NAMESPACE/NAME.
	Cluster string `json:"cluster"`
	// New reports that the Cluster would be created.
	New bool `json:"new,omitempty"`
}

// edit is a possible change of one object. The spec of a ClusterRequest is immutable, so its edits describe another request.
type edit struct {
	text  string
	apply func(*trial)
}

// trial is the objects and the request with the edits of a Change, whose Cluster is empty if they grant nothing. The lists are its own; the objects
// are replaced, never changed.
type trial struct {
	objects Objects
	request *openmcpv1alpha1.ClusterRequest
	change  Change
	// others are the edits that may be made besides.
	others []edit
}

// searchChanges returns the changes that would grant a request which gets nothing: those of one edit, or if there are none, of two.
func searchChanges(objects *Objects, request *openmcpv1alpha1.ClusterRequest, evaluation *clusterrequest.Evaluation) []Change {
	s := search.Search[*trial, []edit]{
		Changes: (*trial).changes,
		Apply:   func(from *trial, edits []edit) (*trial, bool) { return from.with(edits[0], edits[1:]), true },
		Evaluate: func(t *trial) (*trial, bool) {
			t.evaluate()
			return t, true
		},
		Helps: func(t *trial) bool { return t.change.Cluster != "" }, Limit: maxChanges, Left: search.MaxEvaluations,
	}

	helps, fails := s.One(&trial{objects: *objects, request: request, others: editsFor(objects, request, evaluation)})
	if len(helps) == 0 {
		helps = s.Two(fails, nil)
	}
	found := make([]Change, 0, len(helps))
	for _, help := range helps {
		found = append(found, help.change)
	}
	return found
}

// changes returns each of the other edits with those after it, so that no two edits are made in two orders.
func (t *trial) changes() [][]edit {
	changes := make([][]edit, 0, len(t.others))
	for at := range t.others {
		changes = append(changes, t.others[at:])
	}
	return changes
}

// with returns a trial with one more edit, and others that may be made besides.
func (t *trial) with(more edit, others []edit) *trial {
	edited := &trial{objects: t.objects, request: t.request.DeepCopy(), others: others}
	edited.change.Edits = append(slices.Clip(t.change.Edits), more.text)
	more.apply(edited)
	return edited
}

// evaluate finds out what the request gets.
func (t *trial) evaluate() {
	switch evaluation := t.objects.catalog().Explain(t.request); {
	case evaluation.Cluster != nil:
		t.change.Cluster = keyOf(evaluation.Cluster).String()
	case evaluation.New != nil:
		t.change.Cluster, t.change.New = keyOf(evaluation.New).String(), true
	}
}

// editsFor returns the edits that may help, those of the requested first: they need nobody else.
func editsFor(objects *Objects, request *openmcpv1alpha1.ClusterRequest, evaluation *clusterrequest.Evaluation) []edit {
	requirement := &evaluation.Requirement
	edits := createPurposes(requirement)
	if evaluation.Result.Reason == openmcpv1alpha1.ReasonClusterConflict {
		edits = append(edits, edit{"label the ClusterRequest " + openmcpv1alpha1.RandomizeNameLabel + "=true", func(t *trial) {
			t.request.Labels = map[string]string{openmcpv1alpha1.RandomizeNameLabel: "true"}
		}})
	}
	edits = append(edits, requestEdits(objects, request, requirement)...)

	for _, trait := range requirement.Traits {
		for _, by := range trait.By {
			if by != "" && !trait.Optional {
				edits = append(edits, makeOptional(by, trait))
			}
		}
	}
	return append(edits, providerEdits(objects, requirement)...)
}

func createPurposes(requirement *clusterrequest.Requirement) []edit {
	var edits []edit
	for _, name := range requirement.Missing {
		edits = append(edits, edit{"have an administrator create Purpose " + name, func(t *trial) {
			t.objects.Purposes = append(slices.Clip(t.objects.Purposes), &openmcpv1alpha1.Purpose{ObjectMeta: metav1.ObjectMeta{Name: name}})
		}})
	}

	for _, name := range requirement.Missing {
		if len(requirement.Purposes) > 1 {
			edits = append(edits, edit{"create another ClusterRequest without Purpose " + name, func(t *trial) {
				t.request.Spec.Purposes = slices.DeleteFunc(t.request.Spec.Purposes, func(purpose openmcpv1alpha1.PurposeName) bool {
					return string(purpose) == name && len(t.request.Spec.Purposes) > 1
				})
			}})
		}
	}
	return edits
}

// requestEdits returns the edits of the request itself.
func requestEdits(objects *Objects, request *openmcpv1alpha1.ClusterRequest, requirement *clusterrequest.Requirement) []edit {
	var edits []edit
	for _, trait := range requirement.Traits {
		if !trait.Optional && slices.Contains(trait.By, "") {
			edits = append(edits, edit{"create another ClusterRequest without " + trait.String(), func(t *trial) {
				t.request.Spec.Traits = slices.DeleteFunc(t.request.Spec.Traits, func(item openmcpv1alpha1.TraitRequirement) bool {
					return mentions(&item, trait)
				})
			}})
		}
	}

	if requirement.Dedicated {
		edits = append(edits, edit{"create another ClusterRequest with dedicated: false", func(t *trial) {
			t.request.Spec.Dedicated = ptr.To(false)
		}})
	}
	if requirement.Version == "" {
		return edits
	}
	edits = append(edits, edit{"create another ClusterRequest without a version", func(t *trial) { t.request.Spec.Kubernetes = nil }})

	for _, version := range supportedVersions(objects) {
		if version != versionOf(request.Spec.Kubernetes) {
			edits = append(edits, edit{"create another ClusterRequest for version " + version, func(t *trial) {
				t.request.Spec.Kubernetes = &openmcpv1alpha1.Kubernetes{Version: version}
			}})
		}
	}
	return edits
}

// supportedVersions returns the versions of all profiles that are not deprecated, in the order of the providers.
func supportedVersions(objects *Objects) []string {
	var versions []string
	for _, provider := range objects.Providers {
		for _, profile := range provider.Status.Profiles {
			for _, version := range profile.SupportedVersions {
				if !version.Deprecated && !slices.Contains(versions, version.Version) {
					versions = append(versions, version.Version)
				}
			}
		}
	}
	return versions
}

// makeOptional makes a trait of a Purpose optional.
func makeOptional(purpose string, trait clusterrequest.Trait) edit {
	return edit{fmt.Sprintf("make %s optional in Purpose %s", trait, purpose), func(t *trial) {
		t.objects.Purposes = replaced(t.objects.Purposes, purpose, func(p *openmcpv1alpha1.Purpose) {
			for i := range p.Spec.Traits {
				if mentions(&p.Spec.Traits[i], trait) {
					p.Spec.Traits[i].Optional = true
				}
			}
		})
	}}
}

// mentions reports whether an item of a trait list is, or has a part in, a requirement.
func mentions(item *openmcpv1alpha1.TraitRequirement, trait clusterrequest.Trait) bool {
	if len(item.AnyOf) == 0 {
		return len(trait.AnyOf) == 1 && trait.AnyOf[0].Name == item.TraitName()
	}
	return slices.EqualFunc(item.AnyOf, trait.AnyOf, func(a openmcpv1alpha1.TraitAlternative, b clusterrequest.Alternative) bool {
		return a.TraitName() == b.Name && a.Negated == b.Negated
	})
}

// providerEdits returns the edits of providers: one that becomes ready, and profiles that gain what is required of them.
func providerEdits(objects *Objects, requirement *clusterrequest.Requirement) []edit {
	var edits []edit
	for _, provider := range objects.Providers {
		name := provider.Name
		if !provider.Status.Ready {
			edits = append(edits, edit{fmt.Sprintf("wait until ClusterProvider %s is ready", name), func(t *trial) {
				t.objects.Providers = replaced(t.objects.Providers, name, func(p *openmcpv1alpha1.ClusterProvider) { p.Status.Ready = true })
			}})
		}

		for at, profile := range provider.Status.Profiles {
			for _, trait := range requirement.Traits {
				if !trait.Optional && !trait.AnyOf[0].Negated {
					edits = append(edits, publish(name, at, string(profile.Name), trait.AnyOf[0].Name))
				}
			}
		}
	}

	return edits
}

// publish adds a trait to a profile.
func publish(provider string, at int, profile, trait string) edit {
	return edit{fmt.Sprintf("have ClusterProvider %s publish trait %s in profile %s", provider, trait, profile), func(t *trial) {
		t.objects.Providers = replaced(t.objects.Providers, provider, func(p *openmcpv1alpha1.ClusterProvider) {
			traits := &p.Status.Profiles[at].SupportedTraits
			*traits = append(*traits, openmcpv1alpha1.SupportedTrait{Trait: trait})
		})
	}}
}

// named is an object that can be copied.
type named[T any] interface {
	GetName() string
	DeepCopy() T
}

// replaced returns a list with a changed copy of the object of a name.
func replaced[T named[T]](objects []T, name string, change func(T)) []T {
	changed := slices.Clone(objects)
	for i := range changed {
		if changed[i].GetName() == name {
			changed[i] = changed[i].DeepCopy()
			change(changed[i])
		}
	}
	return changed
}

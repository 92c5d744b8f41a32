// SPDX-License-Identifier: Apache-2.0

package placement

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/placement-hub/placement-hub/pkg/placement/api"
)

// metadata computes the labels and owners of the pages of a Placement.
type metadata struct {
	existing Existing
	owner    metav1.OwnerReference
	// labels are those of group, the last group that was asked for.
	group  api.Group
	labels map[string]string
}

func newMetadata(existing Existing) metadata {
	return metadata{existing: existing, owner: *metav1.NewControllerRef(existing.Placement, existing.Codec.Owner())}
}

func (m *metadata) labelsOf(group api.Group) map[string]string {
	if m.labels == nil || m.group != group {
		m.group, m.labels = group, m.existing.Codec.Labels(m.existing.Placement.Name, group)
	}
	return m.labels
}

// matches reports whether a page of a group has the labels and owners that apply returns.
func (m *metadata) matches(page *api.Page, group api.Group) bool {
	for key, value := range m.labelsOf(group) {
		if current, is := page.Labels[key]; !is || current != value {
			return false
		}
	}
	references := page.OwnerReferences
	if len(references) == 0 || !sameOwner(references[0], m.owner) {
		return false
	}
	return !slices.ContainsFunc(references[1:], func(other metav1.OwnerReference) bool {
		return isPlacement(m.existing.Codec, other) || ptr.Deref(other.Controller, false)
	})
}

// apply returns the metadata of a page of a group. It keeps the labels and owners of others.
func (m *metadata) apply(name string, group api.Group, current metav1.ObjectMeta) metav1.ObjectMeta {
	labels := m.existing.Codec.Labels(m.existing.Placement.Name, group)
	for key, value := range current.Labels {
		if _, ours := labels[key]; !ours {
			labels[key] = value
		}
	}
	return metav1.ObjectMeta{
		Namespace: m.existing.Placement.Namespace, Name: name, UID: current.UID, ResourceVersion: current.ResourceVersion,
		Labels: labels, OwnerReferences: m.owners(current.OwnerReferences),
	}
}

// owners puts the reference to the Placement first, keeps those of others, and drops those to an older Placement with the same name. An API
// server accepts only one controller, which is the Placement.
func (m *metadata) owners(current []metav1.OwnerReference) []metav1.OwnerReference {
	result := []metav1.OwnerReference{*metav1.NewControllerRef(m.existing.Placement, m.existing.Codec.Owner())}
	for _, owner := range current {
		if isPlacement(m.existing.Codec, owner) {
			continue
		}
		if ptr.Deref(owner.Controller, false) {
			owner.Controller = ptr.To(false)
		}
		result = append(result, owner)
	}
	return result
}

func sameOwner(a, b metav1.OwnerReference) bool {
	return a.APIVersion == b.APIVersion && a.Kind == b.Kind && a.Name == b.Name && a.UID == b.UID &&
		ptr.Equal(a.Controller, b.Controller) && ptr.Equal(a.BlockOwnerDeletion, b.BlockOwnerDeletion)
}

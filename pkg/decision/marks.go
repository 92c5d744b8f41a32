package decision

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/placement-hub/placement-hub/pkg/decision/record"
)

// marks are what a page carries beside its decisions: labels, owners, and who it is from.
type marks struct {
	present Present
	owner   metav1.OwnerReference
	// labels are those of the last group that was asked for.
	group  record.Group
	labels map[string]string
}

func newMarks(present Present) *marks {
	return &marks{present: present, owner: *metav1.NewControllerRef(present.Placement, present.Form.Owner())}
}

// on reports whether a page exists and carries what newWrite would give it.
func (m *marks) on(page Page) bool {
	if page.Current == nil || page.Current.Scheduler != m.present.Form.Scheduler() {
		return false
	}

	if m.labels == nil || m.group != page.Group {
		m.group, m.labels = page.Group, m.present.Form.Labels(m.present.Placement.Name, page.Group)
	}

	for key, value := range m.labels {
		if present, is := page.Current.Labels[key]; !is || present != value {
			return false
		}
	}

	references := page.Current.OwnerReferences
	if len(references) == 0 || !sameOwner(references[0], m.owner) {
		return false
	}

	return !slices.ContainsFunc(references[1:], func(other metav1.OwnerReference) bool {
		return isPlacement(m.present.Form, other) || ptr.Deref(other.Controller, false)
	})
}

func sameOwner(a, b metav1.OwnerReference) bool {
	return a.APIVersion == b.APIVersion && a.Kind == b.Kind && a.Name == b.Name && a.UID == b.UID &&
		ptr.Equal(a.Controller, b.Controller) && ptr.Equal(a.BlockOwnerDeletion, b.BlockOwnerDeletion)
}

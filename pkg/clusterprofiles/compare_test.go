// SPDX-License-Identifier: Apache-2.0

package clusterprofiles_test

import (
	"maps"
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/placement-hub/placement-hub/pkg/clusterprofiles"
)

// applied is the entry of an object with everything that wanted has.
const applied = `{
	"f:metadata": {"f:labels": {"f:open-cluster-management.io/cluster-name": {}, "f:x-k8s.io/cluster-manager": {}}},
	"f:spec": {"f:clusterManager": {"f:name": {}}, "f:displayName": {}}
}`

const appliedStatus = `{"f:status": {
	"f:conditions": {"k:{\"type\":\"Joined\"}": {".": {}, "f:type": {}, "f:status": {}}},
	"f:properties": {"k:{\"name\":\"region\"}": {".": {}, "f:name": {}, "f:value": {}}},
	"f:version": {"f:kubernetes": {}}
}}`

func entry(manager, fields string) metav1.ManagedFieldsEntry {
	return metav1.ManagedFieldsEntry{
		Manager: manager, Operation: metav1.ManagedFieldsOperationApply, FieldsV1: metav1.NewFieldsV1(fields),
	}
}

func owns(manager string) *fieldpath.Set {
	return clusterprofiles.Owns([]metav1.ManagedFieldsEntry{entry(manager, applied), entry(manager, appliedStatus)})
}

func wanted() *clusterprofiles.Profile {
	profile := &clusterprofiles.Profile{
		Name:   "c1",
		Labels: map[string]string{"x-k8s.io/cluster-manager": "open-cluster-management", "open-cluster-management.io/cluster-name": "c1"},
		Spec:   clusterprofiles.Spec{DisplayName: "c1"},
		Status: clusterprofiles.Status{
			Version:    &clusterprofiles.Version{Kubernetes: "v1.36.1"},
			Properties: []clusterprofiles.Property{{Name: "region", Value: "eu"}},
			Conditions: []clusterprofiles.Condition{
				{Type: "Joined", Status: metav1.ConditionTrue, Reason: "Joined", LastTransitionTime: metav1.Unix(500, 0)},
			},
		},
	}
	profile.Spec.ClusterManager.Name = clusterprofiles.ClusterManager
	return profile
}

// docs/spec/cluster-profiles.md CP6.
func TestCompare(t *testing.T) {
	const us, them = clusterprofiles.FieldManager, "registration"
	none, object, status := clusterprofiles.Write{}, clusterprofiles.Write{Object: true}, clusterprofiles.Write{Status: true}
	another := clusterprofiles.Condition{Type: "Ready", Status: metav1.ConditionTrue, Reason: "Ready"}

	for name, test := range map[string]struct {
		reason string
		owner  string
		change func(existing *clusterprofiles.Existing, wanted *clusterprofiles.Profile)
		want   clusterprofiles.Write
	}{
		"settled":         {reason: "a restart writes nothing", owner: us, want: none},
		"made by another": {reason: "the hub becomes an owner of equal values", owner: them, want: clusterprofiles.Write{Object: true, Status: true}},
		"labels, properties and conditions of others": {
			reason: "they are no business of the hub", owner: us, want: none,
			change: func(e *clusterprofiles.Existing, _ *clusterprofiles.Profile) {
				e.Labels["team"] = "a"
				e.Status.Properties = append(e.Status.Properties, clusterprofiles.Property{Name: "other", Value: "1"})
				e.Status.Conditions = append(e.Status.Conditions, another)
			},
		},
		"another order": {
			reason: "the lists are maps", owner: us, want: none,
			change: func(e *clusterprofiles.Existing, _ *clusterprofiles.Profile) {
				e.Status.Conditions = slices.Insert(e.Status.Conditions, 0, another)
			},
		},
		"a label": {
			reason: "a label that was changed is restored", owner: us, want: object,
			change: func(e *clusterprofiles.Existing, _ *clusterprofiles.Profile) {
				e.Labels["x-k8s.io/cluster-manager"] = "x"
			},
		},
		"a label that is not wanted any more": {
			reason: "the hub has written it", owner: us, want: object,
			change: func(_ *clusterprofiles.Existing, w *clusterprofiles.Profile) {
				delete(w.Labels, "x-k8s.io/cluster-manager")
			},
		},
		"the display name": {
			reason: "a spec that was changed is restored", owner: us, want: object,
			change: func(e *clusterprofiles.Existing, _ *clusterprofiles.Profile) { e.Spec.DisplayName = "x" },
		},
		"a value": {
			reason: "a claim has changed", owner: us, want: status,
			change: func(_ *clusterprofiles.Existing, w *clusterprofiles.Profile) { w.Status.Properties[0].Value = "us" },
		},
		"a new property": {
			reason: "a claim has come", owner: us, want: status,
			change: func(_ *clusterprofiles.Existing, w *clusterprofiles.Profile) {
				w.Status.Properties = append(w.Status.Properties, clusterprofiles.Property{Name: "zone", Value: "a"})
			},
		},
		"a property that is not wanted any more": {
			reason: "the hub has written it", owner: us, want: status,
			change: func(_ *clusterprofiles.Existing, w *clusterprofiles.Profile) { w.Status.Properties = nil },
		},
		"a time of transition": {
			reason: "the condition has flapped", owner: us, want: status,
			change: func(_ *clusterprofiles.Existing, w *clusterprofiles.Profile) {
				w.Status.Conditions[0].LastTransitionTime = metav1.Unix(501, 0)
			},
		},
		"the version": {
			reason: "the cluster was upgraded", owner: us, want: status,
			change: func(_ *clusterprofiles.Existing, w *clusterprofiles.Profile) { w.Status.Version.Kubernetes = "v1.37.0" },
		},
		"no version": {
			reason: "the hub has written the version", owner: us, want: status,
			change: func(_ *clusterprofiles.Existing, w *clusterprofiles.Profile) { w.Status.Version = nil },
		},
		"a status that was removed": {
			reason: "it is restored", owner: us, want: status,
			change: func(e *clusterprofiles.Existing, _ *clusterprofiles.Profile) { e.Status = clusterprofiles.Status{} },
		},
	} {
		t.Run(name, func(t *testing.T) {
			profile, same := wanted(), wanted()
			existing := &clusterprofiles.Existing{
				Labels: maps.Clone(same.Labels), Spec: same.Spec, Status: same.Status, Owned: owns(test.owner),
			}
			if test.change != nil {
				test.change(existing, profile)
			}
			if got := profile.Compare(existing.Digests()); got != test.want {
				t.Errorf("write %+v, want %+v: %s", got, test.want, test.reason)
			}
		})
	}
}

func TestOwns(t *testing.T) {
	updated := entry(clusterprofiles.FieldManager, applied)
	updated.Operation = metav1.ManagedFieldsOperationUpdate
	unreadable := entry(clusterprofiles.FieldManager, `{"f:`)
	for name, entries := range map[string][]metav1.ManagedFieldsEntry{
		"none": nil, "of another": {entry("registration", applied)}, "no apply": {updated}, "unreadable": {unreadable},
		"without fields": {{Manager: clusterprofiles.FieldManager, Operation: metav1.ManagedFieldsOperationApply}},
	} {
		if owned := clusterprofiles.Owns(entries); !owned.Empty() {
			t.Errorf("%s: the hub owns %v, want nothing", name, owned)
		}
	}
}

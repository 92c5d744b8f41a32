// SPDX-License-Identifier: Apache-2.0

package clusterprofiles_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterinventory "sigs.k8s.io/cluster-inventory-api/apis/v1alpha1"

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
	another := metav1.Condition{Type: "Ready", Status: metav1.ConditionTrue, Reason: "Ready"}

	for name, test := range map[string]struct {
		reason string
		owner  string
		change func(present *clusterinventory.ClusterProfile, wanted *clusterprofiles.Profile)
		want   clusterprofiles.Write
	}{
		"settled":         {reason: "a restart writes nothing", owner: us, want: none},
		"made by another": {reason: "the hub becomes an owner of equal values", owner: them, want: clusterprofiles.Write{Object: true, Status: true}},
		"labels, properties and conditions of others": {
			reason: "they are no business of the hub", owner: us, want: none,
			change: func(e *clusterinventory.ClusterProfile, _ *clusterprofiles.Profile) {
				e.Labels["team"] = "a"
				e.Status.Properties = append(e.Status.Properties, clusterinventory.Property{Name: "other", Value: "1"})
				e.Status.Conditions = append(e.Status.Conditions, another)
			},
		},
		"another order": {
			reason: "the lists are maps", owner: us, want: none,
			change: func(e *clusterinventory.ClusterProfile, _ *clusterprofiles.Profile) {
				e.Status.Conditions = slices.Insert(e.Status.Conditions, 0, another)
			},
		},
		"a label": {
			reason: "a label that was changed is restored", owner: us, want: object,
			change: func(e *clusterinventory.ClusterProfile, _ *clusterprofiles.Profile) {
				e.Labels["x-k8s.io/cluster-manager"] = "x"
			},
		},
		"a label that is not wanted any more": {
			reason: "the hub has written it", owner: us, want: object,
			change: func(_ *clusterinventory.ClusterProfile, w *clusterprofiles.Profile) {
				delete(w.Labels, "x-k8s.io/cluster-manager")
			},
		},
		"the display name": {
			reason: "a spec that was changed is restored", owner: us, want: object,
			change: func(e *clusterinventory.ClusterProfile, _ *clusterprofiles.Profile) { e.Spec.DisplayName = "x" },
		},
		"a value": {
			reason: "a claim has changed", owner: us, want: status,
			change: func(_ *clusterinventory.ClusterProfile, w *clusterprofiles.Profile) {
				w.Status.Properties[0].Value = "us"
			},
		},
		"a new property": {
			reason: "a claim has come", owner: us, want: status,
			change: func(_ *clusterinventory.ClusterProfile, w *clusterprofiles.Profile) {
				w.Status.Properties = append(w.Status.Properties, clusterprofiles.Property{Name: "zone", Value: "a"})
			},
		},
		"a property that is not wanted any more": {
			reason: "the hub has written it", owner: us, want: status,
			change: func(_ *clusterinventory.ClusterProfile, w *clusterprofiles.Profile) { w.Status.Properties = nil },
		},
		"a time of transition": {
			reason: "the condition has flapped", owner: us, want: status,
			change: func(_ *clusterinventory.ClusterProfile, w *clusterprofiles.Profile) {
				w.Status.Conditions[0].LastTransitionTime = metav1.Unix(501, 0)
			},
		},
		"the version": {
			reason: "the cluster was upgraded", owner: us, want: status,
			change: func(_ *clusterinventory.ClusterProfile, w *clusterprofiles.Profile) {
				w.Status.Version.Kubernetes = "v1.37.0"
			},
		},
		"no version": {
			reason: "the hub has written the version", owner: us, want: status,
			change: func(_ *clusterinventory.ClusterProfile, w *clusterprofiles.Profile) { w.Status.Version = nil },
		},
		"a status that was removed": {
			reason: "it is restored", owner: us, want: status,
			change: func(e *clusterinventory.ClusterProfile, _ *clusterprofiles.Profile) {
				e.Status = clusterinventory.ClusterProfileStatus{}
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			profile, existing := wanted(), present(test.owner)
			if test.change != nil {
				test.change(existing, profile)
			}
			if got := profile.Compare(existing); got != test.want {
				t.Errorf("write %+v, want %+v: %s", got, test.want, test.reason)
			}
			clusterprofiles.Compact(existing)
			if got := profile.Compare(existing); got != test.want {
				t.Errorf("of a compact one: write %+v, want %+v: %s", got, test.want, test.reason)
			}
		})
	}
}

// A compact ClusterProfile keeps who it is, who has applied it and what TakeOver reads, and is smaller. It may be made compact again.
func TestCompact(t *testing.T) {
	another, registration := entry("kubectl", applied), entry("registration", applied)
	for name, test := range map[string]struct {
		entries    []metav1.ManagedFieldsEntry
		byHub      bool
		registered []metav1.ManagedFieldsEntry
	}{
		"nobody":          {},
		"another":         {entries: []metav1.ManagedFieldsEntry{another}},
		"the hub":         {entries: []metav1.ManagedFieldsEntry{entry(clusterprofiles.FieldManager, applied), another}, byHub: true},
		"a former writer": {entries: []metav1.ManagedFieldsEntry{another, registration}, registered: []metav1.ManagedFieldsEntry{registration}},
		"both": {
			entries: []metav1.ManagedFieldsEntry{registration, entry(clusterprofiles.FieldManager, applied)},
			byHub:   true, registered: []metav1.ManagedFieldsEntry{registration},
		},
	} {
		t.Run(name, func(t *testing.T) {
			profile := present(clusterprofiles.FieldManager)
			profile.ManagedFields = test.entries
			profile.Namespace, profile.UID, profile.ResourceVersion = "team", "u", "7"
			profile.CreationTimestamp, profile.Annotations = metav1.Unix(5, 0), map[string]string{"example.com/note": "dropped"}
			want := clusterinventory.ClusterProfile{ObjectMeta: metav1.ObjectMeta{
				Namespace: "team", Name: "c1", UID: "u", ResourceVersion: "7", CreationTimestamp: metav1.Unix(5, 0),
			}}
			want.Spec.ClusterManager.Name = clusterprofiles.ClusterManager

			clusterprofiles.Compact(profile, "registration")
			if got := clusterprofiles.AppliedByHub(profile); got != test.byHub {
				t.Errorf("applied by the hub: %t, want %t", got, test.byHub)
			}
			var former []metav1.ManagedFieldsEntry
			for _, entry := range profile.ManagedFields {
				if entry.Manager != clusterprofiles.FieldManager {
					former = append(former, entry)
				}
			}
			if diff := cmp.Diff(test.registered, former); diff != "" {
				t.Errorf("entries of the former writer: %s", diff)
			}
			again := profile.DeepCopy()
			clusterprofiles.Compact(again)
			if diff := cmp.Diff(profile, again); diff != "" {
				t.Errorf("compact once more: %s", diff)
			}
			again.ManagedFields, again.Status = nil, clusterinventory.ClusterProfileStatus{}
			if diff := cmp.Diff(&want, again); diff != "" {
				t.Errorf("what it keeps: %s", diff)
			}
		})
	}
}

// present returns the ClusterProfile that the Profile of wanted describes, which a field manager has applied.
func present(manager string) *clusterinventory.ClusterProfile {
	of := wanted()
	profile := &clusterinventory.ClusterProfile{ObjectMeta: metav1.ObjectMeta{
		Name: of.Name, Labels: maps.Clone(of.Labels), ManagedFields: []metav1.ManagedFieldsEntry{entry(manager, applied), entry(manager, appliedStatus)},
	}}
	profile.Spec.DisplayName, profile.Spec.ClusterManager.Name = of.Spec.DisplayName, of.Spec.ClusterManager.Name
	profile.Status.Version.Kubernetes = of.Status.Version.Kubernetes
	for _, property := range of.Status.Properties {
		profile.Status.Properties = append(profile.Status.Properties, clusterinventory.Property{Name: property.Name, Value: property.Value})
	}
	for _, known := range of.Status.Conditions {
		profile.Status.Conditions = append(profile.Status.Conditions, metav1.Condition{
			Type: known.Type, Status: known.Status, Reason: known.Reason, LastTransitionTime: known.LastTransitionTime,
		})
	}
	return profile
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

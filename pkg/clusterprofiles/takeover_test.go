// SPDX-License-Identifier: Apache-2.0

package clusterprofiles

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// managed returns the entry of a field manager.
func managed(manager string, operation metav1.ManagedFieldsOperationType, subresource, fields string) metav1.ManagedFieldsEntry {
	return metav1.ManagedFieldsEntry{
		Manager: manager, Operation: operation, Subresource: subresource, APIVersion: "multicluster.x-k8s.io/v1alpha1", FieldsType: "FieldsV1",
		FieldsV1: metav1.NewFieldsV1(fields),
	}
}

// CP9: the fields that the hub says become the hub's, and no others.
func TestTakeOver(t *testing.T) {
	const (
		spec     = `"f:spec":{"f:clusterManager":{".":{},"f:name":{}},"f:displayName":{}}`
		region   = `"k:{\"name\":\"region\"}":{".":{},"f:name":{},"f:value":{}}`
		zone     = `"k:{\"name\":\"zone\"}":{".":{},"f:name":{},"f:value":{}}`
		joined   = `"k:{\"type\":\"Joined\"}":{".":{},"f:status":{}}`
		another  = `"k:{\"type\":\"Another\"}":{".":{},"f:status":{}}`
		provider = `"f:accessProviders":{"k:{\"name\":\"kubeconfig\"}":{".":{},"f:name":{}}}`
		update   = metav1.ManagedFieldsOperationUpdate
		apply    = metav1.ManagedFieldsOperationApply
	)
	cases := map[string]struct {
		entries, want []metav1.ManagedFieldsEntry
	}{
		"an object of another writer": {
			entries: []metav1.ManagedFieldsEntry{managed("someone", update, "", `{`+spec+`}`)},
		},
		"an object of the hub": {
			entries: []metav1.ManagedFieldsEntry{managed(FieldManager, apply, "", `{`+spec+`}`)},
		},
		"an entry that cannot be read": {
			entries: []metav1.ManagedFieldsEntry{managed("registration", update, "", `[]`)},
		},
		"an object of the former writer, whose other labels stay": {
			entries: []metav1.ManagedFieldsEntry{
				managed("registration", update, "", `{"f:metadata":{"f:labels":{"f:x-k8s.io/cluster-manager":{},"f:team":{}}},`+spec+`}`),
			},
			want: []metav1.ManagedFieldsEntry{
				managed("registration", update, "", `{"f:metadata":{"f:labels":{"f:team":{}}}}`),
				managed(FieldManager, apply, "", `{"f:metadata":{"f:labels":{"f:x-k8s.io/cluster-manager":{}}},`+spec+`}`),
			},
		},
		"a status that both own, with the ways to access the cluster and a condition of the former writer": {
			entries: []metav1.ManagedFieldsEntry{
				managed("kueue", apply, "status", `{"f:status":{"f:conditions":{`+another+`}}}`),
				managed(FieldManager, apply, "status", `{"f:status":{"f:properties":{`+region+`}}}`),
				managed("registration", update, "status",
					`{"f:status":{`+provider+`,"f:conditions":{`+another+`,`+joined+`},"f:properties":{`+region+`,`+zone+`}}}`),
			},
			want: []metav1.ManagedFieldsEntry{
				managed("kueue", apply, "status", `{"f:status":{"f:conditions":{`+another+`}}}`),
				managed("registration", update, "status", `{"f:status":{`+provider+`,"f:conditions":{`+another+`}}}`),
				managed(FieldManager, apply, "status", `{"f:status":{"f:conditions":{`+joined+`},"f:properties":{`+region+`,`+zone+`}}}`),
			},
		},
		"two former writers of one part, one of which applies": {
			entries: []metav1.ManagedFieldsEntry{
				managed("registration", update, "status", `{"f:status":{"f:properties":{`+region+`}}}`),
				managed("former", apply, "status", `{"f:status":{"f:properties":{`+zone+`}}}`),
			},
			want: []metav1.ManagedFieldsEntry{managed(FieldManager, apply, "status", `{"f:status":{"f:properties":{`+region+`,`+zone+`}}}`)},
		},
	}

	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			before := slices.Clone(c.entries)
			got, taken := TakeOver(c.entries, []string{"registration", "former"})
			if taken != (c.want != nil) {
				t.Errorf("taken over: %t", taken)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(before, c.entries); diff != "" {
				t.Errorf("the given entries have changed: %s", diff)
			}
		})
	}
}

func TestValidateFieldManagers(t *testing.T) {
	for _, c := range []struct {
		managers []string
		want     string
	}{
		{nil, ""},
		{[]string{"registration", "kubectl-edit"}, ""},
		{[]string{strings.Repeat("a", 128)}, ""},
		{[]string{strings.Repeat("a", 129)}, "at most 128 bytes"},
		{[]string{"registration", ""}, "is empty"},
		{[]string{FieldManager}, "of the hub itself"},
		{[]string{"registration", "registration"}, "named twice"},
	} {
		err := ValidateFieldManagers(c.managers)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: got %v, want %q", c.managers, err, c.want)
		}
	}
}

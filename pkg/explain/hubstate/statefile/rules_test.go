// SPDX-License-Identifier: Apache-2.0

package statefile

import (
	"strings"
	"testing"

	"github.com/placement-hub/placement-hub/manifests"
	"github.com/placement-hub/placement-hub/pkg/explain"
	"github.com/placement-hub/placement-hub/pkg/explain/admission"
)

const (
	requestHead = "apiVersion: cluster.openmcp.cloud/v1alpha1\nkind: ClusterRequest\nmetadata: {name: r, namespace: ns"
	openmcpHead = "apiVersion: cluster.openmcp.cloud/v1alpha1\nkind: Cluster\nmetadata: {name: c, namespace: ns"
	provided    = "clusterProviderRef: {name: p, profile: q}"
)

// Validation rules of definitions hold for the objects that a hub would admit, as its policies do.
func TestValidationRulesOfFiles(t *testing.T) {
	for _, tc := range []struct {
		reason, live, file string
		want               string // of the mistake; empty for none
	}{
		{
			reason: "a new object violates a rule", file: requestHead + "}\nspec: {purposes: [a], traits: [{name: x, trait: z}]}\n",
			want: "needs exactly one of trait, name and anyOf: name the trait in one field, or list alternatives",
		},
		{reason: "a new object violates none", file: requestHead + "}\nspec: {purposes: [a], traits: [{name: x}]}\n"},
		{
			reason: "an immutable spec changes", live: requestHead + ", uid: u}\nspec: {purposes: [a]}\n",
			file: requestHead + "}\nspec: {purposes: [b]}\n", want: "is immutable: create another ClusterRequest",
		},
		{
			reason: "an immutable spec stays, and a label changes", live: requestHead + ", uid: u}\nspec: {purposes: [a]}\n",
			file: requestHead + ", labels: {a: b}}\nspec: {purposes: [a]}\n",
		},
		{
			reason: "an immutable field changes", live: openmcpHead + ", uid: u}\nspec: {" + provided + ", tenancy: Shared}\n",
			file: openmcpHead + "}\nspec: {" + provided + "}\n",
			want: `spec.tenancy: Invalid value: "Exclusive": is immutable: create another Cluster`,
		},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			hub := read(t, tc.live)

			t.Run("applied", func(t *testing.T) {
				// Objects that the file leaves a field out of were replaced, so that it goes.
				_, applied, err := readChanges(t, Namespace{}, tc.file).Apply(hub, nil)
				if err != nil || len(applied) != 1 {
					t.Fatalf("%d objects, error %v", len(applied), err)
				}
				expectMistake(t, strings.Join(applied[0].Result.Refused, "\n"), tc.want, tc.live == "" || strings.Contains(tc.file, "purposes"))
			})

			t.Run("added", func(t *testing.T) {
				reader := newReader(t)
				objects, err := manifests.Policies()
				if err != nil {
					t.Fatal(err)
				}
				policies, err := admission.NewPolicies(objects)
				if err != nil {
					t.Fatal(err)
				}
				reader.Enforce(policies, Applied)
				reader.Read("file.yaml", []byte(tc.file))
				_, err = reader.Review(t.Context(), hub)
				text := ""
				if err != nil {
					text = err.Error()
				}
				expectMistake(t, text, tc.want, true)
			})
		})
	}
}

// expectMistake compares a mistake, unless the field stays in a merge.
func expectMistake(t *testing.T, got, want string, changes bool) {
	t.Helper()
	if !changes {
		want = ""
	}
	if want == "" && got != "" || !strings.Contains(got, want) {
		t.Errorf("mistake %q, want %q", got, want)
	}
}

// What a hub has stored is older than a rule.
func TestValidationRulesOfStoredObjects(t *testing.T) {
	wrong := "}\nspec: {purposes: [a], traits: [{name: x, trait: z}]}\n"
	hub := read(t, requestHead+", uid: u"+wrong)
	if len(hub.ClusterRequests.Requests) != 1 {
		t.Fatalf("the stored object is not read: %+v", hub.ClusterRequests.Requests)
	}
	_, applied, err := readChanges(t, Namespace{}, requestHead+", labels: {a: b}"+wrong).Apply(hub, nil)
	if err != nil || len(applied) != 1 || len(applied[0].Result.Refused) > 0 {
		t.Errorf("a part that does not change is refused: %+v, error %v", applied, err)
	}
	_, applied, err = readChanges(t, Namespace{}, requestHead+wrong).Apply(&explain.State{}, nil)
	if err != nil || len(applied[0].Result.Refused) == 0 {
		t.Errorf("a new object is not refused: %+v, error %v", applied, err)
	}
}

// SPDX-License-Identifier: Apache-2.0

package manifests

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/placement-hub/placement-hub/pkg/limits"
	"github.com/placement-hub/placement-hub/pkg/scheduling"
)

// C2a: the policies have the numbers and the texts of the conversion.
func TestPoliciesHaveTheLimitsOfTheHub(t *testing.T) {
	checked := 0
	for _, object := range objects(t) {
		if object.GetKind() != "ValidatingAdmissionPolicy" || !strings.Contains(object.GetName(), "-limits") {
			continue
		}
		checked++
		of := limits.All()
		if strings.HasSuffix(object.GetName(), "-v1alpha1") {
			of = []limits.Limit{limits.Predicates, limits.Requirements, limits.Values}
		}
		expressions := expressionsOf(t, object)

		for _, limit := range of {
			if got, want := expressions[limit.Name], strconv.Itoa(limit.Max); got != want {
				t.Errorf("%s: variable %s is %q, want %s", object.GetName(), limit.Name, got, want)
			}
			name := "at" + strings.TrimPrefix(limit.Name, "max")
			if got, want := expressions[name], fmt.Sprintf("': must have at most ' + string(variables.%s) + ' %s: ' + '%s'",
				limit.Name, limit.Items, limit.Instead); got != want {
				t.Errorf("%s: variable %s is\n%s\nwant\n%s", object.GetName(), name, got, want)
			}
			delete(expressions, limit.Name)
		}

		for name := range expressions {
			if strings.HasPrefix(name, "max") {
				t.Errorf("%s: variable %s is no limit of the hub", object.GetName(), name)
			}
		}
	}

	if checked != 2 {
		t.Errorf("%d policies have limits, want 2", checked)
	}
}

// expressionsOf returns the variables of a policy.
func expressionsOf(t *testing.T, policy *unstructured.Unstructured) map[string]string {
	t.Helper()
	variables, _, err := unstructured.NestedSlice(policy.Object, "spec", "variables")
	if err != nil {
		t.Fatal(err)
	}
	expressions := map[string]string{}

	for _, variable := range variables {
		fields, _ := variable.(map[string]any)
		name, _ := fields["name"].(string)
		expressions[name], _ = fields["expression"].(string)
	}
	return expressions
}

// The policy has the names of the prioritizers that are built in.
func TestAdmissionKnowsThePrioritizers(t *testing.T) {
	want := "['" + strings.Join(scheduling.BuiltIns(), "', '") + "']"
	checked := 0
	for _, object := range objects(t) {
		if object.GetKind() != "ValidatingAdmissionPolicy" {
			continue
		}
		if got, has := expressionsOf(t, object)["builtIns"]; has {
			checked++
			if got != want {
				t.Errorf("%s: the variable builtIns is %s, want %s", object.GetName(), got, want)
			}
		}
	}

	if checked != 1 {
		t.Errorf("%d policies have the built-in prioritizers, want 1", checked)
	}
}

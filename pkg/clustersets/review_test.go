// SPDX-License-Identifier: Apache-2.0

package clustersets

import (
	"slices"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/util/sets"
)

// TestReviewEqualsAllowed checks that the review and the evaluation of RBAC are about the same account, with each of its groups, and the
// same request.
func TestReviewEqualsAllowed(t *testing.T) {
	spec := Review("a", "blue")
	subjects := []rbacv1.Subject{{Kind: rbacv1.UserKind, Name: spec.User}}
	for _, group := range spec.Groups {
		subjects = append(subjects, rbacv1.Subject{Kind: rbacv1.GroupKind, Name: group})
	}
	for _, subject := range subjects {
		if audience := AudienceOf([]rbacv1.Subject{subject}); !audience.Contains("a") {
			t.Errorf("%s %s does not concern the namespace", subject.Kind, subject.Name)
		}
	}

	if !slices.Contains(spec.Groups, "system:authenticated") || len(spec.Groups) != 3 {
		t.Errorf("groups %q", spec.Groups)
	}
	asked := spec.ResourceAttributes
	grant := OfRules([]rbacv1.PolicyRule{{
		Verbs: []string{asked.Verb}, APIGroups: []string{asked.Group}, Resources: []string{asked.Resource + "/" + asked.Subresource},
		ResourceNames: []string{asked.Name},
	}})
	if !grant.Equal(Grant{Sets: sets.New("blue")}) || asked.Namespace != "" {
		t.Errorf("a rule that allows what is asked grants %v", grant)
	}
}

// SPDX-License-Identifier: Apache-2.0

package access

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
)

// The verbs of questions.
const (
	// VerbGet is for an explanation of an object that exists.
	VerbGet = "get"
	// VerbList is for a list of the objects of a namespace.
	VerbList = "list"
	// VerbCreate and VerbUpdate are for an object of a file: what would happen if the user applied it.
	VerbCreate = "create"
	VerbUpdate = "update"
	// VerbUse is for a Purpose that a ClusterRequest of a file names, as admission asks.
	VerbUse = "use"
	// VerbDelete is for what would happen if the user deleted an object.
	VerbDelete = "delete"
)

// Asked is an object that a question is about, and the verb on it that permits the question.
type Asked struct {
	Verb     string
	Resource schema.GroupVersionResource
	// Subresource is that of an object without a namespace, such as bind of a ManagedClusterSet; empty for the objects of a namespace.
	Subresource string
	// Namespace is empty with a Subresource alone, because the objects of a question belong to a namespace. Name is empty for VerbList and
	// VerbCreate without a Subresource.
	Namespace, Name string
	// AllNamespaces is for VerbList of all namespaces, without a Namespace.
	AllNamespaces bool
	// Role is a ClusterRole with the verb, which a refusal names; empty for verbs that a Role may have.
	Role string
}

// String returns "get placements.cluster.open-cluster-management.io standby in namespace team-a", or "create
// managedclustersets.cluster.open-cluster-management.io/bind prod".
func (a Asked) String() string {
	text := a.Verb + " " + a.Resource.GroupResource().String()
	if a.Subresource != "" {
		text += "/" + a.Subresource
	}
	if a.Name != "" {
		text += " " + a.Name
	}
	if a.Namespace != "" {
		text += " in namespace " + a.Namespace
	}
	if a.AllNamespaces {
		text += " in all namespaces"
	}
	return text
}

// complete reports whether the right is one on an object or a kind of a namespace, or on the subresource of an object without one.
func (a Asked) complete() bool {
	switch {
	case a.Resource.Resource == "" || a.Verb == "":
		return false
	case a.AllNamespaces:
		return a.Verb == VerbList && a.Namespace == "" && a.Name == "" && a.Subresource == ""
	case a.Subresource != "":
		return a.Namespace == "" && a.Name != ""
	default:
		return a.Namespace != "" && (a.Name == "") == slices.Contains([]string{VerbList, VerbCreate}, a.Verb)
	}
}

// Authorizer decides what users may do; an error means that the decision is not known.
type Authorizer interface {
	Authorize(ctx context.Context, asked authorizer.Attributes) (authorizer.Decision, string, error)
}

// RefusalError says which rights a user lacks. It is the same whether the objects exist or not.
type RefusalError struct {
	User  string
	Lacks []Asked
}

func (r *RefusalError) Error() string {
	lacks := make([]string, 0, len(r.Lacks))
	var permits, roles []string
	for _, asked := range r.Lacks {
		lacks = append(lacks, asked.String())
		if asked.Role != "" {
			roles = append(roles, asked.Role)
		}
	}

	if len(roles) < len(r.Lacks) {
		permits = append(permits, "a Role with these verbs permits the explanation")
	}
	if len(roles) > 0 {
		permits = append(permits, fmt.Sprintf("a ClusterRoleBinding to %s permits what belongs to no namespace", strings.Join(roles, ", ")))
	}
	return fmt.Sprintf("user %q may not %s; %s", r.User, strings.Join(lacks, ", nor "), strings.Join(permits, ", and "))
}

// Check returns nil if a user may ask about all of the objects, and a *RefusalError if not. Any other error means that it is not known; then nothing
// may be shown.
func Check(ctx context.Context, authority Authorizer, who user.Info, asked ...Asked) error {
	if who == nil || who.GetName() == "" || who.GetName() == user.Anonymous {
		return &RefusalError{User: user.Anonymous, Lacks: asked}
	}
	if len(asked) == 0 {
		return errors.New("the question is about no object")
	}
	var lacks []Asked

	for _, each := range asked {
		if !each.complete() {
			return fmt.Errorf("the question %q does not name an object of a namespace", each)
		}

		decision, err := ask(ctx, authority, authorizer.AttributesRecord{
			User: who, Verb: each.Verb, Namespace: each.Namespace, Name: each.Name, ResourceRequest: true,
			APIGroup: each.Resource.Group, APIVersion: each.Resource.Version, Resource: each.Resource.Resource,
			Subresource: each.Subresource,
		})
		if err != nil {
			return fmt.Errorf("asking the API server whether %s may %s: %w", who.GetName(), each, err)
		}

		if decision != authorizer.DecisionAllow {
			lacks = append(lacks, each)
		}
	}

	if len(lacks) > 0 {
		return &RefusalError{User: who.GetName(), Lacks: lacks}
	}
	return nil
}

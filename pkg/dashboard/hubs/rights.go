// SPDX-License-Identifier: Apache-2.0

package hubs

import (
	"context"
	"fmt"

	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/pkg/explain/access"
)

// ownRights authorizes everybody as the user of the client. It is for answers from the memory of this process, which no request to the API server
// refuses.
type ownRights struct{ client.Client }

var _ access.Authorizer = ownRights{}

// Authorize implements access.Authorizer by a SelfSubjectAccessReview.
func (o ownRights) Authorize(ctx context.Context, asked authorizer.Attributes) (authorizer.Decision, string, error) {
	review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{
		ResourceAttributes: &authorizationv1.ResourceAttributes{
			Namespace: asked.GetNamespace(), Verb: asked.GetVerb(), Group: asked.GetAPIGroup(), Version: asked.GetAPIVersion(),
			Resource: asked.GetResource(), Subresource: asked.GetSubresource(), Name: asked.GetName(),
		},
	}}
	if err := o.Create(ctx, review); err != nil {
		return authorizer.DecisionNoOpinion, "", fmt.Errorf("asking the API server about a right: %w", err)
	}
	if review.Status.Allowed {
		return authorizer.DecisionAllow, "", nil
	}
	return authorizer.DecisionNoOpinion, review.Status.Reason, nil
}

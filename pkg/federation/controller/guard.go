// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"errors"
	"fmt"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/pkg/federation"
	"github.com/placement-hub/placement-hub/pkg/metrics"
)

var errNotDenying = errors.New("the binding does not deny what the policy refuses")

// findGuard finds out whether others may change the works. A hub whose works are unguarded goes on; see federation.View.
func (s *state) findGuard(ctx context.Context, live client.Reader) {
	err := guarded(ctx, live)
	s.unguarded.Store(err != nil)
	metrics.SetFederationWorksUnguarded(err != nil)
	if err != nil {
		klog.FromContext(ctx).Info("WARNING: ManifestWorks of the hub are not guarded: agents may change those of their clusters, so the replicas "+
			"of clusters that are away are planned without them. Apply manifests/federation/works-policy.yaml, and start the hub again",
			"policy", federation.WorksPolicy, "reason", err.Error())
	}
}

// guarded returns an error unless the policy and its binding exist. Where they cannot be read, they count as missing.
func guarded(ctx context.Context, live client.Reader) error {
	name := types.NamespacedName{Name: federation.WorksPolicy}
	if err := live.Get(ctx, name, &admissionv1.ValidatingAdmissionPolicy{}); err != nil {
		return fmt.Errorf("reading the policy: %w", err)
	}
	binding := &admissionv1.ValidatingAdmissionPolicyBinding{}
	if err := live.Get(ctx, name, binding); err != nil {
		return fmt.Errorf("reading the binding: %w", err)
	}

	if !federation.Guards(binding) {
		return errNotDenying
	}
	return nil
}

// SPDX-License-Identifier: Apache-2.0

package suite

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/labels"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// DecisionGetter is the PlacementDecisionGetter of the OCM SDK; it reads from Reader.
type DecisionGetter struct {
	Context context.Context //nolint:containedctx // The interface of the SDK has no place for it.
	Reader  client.Reader
}

// List returns the PlacementDecisions in a namespace that match a selector.
func (d DecisionGetter) List(selector labels.Selector, namespace string) ([]*clusterv1beta1.PlacementDecision, error) {
	list := &clusterv1beta1.PlacementDecisionList{}
	if err := d.Reader.List(d.Context, list, client.InNamespace(namespace), client.MatchingLabelsSelector{Selector: selector}); err != nil {
		return nil, fmt.Errorf("listing PlacementDecisions: %w", err)
	}
	pages := make([]*clusterv1beta1.PlacementDecision, 0, len(list.Items))
	for i := range list.Items {
		pages = append(pages, &list.Items[i])
	}
	return pages, nil
}

// SPDX-License-Identifier: Apache-2.0

package toy

import (
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	inventory "sigs.k8s.io/cluster-inventory-api/apis/v1alpha1"
	"sigs.k8s.io/cluster-inventory-api/client/clientset/versioned"

	"github.com/placement-hub/placement-hub/conformance"
)

var errUnknown = errors.New("unknown ClusterProfile")

// Consumer serves the clusters of one decision. It is a conformance.ConsumerDriver.
type Consumer struct {
	// Client reads the slices and the profiles.
	Client versioned.Interface
	// Breaks is the rule that the consumer breaks; empty for none.
	Breaks string

	decision conformance.Decision
}

var _ conformance.ConsumerDriver = (*Consumer)(nil)

// Follow has the consumer follow a decision.
func (c *Consumer) Follow(_ context.Context, decision conformance.Decision) error {
	c.decision = decision
	return nil
}

// Targets returns the profiles that exist of those that the slices of the decision name.
func (c *Consumer) Targets(ctx context.Context) ([]conformance.ProfileRef, error) {
	list, err := c.Client.ApisV1alpha1().PlacementDecisions(c.decision.Namespace).List(ctx, metav1.ListOptions{
		LabelSelector: inventory.DecisionKeyLabel + "=" + c.decision.Key,
	})
	if err != nil {
		return nil, fmt.Errorf("list PlacementDecisions: %w", err)
	}
	named := map[conformance.ProfileRef]int{}
	for i := range list.Items {
		if !c.counts(&list.Items[i]) {
			continue
		}
		for profile := range conformance.Union(list.Items[i : i+1]) {
			named[profile]++
		}
	}

	var targets []conformance.ProfileRef
	for profile, times := range named {
		_, err := c.Client.ApisV1alpha1().ClusterProfiles(profile.Namespace).Get(ctx, profile.Name, metav1.GetOptions{})
		switch {
		case apierrors.IsNotFound(err) && c.Breaks == conformance.RuleUnknownProfile:
			return nil, fmt.Errorf("%w: %s", errUnknown, profile)
		case apierrors.IsNotFound(err), times > 1 && c.Breaks == conformance.RuleMove:
		case err != nil:
			return nil, fmt.Errorf("read ClusterProfile %s: %w", profile, err)
		default:
			targets = append(targets, profile)
		}
	}
	return targets, nil
}

// counts reports whether a slice with the key of the decision is one of it.
func (c *Consumer) counts(slice *inventory.PlacementDecision) bool {
	if _, labelled := slice.Labels[inventory.DecisionIndexLabel]; !labelled && c.Breaks == conformance.RuleUnion {
		return false
	}
	return slice.SchedulerName == c.decision.SchedulerName || c.Breaks == conformance.RuleOtherScheduler
}

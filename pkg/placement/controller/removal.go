// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"errors"
	"strings"
	"time"

	"k8s.io/client-go/util/workqueue"

	"github.com/placement-hub/placement-hub/pkg/hub/freshness"
	"github.com/placement-hub/placement-hub/pkg/inventory"
	"github.com/placement-hub/placement-hub/pkg/metrics"
	"github.com/placement-hub/placement-hub/pkg/placement"
	"github.com/placement-hub/placement-hub/pkg/scheduling"
)

const (
	// firstPostponed and longestPostponed bound the backoff of a removal that could not be proved.
	firstPostponed   = time.Second
	longestPostponed = 30 * time.Second
	// provingAttempts is how often one reconcile proves a result while the objects that decide about it keep changing.
	provingAttempts = 5
)

// removals proves that the view is fresh before a result removes clusters (docs/spec/differences.md B10).
type removals struct {
	checker *freshness.Checker
	backoff workqueue.TypedRateLimiter[inventory.Key]
}

func newRemovals(checker *freshness.Checker) removals {
	return removals{
		checker: checker,
		backoff: workqueue.NewTypedItemExponentialFailureRateLimiter[inventory.Key](firstPostponed, longestPostponed),
	}
}

// postponement returns the reason and message for users. They name no object and no version, so that they do not change with every attempt.
func postponement(err error) scheduling.Postponement {
	behind, ok := errors.AsType[*freshness.BehindError](err)
	switch {
	case errors.Is(err, freshness.ErrHistoryLost):
		return scheduling.Postponement{
			Reason:  placement.ReasonWatchBehind,
			Message: "Clusters would leave the decisions. They stay, because " + freshness.ErrHistoryLost.Error(),
		}
	case !ok:
		return scheduling.Postponement{
			Reason: placement.ReasonReadFailed,
			Message: "Clusters would leave the decisions. They stay, because the API server could not be asked whether the hub has its latest " +
				"state: " + placement.Cause(err),
		}
	}

	resources := "what decides about them"
	if len(behind.Objects) > 0 {
		resources = strings.Join(behind.Resources(), ", ")
	}
	return scheduling.Postponement{
		Reason: placement.ReasonWatchBehind,
		Message: "Clusters would leave the decisions. They stay, because the watches of the hub have not shown the latest state of " + resources +
			" yet",
	}
}

func proofResult(err error) metrics.Proof {
	_, behind := errors.AsType[*freshness.BehindError](err)
	switch {
	case err == nil:
		return metrics.ProofFresh
	case behind, errors.Is(err, freshness.ErrObjectChanged), errors.Is(err, freshness.ErrViewChanged):
		return metrics.ProofBehind
	default:
		return metrics.ProofFailed
	}
}

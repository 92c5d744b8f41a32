package placement

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/placement-hub/placement-hub/pkg/controller/freshness"
	"github.com/placement-hub/placement-hub/pkg/decision"
	"github.com/placement-hub/placement-hub/pkg/decision/api"
	"github.com/placement-hub/placement-hub/pkg/inventory"
	"github.com/placement-hub/placement-hub/pkg/metrics"
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

// newChecker returns a Checker that reads from the API server of a manager. Its reads are not rate limited: they are few, and each delays a
// removal.
func newChecker(mgr manager.Manager, observed *freshness.Observed) (*freshness.Checker, error) {
	config := rest.CopyConfig(mgr.GetConfig())
	config.QPS, config.Burst, config.RateLimiter = -1, 0, nil

	api, err := metadata.NewForConfigAndClient(config, mgr.GetHTTPClient())
	if err != nil {
		return nil, fmt.Errorf("preparing to read metadata: %w", err)
	}

	return freshness.New(api, observed), nil
}

// proved returns a result of find that removes no cluster, or that was computed on the latest state of everything that decides about the
// removed clusters. If that cannot be proved, it returns the postponed result. The error is freshness.ErrPlacementChanged when the
// Placement has to be read again.
func (r *reconciler) proved(
	ctx context.Context, placement *api.Placement, existing decision.Existing, now time.Time, find func() *scheduling.Result,
) (*scheduling.Result, error) {
	for attempt := 1; ; attempt++ {
		shown := r.state.observed.Now()
		result := find()

		removal, removes := removalOf(placement, existing, result)
		if !removes {
			r.removals.backoff.Forget(placement.Key())

			return result, nil
		}

		begin := r.clock.Now()
		proof, err := r.removals.checker.Prove(ctx, removal)
		metrics.ObserveProof(proofResult(err), r.clock.Since(begin))

		switch {
		case errors.Is(err, freshness.ErrPlacementChanged):
			return nil, err
		case err != nil:
			klog.FromContext(ctx).V(2).Info("Clusters would leave the decisions, but the view of the hub may be old; they stay",
				"reason", err.Error(), "clusters", len(removal.Clusters))

			return result.Postpone(postponement(err), now.Add(r.removals.backoff.When(placement.Key()))), nil
		case proof.Covers(removal) && (r.state.inventory.Generation() == result.Generation || proof.UnchangedSince(shown)):
			r.removals.backoff.Forget(placement.Key())

			return result, nil
		case attempt == provingAttempts:
			return result.Postpone(postponement(&freshness.BehindError{}), now.Add(r.removals.backoff.When(placement.Key()))), nil
		}
	}
}

// removalOf returns the removal that a result leads to; false if it removes no cluster.
func removalOf(placement *api.Placement, existing decision.Existing, result *scheduling.Result) (freshness.Removal, bool) {
	clusters := decision.AffectedByRemoval(result, existing)
	if len(clusters) == 0 {
		return freshness.Removal{}, false
	}

	return freshness.Removal{
		Placement: placementObject(placement), Meta: placement.ObjectMeta, ClusterSets: result.Request.ClusterSets, Clusters: clusters,
		Scores: result.Request.ReadsScores(),
	}, true
}

// placementObject returns the Placement as an object of the API server.
func placementObject(placement *api.Placement) freshness.Object {
	return freshness.Object{Resource: placements(placement.API), NamespacedName: keyOf(placement)}
}

// postponement returns the reason and message for users. They name no object and no version, so that they do not change with every attempt.
func postponement(err error) scheduling.Postponement {
	behind, ok := errors.AsType[*freshness.BehindError](err)
	if !ok {
		return scheduling.Postponement{
			Reason: decision.ReasonReadFailed,
			Message: "Clusters would leave the decisions. They stay, because the API server could not be asked whether the hub has its latest " +
				"state: " + decision.Cause(err),
		}
	}

	resources := "what decides about them"
	if len(behind.Objects) > 0 {
		resources = strings.Join(behind.Resources(), ", ")
	}

	return scheduling.Postponement{
		Reason: decision.ReasonWatchBehind,
		Message: "Clusters would leave the decisions. They stay, because the watches of the hub have not shown the latest state of " + resources +
			" yet",
	}
}

func proofResult(err error) metrics.Proof {
	_, behind := errors.AsType[*freshness.BehindError](err)

	switch {
	case err == nil:
		return metrics.ProofFresh
	case behind, errors.Is(err, freshness.ErrPlacementChanged):
		return metrics.ProofBehind
	default:
		return metrics.ProofFailed
	}
}

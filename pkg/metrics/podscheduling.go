// SPDX-License-Identifier: Apache-2.0

package metrics

var (
	podSchedulingReviews = counters("kupid_aggr_requests_total",
		"Reviews of workloads and of pod scheduling policies, by type: processed counts all, allowed and denied their responses, mutated those "+
			"with a patch, and error those that failed or met an invalid policy.", "type")

	reviewsProcessed, reviewsAllowed = podSchedulingReviews.WithLabelValues("processed"), podSchedulingReviews.WithLabelValues("allowed")
	reviewsDenied, reviewsMutated    = podSchedulingReviews.WithLabelValues("denied"), podSchedulingReviews.WithLabelValues("mutated")
	reviewsFailed                    = podSchedulingReviews.WithLabelValues("error")

	// PodSchedulingSkips counts what pod scheduling policies did not inject, by reason.
	PodSchedulingSkips = counters(hub+"podscheduling_skips_total",
		"Fields of pod scheduling policies that were not injected into a workload that matched, by reason: Conflict, SchedulingGates, "+
			"DaemonSetPod, TooManyTerms, EmptyTerms, MatchesNothing, Invalid; and reviews without the policies of a namespace: "+
			"NamespaceBusy.", "reason")
)

// ObservePodSchedulingReview records the response to the review of a workload or of a pod scheduling policy. It is safe for concurrent use.
func ObservePodSchedulingReview(allowed, mutated, failed bool) {
	reviewsProcessed.Inc()
	if allowed {
		reviewsAllowed.Inc()
	} else {
		reviewsDenied.Inc()
	}
	if mutated {
		reviewsMutated.Inc()
	}

	if failed {
		reviewsFailed.Inc()
	}
}

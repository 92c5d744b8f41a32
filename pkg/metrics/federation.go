// SPDX-License-Identifier: Apache-2.0

package metrics

var (
	federationEvaluations = counters(hub+"federation_evaluations_total",
		"Evaluations of federated objects by result: changed, unchanged, outdated or error.", "result")

	federationWrites = counters(hub+"federation_writes_total",
		"Requests for federated objects by kind (apply, patch or delete a ManifestWork, or the finalizer of an object) and by result (ok, error, "+
			"or outdated: it is retried quietly).", "kind", "result")

	federationWorksUnguarded = gauge(hub+"federation_works_unguarded",
		"1 if the policy that guards the ManifestWorks of the hub, or its binding, was missing at the start; 0 otherwise.")
)

// SetFederationWorksUnguarded reports whether others may change the ManifestWorks of the hub. It is safe for concurrent use.
func SetFederationWorksUnguarded(unguarded bool) {
	if unguarded {
		federationWorksUnguarded.Set(1)
	} else {
		federationWorksUnguarded.Set(0)
	}
}

// ObserveFederationEvaluation counts an evaluation of a federated object. It is safe for concurrent use.
func ObserveFederationEvaluation(outcome Outcome) {
	federationEvaluations.WithLabelValues(outcomes[outcome]).Inc()
}

// ObserveFederationWrite counts a request for a federated object. It is safe for concurrent use.
func ObserveFederationWrite(kind string, result Result) {
	federationWrites.WithLabelValues(kind, results[result]).Inc()
}

// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"time"
)

// proofBuckets range from a few GETs of a nearby API server to a request that times out, in seconds.
var proofBuckets = []float64{1e-3, 2.5e-3, 5e-3, 10e-3, 25e-3, 50e-3, 0.1, 0.25, 0.5, 1, 2.5, 5, 10}

var proofDurations = histograms(hub+"removal_check_duration_seconds",
	"How long it took to compare what decides about a removal with the API server, in seconds, by result: fresh (the removal is carried out), "+
		"behind (the API server shows later versions than the watches of the hub; the clusters stay) or error (it could not be asked; the clusters "+
		"stay).", proofBuckets, "result")

// Proof is the result of comparing a view with the API server.
type Proof string

// The values of Proof.
const (
	ProofFresh  Proof = "fresh"
	ProofBehind Proof = "behind"
	ProofFailed Proof = "error"
)

// ObserveProof records a comparison of a view with the API server, and its duration. It is safe for concurrent use.
func ObserveProof(outcome Proof, d time.Duration) {
	proofDurations.WithLabelValues(string(outcome)).Observe(d.Seconds())
}

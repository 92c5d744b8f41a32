// SPDX-License-Identifier: Apache-2.0

package metrics

// Verdict is the answer to a review of admission.
type Verdict string

// The values of Verdict.
const (
	// VerdictAllowed and VerdictWarned admit the object, and VerdictWarned says something about it.
	VerdictAllowed Verdict = "allowed"
	VerdictWarned  Verdict = "warned"
	// VerdictDenied refuses an object that breaks a rule, and VerdictError one about which something could not be read.
	VerdictDenied Verdict = "denied"
	VerdictError  Verdict = "error"
)

var classReviews = counters(hub+"affinityclass_reviews_total",
	"Reviews of admission for AffinityClasses, by the path of the webhook (of Pods, Tenants or applications) and by verdict: allowed, warned "+
		"(allowed with a warning), denied (a rule is broken), error (refused because something could not be read).",
	"path", "verdict")

// CountClassReview counts a review of admission at a path of the webhook for AffinityClasses. It is safe for concurrent use.
func CountClassReview(path string, verdict Verdict) {
	classReviews.WithLabelValues(path, string(verdict)).Inc()
}

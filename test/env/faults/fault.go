// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"net/http"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Fault is a way to break a request.
type Fault string

// The faults.
const (
	// TooManyRequests responds with 429 and a Retry-After of one second.
	TooManyRequests Fault = "429"
	// InternalError responds with 500.
	InternalError Fault = "500"
	// Unavailable responds with 503.
	Unavailable Fault = "503"
	// Invalid responds with 422, as admission does to an object that breaks a rule.
	Invalid Fault = "422"
	// Timeout responds with 504, as an API server that waits for etcd in vain.
	Timeout Fault = "504"
	// Conflict responds with 409, as after a concurrent write.
	Conflict Fault = "409"
	// Hang does not respond until the client gives up, or until the rule ends and the connection is dropped.
	Hang Fault = "hang"
	// Stall responds with 200 and a header, and then as Hang.
	Stall Fault = "stall"
	// Reset drops the connection without forwarding the request.
	Reset Fault = "reset"
	// Lost forwards the request and drops the connection instead of the response.
	Lost Fault = "lost"
	// Delay forwards the request and delays the response until the rule ends. An open watch stays open: its events wait, while those of
	// other watches pass.
	Delay Fault = "delay"
	// Gone responds with 410 to requests with a resourceVersion, as if it had been compacted. The client has to start again without one,
	// and such requests pass.
	Gone Fault = "410"
)

// statuses are the responses of the faults that respond.
var statuses = map[Fault]struct {
	code   int
	reason metav1.StatusReason
}{
	TooManyRequests: {http.StatusTooManyRequests, metav1.StatusReasonTooManyRequests},
	InternalError:   {http.StatusInternalServerError, metav1.StatusReasonInternalError},
	Unavailable:     {http.StatusServiceUnavailable, metav1.StatusReasonServiceUnavailable},
	Invalid:         {http.StatusUnprocessableEntity, metav1.StatusReasonInvalid},
	Timeout:         {http.StatusGatewayTimeout, metav1.StatusReasonTimeout},
	Conflict:        {http.StatusConflict, metav1.StatusReasonConflict},
	Gone:            {http.StatusGone, metav1.StatusReasonExpired},
}

// Request is a request of a client. Namespace and Name are empty if the request has none.
type Request struct {
	// Verb is get, list, watch, create, update, patch, delete or deletecollection.
	Verb string
	// Resource is the plural of the kind, with its subresource after a slash: "placements/status".
	Resource        string
	Namespace, Name string
	// Resumed reports that a watch continues from a resourceVersion and does not begin with the existing objects.
	Resumed bool
	// Metadata reports that the request accepts PartialObjectMetadata.
	Metadata bool
	// Since is the resourceVersion from which a list or a watch continues. It is empty for "0", which any version satisfies.
	Since string
}

// Match selects requests. Empty fields match every request.
type Match struct {
	Verbs, Resources []string
	Namespace        string
	// Names are names of objects; a list, a watch and a create have none.
	Names []string
}

// Matches reports whether the request is selected.
func (m Match) Matches(r Request) bool {
	return (len(m.Verbs) == 0 || slices.Contains(m.Verbs, r.Verb)) &&
		(len(m.Resources) == 0 || slices.Contains(m.Resources, r.Resource)) &&
		(m.Namespace == "" || m.Namespace == r.Namespace) &&
		(len(m.Names) == 0 || slices.Contains(m.Names, r.Name))
}

// Rule breaks the requests that match.
type Rule struct {
	Match

	Fault Fault
	// After is the number of matching requests that pass first.
	After int
	// Then is the fault of all matching requests after the first broken one, unless it is empty.
	Then Fault
}

// breaks reports whether the rule applies to the request.
func (r Rule) breaks(request Request) bool {
	return r.Matches(request) && (r.Fault != Gone || request.Since != "")
}

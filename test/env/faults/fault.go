package faults

import (
	"net/http"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Fault is what happens to a request.
type Fault string

// The faults.
const (
	// TooManyRequests answers 429 with a Retry-After of one second, after which the client may try again.
	TooManyRequests Fault = "429"
	// InternalError answers 500.
	InternalError Fault = "500"
	// Unavailable answers 503.
	Unavailable Fault = "503"
	// Conflict answers 409, as if somebody else had been faster.
	Conflict Fault = "409"
	// Hang answers nothing until the client gives up, or the rule ends and the connection is dropped.
	Hang Fault = "hang"
	// Reset drops the connection; nothing is carried out.
	Reset Fault = "reset"
	// Lost has the request carried out and drops the connection instead of the answer.
	Lost Fault = "lost"
	// Delay has the request carried out and holds the answer back until the rule ends. A watch that is open stays open: its events wait,
	// while those of other watches pass.
	Delay Fault = "delay"
	// Gone answers 410 to requests that name a resourceVersion, as if it had been compacted. A client has to begin anew without one, which
	// passes.
	Gone Fault = "410"
)

// statuses are what the faults that answer say.
var statuses = map[Fault]struct {
	code   int
	reason metav1.StatusReason
}{
	TooManyRequests: {http.StatusTooManyRequests, metav1.StatusReasonTooManyRequests},
	InternalError:   {http.StatusInternalServerError, metav1.StatusReasonInternalError},
	Unavailable:     {http.StatusServiceUnavailable, metav1.StatusReasonServiceUnavailable},
	Conflict:        {http.StatusConflict, metav1.StatusReasonConflict},
	Gone:            {http.StatusGone, metav1.StatusReasonExpired},
}

// Request is what a client asked for. An empty Namespace or Name is none.
type Request struct {
	// Verb is get, list, watch, create, update, patch, delete or deletecollection.
	Verb string
	// Resource is the plural of the kind, with its subresource after a slash: "placements/status".
	Resource        string
	Namespace, Name string
	// Resumed says that a watch goes on from where another one ended, and does not begin with everything that there is.
	Resumed bool
	// Metadata says that the metadata of the objects is enough for the answer.
	Metadata bool
	// Since is the resourceVersion that a list or a watch goes on from. It is empty for "0", which any version satisfies.
	Since string
}

// Match says which requests are meant. What is empty matches everything.
type Match struct {
	Verbs, Resources []string
	Namespace        string
}

// Matches reports whether the request is meant.
func (m Match) Matches(r Request) bool {
	return (len(m.Verbs) == 0 || slices.Contains(m.Verbs, r.Verb)) &&
		(len(m.Resources) == 0 || slices.Contains(m.Resources, r.Resource)) &&
		(m.Namespace == "" || m.Namespace == r.Namespace)
}

// Rule breaks requests.
type Rule struct {
	Match

	Fault Fault
	// After lets so many matching requests pass first.
	After int
}

// breaks reports whether the rule is for the request.
func (r Rule) breaks(request Request) bool {
	return r.Matches(request) && (r.Fault != Gone || request.Since != "")
}

// SPDX-License-Identifier: Apache-2.0

package debug

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"time"

	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/klog/v2"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/placement-hub/placement-hub/pkg/explain"
	"github.com/placement-hub/placement-hub/pkg/explain/hubstate/statefile"
	"github.com/placement-hub/placement-hub/pkg/inventory"
	"github.com/placement-hub/placement-hub/pkg/placement"
	"github.com/placement-hub/placement-hub/pkg/placement/api"
	"github.com/placement-hub/placement-hub/pkg/selector"
)

// Path is the path at which the handler is mounted.
const Path = "/debug/placements/"

const (
	// maxConcurrent bounds concurrent evaluations, so that requests do not starve the controllers.
	maxConcurrent = 2
	// retryAfter is the Retry-After header, in seconds.
	retryAfter = "2"
)

// Hub has the current state of the hub. It is safe for concurrent use.
type Hub interface {
	// Serves reports whether the Placements of an API are watched.
	Serves(adapter api.Adapter) bool
	// Synced reports whether the caches are in sync; until then no other method but Serves is called.
	Synced() bool
	// Placement returns the Placement of a key; nil when there is none.
	Placement(ctx context.Context, key inventory.Key) (*api.Placement, error)
	// Present returns the existing decisions of a Placement, which may differ from the one on the hub.
	Present(ctx context.Context, placement *api.Placement) (placement.Existing, error)
	// Snapshot returns the current snapshot of the inventory.
	Snapshot() *inventory.Snapshot
	// Options returns the options of the hub, as far as they are known.
	Options() placement.Options
}

// Access authorizes users; an error means that the decision is not known. It is safe for concurrent use.
type Access interface {
	Authorize(ctx context.Context, asked authorizer.Attributes) (authorizer.Decision, string, error)
}

// Handler serves evaluations of Placements. It is safe for concurrent use.
type Handler struct {
	hub       Hub
	access    Access
	admission func() (*statefile.Admission, error)
	now       func() time.Time
	semaphore chan struct{}
}

var _ http.Handler = (*Handler)(nil)

// New returns a Handler. access authorizes the user in the context of a request, and admission, which is called for each POST, returns the
// validation of posted Placements. All of them must be safe for concurrent use.
func New(hub Hub, access Access, admission func() (*statefile.Admission, error), now func() time.Time) *Handler {
	return &Handler{hub: hub, access: access, admission: admission, now: now, semaphore: make(chan struct{}, maxConcurrent)}
}

// ServeHTTP serves GET and POST. Every response is a Response in JSON, errors included.
func (h *Handler) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	response, err := h.serve(w, req)
	if err == nil {
		write(w, req, http.StatusOK, response)
		return
	}
	refused := &statusError{code: http.StatusInternalServerError, err: errors.New("the hub could not be asked; try again, or see the log of the hub")}
	if !errors.As(err, &refused) {
		klog.FromContext(req.Context()).Error(err, "Cannot answer a question about a placement", "method", req.Method, "path", req.URL.Path)
	}

	switch refused.code {
	case http.StatusMethodNotAllowed:
		w.Header().Set("Allow", http.MethodGet+", "+http.MethodPost)
	case http.StatusServiceUnavailable:
		w.Header().Set("Retry-After", retryAfter)
	}
	write(w, req, refused.code, &Response{Error: refused.Error()})
}

func write(w http.ResponseWriter, req *http.Request, code int, response *Response) {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(response); err != nil {
		klog.FromContext(req.Context()).Error(err, "Cannot encode an answer", "path", req.URL.Path)
		http.Error(w, "the answer cannot be encoded", http.StatusInternalServerError)
		return
	}

	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(code)
	if _, err := text.WriteTo(w); err != nil {
		klog.FromContext(req.Context()).V(4).Info("Nobody took the answer", "path", req.URL.Path, "err", err)
	}
}

func (h *Handler) serve(w http.ResponseWriter, req *http.Request) (*Response, error) {
	if req.Method != http.MethodGet && req.Method != http.MethodPost {
		return nil, newStatusError(http.StatusMethodNotAllowed, "method %s: use GET for a placement of the hub, or POST to send one", req.Method)
	}
	caller, known := request.UserFrom(req.Context())
	if !known {
		return nil, newStatusError(http.StatusUnauthorized, "send a bearer token that the hub's API server accepts")
	}

	adapter, err := apiOf(req)
	if err != nil {
		return nil, err
	}
	if req.Method == http.MethodGet {
		return h.get(req, caller, adapter)
	}
	return h.post(w, req, caller, adapter)
}

// get evaluates a Placement of the hub.
func (h *Handler) get(req *http.Request, caller user.Info, adapter api.Adapter) (*Response, error) {
	ctx := req.Context()

	key, err := keyOf(adapter, req.URL.Path)
	if err != nil {
		return nil, err
	}
	if err := h.authorize(ctx, caller, "get", key); err != nil {
		return nil, err
	}
	if err := h.checkReady(adapter); err != nil {
		return nil, err
	}

	leave, err := h.acquire(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	placement, err := h.hub.Placement(ctx, key)
	if err != nil {
		return nil, err
	}

	if placement == nil {
		return nil, newStatusError(http.StatusNotFound,
			"there is no Placement %s; check its namespace, its name and its API (?%s=GROUP), or send one by POST to %s", key, apiParameter, Path)
	}
	existing, err := h.hub.Present(ctx, placement)
	if err != nil {
		return nil, err
	}
	return h.evaluate(existing, placement)
}

// post evaluates a posted Placement.
func (h *Handler) post(w http.ResponseWriter, req *http.Request, caller user.Info, adapter api.Adapter) (*Response, error) {
	ctx := req.Context()

	proposed, err := readPosted(w, req, adapter)
	if err != nil {
		return nil, err
	}

	// Authorization of a create has no name.
	if err := h.authorize(ctx, caller, "create", inventory.NewPlacementKey(proposed.key.API(), proposed.key.Namespace, "")); err != nil {
		return nil, err
	}
	placement, err := h.admit(proposed)
	if err != nil {
		return nil, err
	}
	if err := h.checkReady(proposed.api); err != nil {
		return nil, err
	}

	leave, err := h.acquire(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	live, note, err := h.readLive(ctx, caller, placement)
	if err != nil {
		return nil, err
	}

	existing, err := h.incumbents(ctx, placement, live)
	if err != nil {
		return nil, err
	}
	response, err := h.evaluate(existing, live)
	if err != nil {
		return nil, err
	}

	if note != "" {
		response.Warnings = append(response.Warnings, note)
	}
	return response, nil
}

// admit validates a posted Placement and fills in its defaults. The Placement need not have a name.
func (h *Handler) admit(proposed *postedPlacement) (*api.Placement, error) {
	admission, err := h.admission()
	if err != nil {
		return nil, err
	}
	unnamed := proposed.key.Name == ""
	if metadata, _ := proposed.object["metadata"].(map[string]any); unnamed && (metadata["name"] == nil || metadata["name"] == "") {
		metadata["name"] = "unnamed"
	}

	placement, err := admission.Placement(proposed.api, proposed.object)
	if err != nil {
		return nil, &statusError{code: http.StatusBadRequest, err: err}
	}
	if unnamed {
		placement.Object.SetName("")
		placement = proposed.api.Read(placement.Object)
	}
	return placement, nil
}

// readLive returns the Placement of the same name on the hub; nil when there is none. A caller who may not get it gets nil and a note, so
// that its existence is not disclosed.
func (h *Handler) readLive(ctx context.Context, caller user.Info, placement *api.Placement) (*api.Placement, string, error) {
	if placement.Name == "" {
		return nil, "", nil
	}
	key := placement.Key()
	if err := h.authorize(ctx, caller, "get", key); err != nil {
		if refused := (*statusError)(nil); errors.As(err, &refused) {
			return nil, "present decisions are not looked at: " + refused.Error(), nil
		}
		return nil, "", err
	}

	live, err := h.hub.Placement(ctx, key)
	return live, "", err
}

// incumbents copies UID, generation and status of the live Placement to a posted one, and returns its existing decisions. The posted status
// is ignored.
func (h *Handler) incumbents(ctx context.Context, p, live *api.Placement) (placement.Existing, error) {
	if live == nil {
		// A created Placement has generation 1.
		p.UID, p.Generation, p.Status = "", 1, api.Status{}
		return placement.NewExisting(p.API.Codec(), p, nil), nil
	}

	// The removal budget does not block what a changed spec excludes, which has the next generation.
	generation, err := statefile.Generation(p.Object, live.Object)
	if err != nil {
		return placement.Existing{}, fmt.Errorf("comparing Placement %s with the one on the hub: %w", p.Key(), err)
	}
	p.UID, p.Generation, p.Status = live.UID, generation, live.Status
	existing, err := h.hub.Present(ctx, p)
	if err == nil && existing.Before == nil {
		existing.Before = existing.RequestBefore(live, selector.NewCompiler())
	}
	return existing, err
}

// authorize returns an error with status 403 when the caller may not use the verb on Placements.
func (h *Handler) authorize(ctx context.Context, caller user.Info, verb string, key inventory.Key) error {
	allowed, reason, err := h.access.Authorize(ctx, authorizer.AttributesRecord{
		User: caller, Verb: verb, Namespace: key.Namespace, Name: key.Name, ResourceRequest: true,
		APIGroup: string(key.API()), APIVersion: api.Of(key).Kind().Version, Resource: "placements",
	})
	if err != nil {
		return fmt.Errorf("asking the API server whether %s may %s placements in namespace %s: %w", caller.GetName(), verb, key.Namespace, err)
	}
	if allowed == authorizer.DecisionAllow {
		return nil
	}

	klog.FromContext(ctx).V(2).Info("Refused a question about a placement", "user", caller.GetName(), "verb", verb,
		"placement", klog.KRef(key.Namespace, key.Name), "reason", reason)
	named := ""
	if key.Name != "" {
		named = " " + key.Name
	}
	return newStatusError(http.StatusForbidden,
		"user %q does not have permission to %s placements%s of %s in namespace %s; a Role with that verb grants it",
		caller.GetName(), verb, named, key.API(), key.Namespace)
}

// checkReady returns an error while no result is available.
func (h *Handler) checkReady(adapter api.Adapter) error {
	switch {
	case !h.hub.Serves(adapter):
		return newStatusError(http.StatusBadRequest, "placements of %s are not served here: see the flag --controllers of the hub", adapter.Name())
	case !h.hub.Synced():
		return newStatusError(http.StatusServiceUnavailable, "the hub has not read everything yet; ask again in some seconds")
	default:
		return nil
	}
}

// acquire waits for one of maxConcurrent evaluations; leave releases it.
func (h *Handler) acquire(ctx context.Context) (leave func(), err error) {
	select {
	case h.semaphore <- struct{}{}:
		return func() { <-h.semaphore }, nil
	case <-ctx.Done():
		return nil, newStatusError(http.StatusServiceUnavailable, "others are being answered; ask again in some seconds")
	}
}

// evaluate evaluates a Placement. A compiler of its own keeps posted expressions out of the cache of the hub. live is the Placement on the
// hub; nil when there is none.
func (h *Handler) evaluate(existing placement.Existing, live *api.Placement) (*Response, error) {
	asked, options := existing.Placement, h.hub.Options()
	_, skipped := asked.Managed()
	existing.Placement = asManaged(asked)
	evaluation := explain.Evaluate(asked.Request(selector.NewCompiler()), h.hub.Snapshot(), existing, options, h.now())
	evaluation.Placement, evaluation.Skipped = asked, skipped
	if live != nil {
		evaluation.LimitUnknown = evaluation.LimitUnknown || options.Limit.Forgotten(live.RemovalSubject(), asked.RemovalSubject())
	}
	return newResponse(evaluation)
}

// asManaged returns a Placement as if the hub had to schedule it, so that it has a result.
func asManaged(placement *api.Placement) *api.Placement {
	if is, _ := placement.Managed(); is {
		return placement
	}
	other := *placement
	other.DeletionTimestamp = nil
	other.Annotations = maps.Clone(placement.Annotations)
	delete(other.Annotations, clusterv1beta1.PlacementDisableAnnotation)
	return &other
}

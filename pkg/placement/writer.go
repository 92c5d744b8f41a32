// SPDX-License-Identifier: Apache-2.0

package placement

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/pkg/placement/api"
)

// Action is a kind of request of the Writer.
type Action string

// The actions. ActionUpdateDecisions follows ActionCreate, because an API server drops the status of a created object.
const (
	ActionCreate          Action = "create"
	ActionUpdateMetadata  Action = "update_metadata"
	ActionUpdateDecisions Action = "update_decisions"
	ActionDelete          Action = "delete"
	// ActionTouch changes only the resourceVersion of a page.
	ActionTouch Action = "touch"
)

// Observer is called after every request. The page is the response of the API server, or the desired page when err is set.
type Observer func(action Action, page *api.Page, err error)

// Writer applies plans. Every request except a creation has the planned uid and resourceVersion as preconditions, so that the API server
// rejects a plan that was made on an old view. It stops at the first error and returns it.
type Writer struct {
	// Client sends the requests.
	Client client.Client
	// Proceed is called before each write. The parameter loses reports whether the write takes clusters off a page. An error ends the plan. Without
	// Proceed, no plan ends early.
	Proceed func(ctx context.Context, loses bool) error
	// Timeout bounds each request; 0 means that the context alone does.
	Timeout time.Duration
}

// bounded returns the context of a request.
func (w Writer) bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	if w.Timeout == 0 {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, w.Timeout)
}

// Written has the last response for every written page, by name.
type Written map[string]*api.Page

// Write sends the writes of a plan in their order and returns the written pages, also with an error.
func (w Writer) Write(ctx context.Context, plan Plan, observe Observer) (Written, error) {
	written := Written{}
	for _, write := range plan.Writes {
		if err := w.write(ctx, plan.Codec, write, written, observe); err != nil {
			return written, err
		}
	}
	return written, nil
}

// request is a request for a page.
type request struct {
	action      Action
	verb        string
	body        map[string]any // nil: the page is created
	subresource string         // the subresource that the body is for
}

// requests returns the requests of a write. If the decisions are not in a subresource, there is only one.
func requests(codec api.Codec, write Write) []request {
	metadata := map[string]any{"labels": write.Desired.Labels, "ownerReferences": write.Desired.OwnerReferences}
	if len(write.Desired.Annotations) > 0 {
		metadata["annotations"] = write.Desired.Annotations
	}
	inline := codec.Subresource() == ""
	var requests []request

	switch {
	case write.Create:
		requests = append(requests, request{action: ActionCreate, verb: "creating"})
	case write.Touch:
		confirmation := map[string]any{"annotations": write.Desired.Annotations}
		requests = append(requests, request{action: ActionTouch, verb: "touching", body: map[string]any{"metadata": confirmation}})
	case write.UpdateMetadata:
		requests = append(requests, request{
			action: ActionUpdateMetadata, verb: "updating labels and owners of", body: map[string]any{"metadata": metadata},
		})
	}

	switch {
	case !write.UpdateDecisions || inline && write.Create:
	case inline && write.UpdateMetadata:
		requests[0].action = ActionUpdateDecisions
		requests[0].body = codec.Body(write.Desired.Decisions)
		requests[0].body["metadata"] = metadata
	default:
		requests = append(requests, request{
			action: ActionUpdateDecisions, verb: "writing the decisions of",
			body: codec.Body(write.Desired.Decisions), subresource: codec.Subresource(),
		})
	}

	return requests
}

func (w Writer) write(ctx context.Context, codec api.Codec, write Write, written Written, observe Observer) error {
	current := write.Current
	if last := written[write.Desired.Name]; last != nil {
		current = last
	}
	if err := w.proceed(ctx, write.loses()); err != nil {
		return err
	}

	if write.Delete {
		return w.delete(ctx, codec, current, observe)
	}
	for _, request := range requests(codec, write) {
		page, err := w.send(ctx, codec, request, current, write.Desired)
		observe(request.action, page, err)
		if err != nil {
			return newPageError(request.verb, page, err)
		}
		current, written[page.Name] = page, page
	}

	return nil
}

// send sends a request and returns the resulting page, or the desired page with an error. It decodes the response into an empty object, so
// that no field of the old object stays.
func (w Writer) send(ctx context.Context, codec api.Codec, request request, current, desired *api.Page) (*api.Page, error) {
	ctx, cancel := w.bounded(ctx)
	defer cancel()
	if request.body == nil {
		object := codec.Write(desired)
		if err := w.Client.Create(ctx, object); err != nil {
			return desired, err //nolint:wrapcheck // Wrapped by the caller, who knows what it was for.
		}
		return codec.Read(object), nil
	}

	metadata, ok := request.body["metadata"].(map[string]any)
	if !ok {
		metadata = map[string]any{}
		request.body["metadata"] = metadata
	}
	metadata["uid"], metadata["resourceVersion"] = current.UID, current.ResourceVersion

	data, err := json.Marshal(request.body)
	if err != nil {
		return desired, fmt.Errorf("encoding the patch: %w", err)
	}
	kind, err := w.Client.GroupVersionKindFor(codec.Empty())
	if err != nil {
		return desired, fmt.Errorf("finding the kind of %T: %w", codec.Empty(), err)
	}
	response := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Namespace: current.Namespace, Name: current.Name}}
	response.SetGroupVersionKind(kind)

	patch := client.RawPatch(types.MergePatchType, data)
	if request.subresource == "" {
		err = w.Client.Patch(ctx, response, patch)
	} else {
		err = w.Client.SubResource(request.subresource).Patch(ctx, response, patch)
	}
	if err != nil {
		return desired, err //nolint:wrapcheck // Wrapped by the caller, who knows what it was for.
	}
	return patched(codec, request, current, desired, response.ObjectMeta), nil
}

// patched returns a page after a patch whose response has only metadata, which saves the transfer of the decisions. If an admission webhook
// changed the page, the watch event corrects it.
func patched(codec api.Codec, request request, current, desired *api.Page, answered metav1.ObjectMeta) *api.Page {
	page := &api.Page{ObjectMeta: answered, Scheduler: current.Scheduler, Decisions: current.Decisions}
	if request.action == ActionUpdateDecisions {
		sent := codec.Read(codec.Write(desired))
		page.Scheduler, page.Decisions = sent.Scheduler, sent.Decisions
	}
	return page
}

// Delete deletes the surplus pages of a plan in their order, at the versions of the written pages. A page that does not exist is no error.
func (w Writer) Delete(ctx context.Context, plan Plan, written Written, observe Observer) error {
	for _, page := range plan.Deletes {
		if last := written[page.Name]; last != nil {
			page = last
		}
		if err := w.proceed(ctx, true); err != nil {
			return err
		}
		if err := w.delete(ctx, plan.Codec, page, observe); err != nil {
			return err
		}
	}

	return nil
}

// proceed returns an error if the plan must not be carried on.
func (w Writer) proceed(ctx context.Context, loses bool) error {
	if w.Proceed == nil {
		return nil
	}
	return w.Proceed(ctx, loses)
}

// loses reports whether the write takes clusters off the page.
func (w *Write) loses() bool {
	if w.Delete {
		return true
	}
	if w.Current == nil || !w.UpdateDecisions {
		return false
	}
	stays := make(map[string]bool, len(w.Desired.Decisions))
	for i := range w.Desired.Decisions {
		stays[w.Desired.Decisions[i].Cluster] = true
	}
	return slices.ContainsFunc(w.Current.Decisions, func(d api.Decision) bool { return !stays[d.Cluster] })
}

// delete empties a page that finalizers keep after its deletion, so that consumers do not see its clusters any longer, and deletes it.
func (w Writer) delete(ctx context.Context, codec api.Codec, page *api.Page, observe Observer) error {
	for _, request := range requests(codec, beforeDelete(page)) {
		empty, err := w.send(ctx, codec, request, page, emptied(page))
		observe(request.action, empty, err)
		if err != nil {
			return newPageError(request.verb, empty, err)
		}
		page = empty
	}

	ctx, cancel := w.bounded(ctx)
	defer cancel()
	err := w.Client.Delete(ctx, codec.Write(page), client.Preconditions{UID: ptr.To(page.UID), ResourceVersion: ptr.To(page.ResourceVersion)})
	if apierrors.IsNotFound(err) {
		err = nil
	}
	observe(ActionDelete, page, err)
	if err != nil {
		return newPageError("deleting", page, err)
	}
	return nil
}

// beforeDelete returns the write of a page before its deletion, which is none where the page disappears at once.
func beforeDelete(page *api.Page) Write {
	return Write{Current: page, Desired: emptied(page), UpdateDecisions: len(page.Finalizers) > 0 && len(page.Decisions) > 0}
}

// WriteStatus patches the status of the Placement if it differs, and returns the patched Placement; nil when nothing was to do.
func (w Writer) WriteStatus(ctx context.Context, placement *api.Placement, status api.Status) (*api.Placement, error) {
	if sameStatus(placement.API, placement.Status, status) {
		return nil, nil
	}
	body, err := statusPatch(placement.API, placement.Status, status)
	if err != nil {
		return nil, fmt.Errorf("encoding the status of Placement %s/%s: %w", placement.Namespace, placement.Name, err)
	}

	data, err := json.Marshal(map[string]any{
		"metadata": map[string]any{"uid": placement.UID, "resourceVersion": placement.ResourceVersion}, "status": body,
	})
	if err != nil {
		return nil, fmt.Errorf("encoding the status of Placement %s/%s: %w", placement.Namespace, placement.Name, err)
	}
	kind, err := w.Client.GroupVersionKindFor(placement.API.Empty())
	if err != nil {
		return nil, fmt.Errorf("finding the kind of %T: %w", placement.API.Empty(), err)
	}

	// The response is decoded as metadata, because a Placement could be unreadable, and only the metadata are unknown.
	response := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Namespace: placement.Namespace, Name: placement.Name}}
	response.SetGroupVersionKind(kind)
	ctx, cancel := w.bounded(ctx)
	defer cancel()
	if err := w.Client.Status().Patch(ctx, response, client.RawPatch(types.MergePatchType, data)); err != nil {
		return nil, fmt.Errorf("writing the status of Placement %s/%s: %w", placement.Namespace, placement.Name, err)
	}
	return withStatus(placement, status, response.ResourceVersion)
}

// withStatus is a placement as it is read once its status is written.
func withStatus(placement *api.Placement, status api.Status, resourceVersion string) (*api.Placement, error) {
	data, err := json.Marshal(placement.API.Status(status))
	if err != nil {
		return nil, fmt.Errorf("encoding the status of Placement %s/%s: %w", placement.Namespace, placement.Name, err)
	}
	object, decoded := placement.API.WithoutStatus(placement.Object)
	if err := json.Unmarshal(data, decoded); err != nil {
		return nil, fmt.Errorf("decoding the status of Placement %s/%s: %w", placement.Namespace, placement.Name, err)
	}
	object.SetResourceVersion(resourceVersion)
	return placement.API.Read(object), nil
}

// statusPatch returns the merge patch from one status to another, with null for removed fields.
func statusPatch(adapter api.Adapter, before, after api.Status) (map[string]json.RawMessage, error) {
	was, err := fieldsOf(adapter.Status(before))
	if err != nil {
		return nil, err
	}
	is, err := fieldsOf(adapter.Status(after))
	if err != nil {
		return nil, err
	}

	for key := range was {
		if _, stays := is[key]; !stays {
			is[key] = nil
		}
	}
	return is, nil
}

// fieldsOf returns the encoded fields of an object.
func fieldsOf(value any) (map[string]json.RawMessage, error) {
	data, err := json.Marshal(value)
	if err != nil {
		return nil, err //nolint:wrapcheck // Wrapped by the caller.
	}
	var fields map[string]json.RawMessage
	err = json.Unmarshal(data, &fields)
	return fields, err //nolint:wrapcheck // Wrapped by the caller.
}

// pageError is a failed request for a page.
type pageError struct {
	verb string
	page *api.Page
	err  error
}

func newPageError(about string, page *api.Page, err error) error {
	return &pageError{verb: about, page: page, err: err}
}

func (e *pageError) subject() string {
	return fmt.Sprintf("%s PlacementDecision %s/%s", e.verb, e.page.Namespace, e.page.Name)
}

// Error returns the request, the page and the cause.
func (e *pageError) Error() string { return e.subject() + ": " + e.err.Error() }

// Unwrap returns the error of the request.
func (e *pageError) Unwrap() error { return e.err }

// Cause returns a stable text for a failed request, with its subject and what a user can do: it has no times, versions or addresses.
func Cause(err error) string {
	text := "the API server could not be asked"
	switch reason := apierrors.ReasonForError(err); reason {
	case metav1.StatusReasonUnknown:
	case metav1.StatusReasonForbidden:
		text = "Forbidden: a ResourceQuota or an admission policy is against it, or the hub lacks the right (kubectl auth can-i); " +
			"the log of the hub has the words of the API server"
	default:
		text = string(reason)
	}

	if failed, ok := errors.AsType[*pageError](err); ok {
		return failed.subject() + ": " + text
	}
	return text
}

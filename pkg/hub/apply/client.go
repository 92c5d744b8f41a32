// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"context"
	"encoding/json"
	"fmt"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/placement-hub/placement-hub/pkg/hub/objects"
)

// Options say who applies, and who is told of what keeps the API server from it.
type Options struct {
	// FieldManager is the field manager of all writes.
	FieldManager string
	// Recorder gets the Events.
	Recorder events.EventRecorder
	// Stamp is a field of the statuses that are applied which is no reason to write, such as the time of the write; empty for none.
	Stamp string
	// Owns are the paths of the fields, by kind, that nobody but the field manager writes. While a version is gone, the API server does not record
	// what is written, so that it would not remove these fields when they are not applied any more.
	Owns map[string][]fieldpath.Path
}

// Client is a client whose writes have a field manager, and whose applies are sent as the package says. All other requests go to the embedded
// client. It is safe for concurrent use.
type Client struct {
	client.Client

	options Options
	live    client.Reader
	schemas schemaSource
	reports *reports
	partial *partialWrites
}

// NewClient returns a client of a manager, which reads as that of the manager does.
func NewClient(mgr manager.Manager, options Options) (*Client, error) {
	live, err := objects.NewLiveClient(mgr)
	if err != nil {
		return nil, err
	}
	published, err := newPublishedSchemas(mgr)
	if err != nil {
		return nil, err
	}
	return newClient(mgr.GetClient(), live, published, options), nil
}

func newClient(through client.Client, live client.Reader, from schemaSource, options Options) *Client {
	return &Client{
		Client: client.WithFieldOwner(through, options.FieldManager), options: options, live: live, schemas: from,
		reports: newReports(options.Recorder), partial: newPartialWrites(options.Stamp),
	}
}

// Apply applies an object.
func (c *Client) Apply(ctx context.Context, applied runtime.ApplyConfiguration, options ...client.ApplyOption) error {
	forced := ptr.Deref((&client.ApplyOptions{}).ApplyOptions(options).Force, false)
	return c.configuration(ctx, applied, &request{force: forced}, sender{
		apply: func(ctx context.Context, what runtime.ApplyConfiguration) error {
			return c.Client.Apply(ctx, what, options...)
		},
		patch: func(ctx context.Context, object client.Object, patch client.Patch) error {
			return c.Client.Patch(ctx, object, patch)
		},
	})
}

// Patch sends a patch of an object.
func (c *Client) Patch(ctx context.Context, object client.Object, patch client.Patch, options ...client.PatchOption) error {
	err := c.Client.Patch(ctx, object, patch, options...)
	if err == nil || patch.Type() != types.ApplyPatchType {
		return err //nolint:wrapcheck // The method replaces that of the client.
	}
	body, encodeErr := patch.Data(object)
	if encodeErr != nil {
		return fmt.Errorf("encode what is applied: %w", encodeErr)
	}
	forced := ptr.Deref((&client.PatchOptions{}).ApplyOptions(options).Force, false)

	return c.goOn(ctx, &request{body: body, force: forced}, err, nil,
		func(ctx context.Context, merge client.Patch) error { return c.Client.Patch(ctx, object, merge) })
}

// Status returns a writer of statuses.
func (c *Client) Status() client.SubResourceWriter {
	return &statusWriter{SubResourceWriter: c.Client.Status(), of: c}
}

// statusWriter writes statuses.
type statusWriter struct {
	client.SubResourceWriter

	of *Client
}

// Apply applies the status of an object.
func (w *statusWriter) Apply(ctx context.Context, applied runtime.ApplyConfiguration, options ...client.SubResourceApplyOption) error {
	chosen := &client.SubResourceApplyOptions{}
	chosen.ApplyOpts(options)
	return w.of.configuration(ctx, applied, &request{subresource: subresourceStatus, force: ptr.Deref(chosen.Force, false)}, sender{
		apply: func(ctx context.Context, what runtime.ApplyConfiguration) error {
			return w.SubResourceWriter.Apply(ctx, what, options...)
		},
		patch: func(ctx context.Context, object client.Object, patch client.Patch) error {
			return w.SubResourceWriter.Patch(ctx, object, patch)
		},
	})
}

// subresourceStatus is the only subresource that is applied.
const subresourceStatus = "status"

// request is one apply.
type request struct {
	// body is the JSON of what is applied.
	body []byte
	// subresource is empty for the object itself.
	subresource string
	force       bool
	// partial reports that fields which the schema lacks are left out of body.
	partial bool
}

// sender sends the requests that write one object or its status, and reads the response into what it is given.
type sender struct {
	apply func(context.Context, runtime.ApplyConfiguration) error
	patch func(context.Context, client.Object, client.Patch) error
}

// configuration sends an apply configuration, and reads the response into it.
func (c *Client) configuration(ctx context.Context, applied runtime.ApplyConfiguration, r *request, send sender) error {
	var err error
	if r.body, err = json.Marshal(applied); err != nil {
		return fmt.Errorf("encode what is applied: %w", err)
	}
	if c.partial.written(r) {
		return nil
	}
	if err = send.apply(ctx, applied); err == nil {
		c.partial.forget(r)
		return c.removeRest(ctx, r, applied, send)
	}

	whole, response := *r, &unstructured.Unstructured{}
	err = c.goOn(ctx, r, err,
		func(ctx context.Context, rest *unstructured.Unstructured) error {
			response = rest
			return send.apply(ctx, client.ApplyConfigurationFromUnstructured(rest))
		},
		func(ctx context.Context, merge client.Patch) error {
			if decodeErr := json.Unmarshal(r.body, response); decodeErr != nil {
				return fmt.Errorf("decode what is applied: %w", decodeErr)
			}
			return send.patch(ctx, response, merge)
		})
	if err != nil {
		return err
	}
	if r.partial {
		c.partial.keep(&whole, response.GetResourceVersion())
	}
	return read(response, applied)
}

// read reads a response into an apply configuration.
func read(response *unstructured.Unstructured, into runtime.ApplyConfiguration) error {
	content, err := json.Marshal(response)
	if err != nil {
		return fmt.Errorf("encode the response: %w", err)
	}
	if err := json.Unmarshal(content, into); err != nil {
		return fmt.Errorf("decode the response: %w", err)
	}
	return nil
}

// goOn carries out an apply that the API server has answered with an error, if the cause lies in a CustomResourceDefinition, and otherwise returns
// the error. apply sends the rest of a status, and merge a merge patch.
func (c *Client) goOn(
	ctx context.Context, r *request, answer error,
	apply func(context.Context, *unstructured.Unstructured) error, merge func(context.Context, client.Patch) error,
) error {
	if isUndeclared(answer) {
		rest, err := c.declared(ctx, r, answer)
		if err != nil {
			return err
		}
		r.partial = true
		if r.body, err = json.Marshal(rest); err != nil {
			return fmt.Errorf("encode what is applied: %w", err)
		}
		if answer = apply(ctx, rest); answer == nil {
			return nil
		}
	}

	version, gone := versionGone(answer)
	if !gone {
		return answer
	}
	return c.merge(ctx, r, version, answer, merge)
}

// declared returns what is applied without the fields that the schema lacks.
func (c *Client) declared(ctx context.Context, r *request, answer error) (*unstructured.Unstructured, error) {
	applied, err := decode(r.body)
	if err != nil {
		return nil, err
	}
	kind := applied.GroupVersionKind()
	schemas, err := c.schemas.of(ctx, kind.GroupVersion())
	if err != nil {
		return nil, fmt.Errorf("finding what the schema of %s lacks: %w: %w", kind.Kind, err, answer)
	}
	lacking := schemas.drop(applied)
	if len(lacking) == 0 {
		return nil, answer // The schema has changed since; the next try finds it as it is.
	}

	resource, err := c.resourceOf(kind)
	if err != nil {
		return nil, err
	}
	older := &OlderDefinitionError{Definition: resource.String(), Fields: lacking}
	if r.subresource != subresourceStatus {
		return nil, older
	}
	c.reports.older(ctx, older)
	return applied, nil
}

// merge sends the merge patch that does what an apply would do to the object as it is in the API server.
func (c *Client) merge(
	ctx context.Context, r *request, version string, answer error, send func(context.Context, client.Patch) error,
) error {
	applied, err := decode(r.body)
	if err != nil {
		return err
	}
	kind := applied.GroupVersionKind()
	resource, err := c.resourceOf(kind)
	if err != nil {
		return err
	}

	empty := &unstructured.UnstructuredList{}
	empty.SetGroupVersionKind(kind.GroupVersion().WithKind(kind.Kind + "List"))
	found, err := objects.LiveObject(ctx, c.live, empty, client.ObjectKeyFromObject(applied))
	if err != nil {
		return err
	}
	live, exists := found.(*unstructured.Unstructured)
	if !exists {
		return apierrors.NewNotFound(resource, applied.GetName()) // It was deleted since.
	}
	if isAnother(applied, live) {
		return apierrors.NewConflict(resource, live.GetName(), errChanged)
	}

	schemas, err := c.schemas.of(ctx, kind.GroupVersion())
	if err != nil {
		return fmt.Errorf("finding how %s is merged: %w: %w", kind.Kind, err, answer)
	}
	merged, err := schemas.merge(live, applied, c.options.FieldManager, r, c.options.Owns[kind.Kind])
	if err != nil {
		return err
	}
	c.reports.gone(ctx, live, resource, version)

	patch, err := between(live, merged)
	if err != nil {
		return err
	}
	return send(ctx, patch)
}

// between returns the merge patch that makes an object of another one that has not changed.
func between(before, after *unstructured.Unstructured) (client.Patch, error) {
	data, err := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}).Data(after)
	if err != nil {
		return nil, fmt.Errorf("encode the patch: %w", err)
	}
	return client.RawPatch(types.MergePatchType, data), nil
}

// removeRest removes the fields of the manager that an apply has left, because they were written while a version was gone. It reads the response of
// the apply from what is applied, and the response of its own write into that.
func (c *Client) removeRest(ctx context.Context, r *request, applied runtime.ApplyConfiguration, send sender) error {
	if len(c.options.Owns) == 0 {
		return nil
	}
	wanted, err := decode(r.body)
	if err != nil {
		return err
	}
	content, err := json.Marshal(applied)
	if err != nil {
		return fmt.Errorf("encode the response: %w", err)
	}
	present, err := decode(content)
	if err != nil {
		return err
	}
	kind := wanted.GroupVersionKind()
	owns := c.options.Owns[kind.Kind]
	if !differ(wanted, present, owns) {
		return nil
	}

	schemas, err := c.schemas.of(ctx, kind.GroupVersion())
	if err != nil {
		return fmt.Errorf("finding how %s is merged: %w", kind.Kind, err)
	}
	merged, err := schemas.merge(present, wanted, c.options.FieldManager, r, owns)
	if err != nil || equality.Semantic.DeepEqual(merged, present) {
		return err
	}
	patch, err := between(present, merged)
	if err != nil {
		return err
	}
	if err := send.patch(ctx, present, patch); err != nil {
		return err
	}
	return read(present, applied)
}

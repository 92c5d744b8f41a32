// SPDX-License-Identifier: Apache-2.0

package objects

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// object is a pointer to an object of the API that can be copied, such as a PartialObjectMetadata.
type object[T any] interface {
	client.Object
	DeepCopy() T
}

// Option changes how a write is sent.
type Option func(*options)

type options struct {
	status, unlocked, metadataOnly bool

	observe func(error)
}

// WithoutLock sends a write without a resourceVersion, so that it does not conflict with changes of others.
func WithoutLock() Option { return func(o *options) { o.unlocked = true } }

// WithObserver has a function called with the outcome of the request, if one is sent.
func WithObserver(observe func(error)) Option { return func(o *options) { o.observe = observe } }

// OfStatus has Patch send a patch of the status.
func OfStatus() Option { return func(o *options) { o.status = true } }

// MetadataOnly has the response of a patch transfer the metadata only, of which the state after the patch gets the resourceVersion. The rest
// of an object may be undecodable, and the write is done then.
func MetadataOnly() Option { return func(o *options) { o.metadataOnly = true } }

func optionsOf(all []Option) *options {
	chosen := &options{observe: func(error) {}}
	for _, option := range all {
		option(chosen)
	}
	return chosen
}

// Patch sends what differs between two states of an object, and reads the response into the state after the patch. It sends nothing if the
// states are semantically equal. Errors are those of the request.
func Patch[T object[T]](ctx context.Context, writer client.Client, before, after T, all ...Option) error {
	if equality.Semantic.DeepEqual(before, after) {
		return nil
	}
	chosen := optionsOf(all)

	patch := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
	if chosen.unlocked {
		patch = client.MergeFrom(before)
	}
	response := client.Object(after)

	if chosen.metadataOnly {
		data, err := patch.Data(after)
		if err != nil {
			return fmt.Errorf("encode the patch: %w", err)
		}
		kind, err := writer.GroupVersionKindFor(after)
		if err != nil {
			return fmt.Errorf("name %T: %w", after, err)
		}

		metadata := Metadata(kind)
		metadata.Namespace, metadata.Name = after.GetNamespace(), after.GetName()
		response, patch = metadata, client.RawPatch(patch.Type(), data)
	}

	if logger := klog.FromContext(ctx).V(4); logger.Enabled() {
		if data, err := patch.Data(after); err == nil {
			logger.Info("Sending a patch", "object", identity(writer, after), "patch", string(data))
		}
	}
	err := send(ctx, writer, response, patch, chosen.status)
	chosen.observe(err)
	if err != nil {
		return err
	}

	after.SetResourceVersion(response.GetResourceVersion())
	return nil
}

func send(ctx context.Context, writer client.Client, response client.Object, patch client.Patch, status bool) error {
	if status {
		return writer.Status().Patch(ctx, response, patch) //nolint:wrapcheck // Named by the callers of Patch.
	}
	return writer.Patch(ctx, response, patch) //nolint:wrapcheck // As above.
}

// identity returns the kind and the name of an object.
func identity(known client.Client, of client.Object) string {
	kind := fmt.Sprintf("%T", of)
	if found, err := known.GroupVersionKindFor(of); err == nil {
		kind = found.Kind
	}
	if of.GetNamespace() == metav1.NamespaceNone {
		return kind + " " + of.GetName()
	}
	return kind + " " + client.ObjectKeyFromObject(of).String()
}

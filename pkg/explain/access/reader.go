// SPDX-License-Identifier: Apache-2.0

package access

import (
	"context"
	"errors"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// errReadOnly is the error of every write.
var errReadOnly = errors.New("this client reads on behalf of a user, and writes nothing")

// nameField is the field selector that names one object of a list.
const nameField = "metadata.name"

// Reader reads from a client with the rights of the hub what a user may read. It returns the error Forbidden for everything else, as the API server
// does. It writes nothing. It is safe for concurrent use.
type Reader struct {
	client.Client

	authority Authorizer
	who       user.Info
}

var _ client.Client = (*Reader)(nil)

// NewReader returns a Reader for a user. hub has the rights of the hub and may read from caches.
func NewReader(hub client.Client, authority Authorizer, who user.Info) *Reader {
	return &Reader{Client: hub, authority: authority, who: who}
}

// Get implements client.Reader.
func (r *Reader) Get(ctx context.Context, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
	if err := r.allowed(ctx, VerbGet, object, key.Namespace, key.Name); err != nil {
		return err
	}
	return r.Client.Get(ctx, key, object, options...) //nolint:wrapcheck // Its kind decides what is done.
}

// List implements client.Reader. A list of the object of one name takes the right on that name, as the API server authorizes it.
func (r *Reader) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	if err := r.MayList(ctx, list, options...); err != nil {
		return err
	}
	return r.Client.List(ctx, list, options...) //nolint:wrapcheck // As above.
}

// MayList returns the error Forbidden if the user may not list the objects.
func (r *Reader) MayList(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	var given client.ListOptions
	given.ApplyOptions(options)
	name := ""
	if given.FieldSelector != nil {
		name, _ = given.FieldSelector.RequiresExactMatch(nameField)
	}
	return r.allowed(ctx, VerbList, list, given.Namespace, name)
}

// allowed returns nil if the user has the verb, and otherwise an error as that of the API server.
func (r *Reader) allowed(ctx context.Context, verb string, object runtime.Object, namespace, name string) error {
	kind, err := r.GroupVersionKindFor(object)
	if err != nil {
		return fmt.Errorf("reading %T: %w", object, err)
	}
	kind.Kind = strings.TrimSuffix(kind.Kind, "List")
	mapping, err := r.RESTMapper().RESTMapping(kind.GroupKind(), kind.Version)
	if err != nil {
		return err //nolint:wrapcheck // A kind that is not served is reported by it.
	}
	return Allowed(ctx, r.authority, r.who, verb, mapping.Resource, namespace, name)
}

// Allowed returns nil if a user has the verb on a resource, in all namespaces if namespace is empty and for all names if name is. It returns an error
// Forbidden as that of the API server otherwise.
func Allowed(
	ctx context.Context, authority Authorizer, who user.Info, verb string, resource schema.GroupVersionResource, namespace, name string,
) error {
	decision, err := ask(ctx, authority, authorizer.AttributesRecord{
		User: who, Verb: verb, Namespace: namespace, Name: name, ResourceRequest: true,
		APIGroup: resource.Group, APIVersion: resource.Version, Resource: resource.Resource,
	})
	switch {
	case err != nil:
		return fmt.Errorf("asking the API server whether %s may %s %s: %w", who.GetName(), verb, resource.GroupResource(), err)
	case decision == authorizer.DecisionAllow:
		return nil
	}
	where := "at the cluster scope"
	if namespace != "" {
		where = fmt.Sprintf("in the namespace %q", namespace)
	}
	return apierrors.NewForbidden(resource.GroupResource(), name,
		fmt.Errorf("user %q cannot %s resource %q in API group %q %s", who.GetName(), verb, resource.Resource, resource.Group, where))
}

// Create is refused, as is every other write: a Reader returns an error.
func (*Reader) Create(context.Context, client.Object, ...client.CreateOption) error {
	return errReadOnly
}

// Delete is refused; see Create.
func (*Reader) Delete(context.Context, client.Object, ...client.DeleteOption) error {
	return errReadOnly
}

// DeleteAllOf is refused; see Create.
func (*Reader) DeleteAllOf(context.Context, client.Object, ...client.DeleteAllOfOption) error {
	return errReadOnly
}

// Update is refused; see Create.
func (*Reader) Update(context.Context, client.Object, ...client.UpdateOption) error {
	return errReadOnly
}

// Patch is refused; see Create.
func (*Reader) Patch(context.Context, client.Object, client.Patch, ...client.PatchOption) error {
	return errReadOnly
}

// Apply is refused; see Create.
func (*Reader) Apply(context.Context, runtime.ApplyConfiguration, ...client.ApplyOption) error {
	return errReadOnly
}

// Status and SubResource return clients that refuse everything.
func (*Reader) Status() client.SubResourceWriter { return refusedSubResource{} }

// SubResource is refused; see Status.
func (*Reader) SubResource(string) client.SubResourceClient { return refusedSubResource{} }

// refusedSubResource refuses to read and to write subresources.
type refusedSubResource struct{}

func (refusedSubResource) Get(context.Context, client.Object, client.Object, ...client.SubResourceGetOption) error {
	return errReadOnly
}

func (refusedSubResource) Create(context.Context, client.Object, client.Object, ...client.SubResourceCreateOption) error {
	return errReadOnly
}

func (refusedSubResource) Update(context.Context, client.Object, ...client.SubResourceUpdateOption) error {
	return errReadOnly
}

func (refusedSubResource) Patch(context.Context, client.Object, client.Patch, ...client.SubResourcePatchOption) error {
	return errReadOnly
}

func (refusedSubResource) Apply(context.Context, runtime.ApplyConfiguration, ...client.SubResourceApplyOption) error {
	return errReadOnly
}

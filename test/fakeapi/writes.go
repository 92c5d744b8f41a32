// SPDX-License-Identifier: Apache-2.0

package fakeapi

import (
	"context"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

// Write is a request that writes.
type Write struct {
	// Verb is create, update, patch, apply or delete.
	Verb string
	// Subresource is empty for the object itself.
	Subresource string
	// Object is a client.Object, or a runtime.ApplyConfiguration if the verb is apply.
	Object any
}

// Kind returns the kind of the object.
func (w Write) Kind() string {
	switch of := w.Object.(type) {
	case interface{ GetKind() *string }:
		if kind := of.GetKind(); kind != nil {
			return *kind
		}
	case interface{ GetKind() string }:
		return of.GetKind()
	case client.Object:
		if kind := of.GetObjectKind().GroupVersionKind().Kind; kind != "" {
			return kind
		}
	}

	full := fmt.Sprintf("%T", w.Object)
	return full[strings.LastIndex(full, ".")+1:]
}

// Observe returns functions for a fake client that call see before they carry a write out. Objects that are created get the UIDs uid-1, uid-2
// and so on, unless they have one.
func Observe(see func(Write)) interceptor.Funcs {
	created := 0
	return interceptor.Funcs{
		Create: func(ctx context.Context, c client.WithWatch, object client.Object, options ...client.CreateOption) error {
			see(Write{Verb: "create", Object: object})
			if object.GetUID() == "" {
				created++
				object.SetUID(types.UID(fmt.Sprintf("uid-%d", created)))
			}
			return c.Create(ctx, object, options...)
		},
		Update: func(ctx context.Context, c client.WithWatch, object client.Object, options ...client.UpdateOption) error {
			see(Write{Verb: "update", Object: object})
			return c.Update(ctx, object, options...)
		},
		Patch: func(ctx context.Context, c client.WithWatch, object client.Object, patch client.Patch, options ...client.PatchOption) error {
			see(Write{Verb: "patch", Object: object})
			return c.Patch(ctx, object, patch, options...)
		},
		Apply: func(ctx context.Context, c client.WithWatch, applied runtime.ApplyConfiguration, options ...client.ApplyOption) error {
			see(Write{Verb: "apply", Object: applied})
			return c.Apply(ctx, applied, options...)
		},
		Delete: func(ctx context.Context, c client.WithWatch, object client.Object, options ...client.DeleteOption) error {
			see(Write{Verb: "delete", Object: object})
			return c.Delete(ctx, object, options...)
		},
		SubResourcePatch: func(ctx context.Context, c client.Client, name string, object client.Object, patch client.Patch,
			options ...client.SubResourcePatchOption,
		) error {
			see(Write{Verb: "patch", Subresource: name, Object: object})
			return c.SubResource(name).Patch(ctx, object, patch, options...)
		},
		SubResourceApply: func(ctx context.Context, c client.Client, name string, applied runtime.ApplyConfiguration,
			options ...client.SubResourceApplyOption,
		) error {
			see(Write{Verb: "apply", Subresource: name, Object: applied})
			return c.SubResource(name).Apply(ctx, applied, options...)
		},
	}
}

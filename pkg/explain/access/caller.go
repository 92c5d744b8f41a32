// SPDX-License-Identifier: Apache-2.0

package access

import (
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/authentication/user"
)

// callerKey is the key of a caller in a context.
type callerKey struct{}

// caller is a user with who decides what the user may do.
type caller struct {
	authority Authorizer
	who       user.Info
}

// WithCaller returns a context with the user whose question is answered, for answers of which each part takes a right of its own.
func WithCaller(ctx context.Context, authority Authorizer, who user.Info) context.Context {
	return context.WithValue(ctx, callerKey{}, caller{authority, who})
}

// errNoCaller is the error of a context that has no user.
var errNoCaller = errors.New("the rights cannot be reviewed, because the context has no user of WithCaller")

// May reports whether the user of WithCaller has a verb on a resource, in all namespaces if namespace is empty and for all names if name is. An error
// means that it is not known; then nothing may be shown.
func May(ctx context.Context, verb string, resource schema.GroupVersionResource, namespace, name string) (bool, error) {
	of, known := ctx.Value(callerKey{}).(caller)
	if !known {
		return false, errNoCaller
	}
	err := Allowed(ctx, of.authority, of.who, verb, resource, namespace, name)
	switch {
	case apierrors.IsForbidden(err):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("reviewing what an answer shows: %w", err)
	default:
		return true, nil
	}
}

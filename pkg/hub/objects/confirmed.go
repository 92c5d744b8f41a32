// SPDX-License-Identifier: Apache-2.0

package objects

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
)

// Confirmed is a reader of the API server whose Get returns NotFound only if the API server serves the kind: a single object of a kind that is not
// served is answered with the same error as one that does not exist, and a list of it is not.
type Confirmed struct{ client.Reader }

// NewConfirmed returns a Confirmed reader of the API server of a manager.
func NewConfirmed(mgr manager.Manager) (Confirmed, error) {
	live, err := NewLiveClient(mgr)
	return Confirmed{Reader: live}, err
}

// Get reads an object.
func (c Confirmed) Get(ctx context.Context, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
	err := c.Reader.Get(ctx, key, object, options...)
	if !apierrors.IsNotFound(err) {
		return err //nolint:wrapcheck // The error is that of the reader.
	}
	_, found, listErr := LiveMetadata(ctx, c.Reader, object, key)
	switch {
	case apierrors.IsNotFound(listErr):
		return fmt.Errorf("%s: the API server does not serve the kind of %T at present", key, object)
	case listErr != nil:
		return listErr
	case found:
		return fmt.Errorf("%s was created during the read", key)
	}

	return err //nolint:wrapcheck // The error is that of the reader.
}

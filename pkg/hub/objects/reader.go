// SPDX-License-Identifier: Apache-2.0

package objects

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/placement-hub/placement-hub/pkg/decoding"
)

// Reader reads objects from the informer cache, which may not have the latest ones yet, and the missing ones from the API server.
type Reader struct {
	// Cached reads from the informer cache, and Live from the API server.
	Cached, Live client.Reader
}

// Get reads an object. It returns NotFound only if the API server says so.
func (r Reader) Get(ctx context.Context, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
	err := r.Cached.Get(ctx, key, object, options...)
	if apierrors.IsNotFound(err) {
		err = r.Live.Get(ctx, key, object, options...)
	}
	return err //nolint:wrapcheck // The error is that of a reader.
}

// NewLiveClient returns a client that reads from the API server of a manager and decodes leniently, as its caches do.
func NewLiveClient(mgr manager.Manager) (client.Client, error) {
	live, err := decoding.NewClient(mgr.GetConfig(), client.Options{
		HTTPClient: mgr.GetHTTPClient(), Scheme: mgr.GetScheme(), Mapper: mgr.GetRESTMapper(),
	})
	if err != nil {
		return nil, fmt.Errorf("preparing to read from the API server: %w", err)
	}
	return live, nil
}

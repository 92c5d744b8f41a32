// SPDX-License-Identifier: Apache-2.0

package objects

import (
	"context"
	"errors"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// failing is a reader that fails.
type failing struct {
	client.Reader

	err error
}

func (f failing) Get(context.Context, client.ObjectKey, client.Object, ...client.GetOption) error {
	return f.err
}

func TestReader(t *testing.T) {
	failure := errors.New("failed")
	labelled := func(from string) *corev1.ConfigMap {
		object := configMap()
		object.Labels = map[string]string{"from": from}
		return object
	}
	for _, tc := range []struct {
		reason       string
		cached, live client.Reader
		from         string
		is           func(error) bool
	}{
		{"the cache has it", newRecorder(t, labelled("cache")), failing{err: failure}, "cache", nil},
		{"it is too new for the cache", newRecorder(t), newRecorder(t, labelled("server")), "server", nil},
		{"it does not exist", newRecorder(t), newRecorder(t), "", apierrors.IsNotFound},
		{"the cache fails", failing{err: failure}, newRecorder(t, labelled("server")), "", func(err error) bool { return errors.Is(err, failure) }},
		{"the API server fails", newRecorder(t), failing{err: failure}, "", func(err error) bool { return errors.Is(err, failure) }},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			object := &corev1.ConfigMap{}
			err := Reader{Cached: tc.cached, Live: tc.live}.Get(t.Context(), client.ObjectKeyFromObject(configMap()), object)
			if (err == nil) != (tc.is == nil) || tc.is != nil && !tc.is(err) {
				t.Errorf("got %v", err)
			}
			if object.Labels["from"] != tc.from {
				t.Errorf("got %v, want that of the %s", object.Labels, tc.from)
			}
		})
	}
}

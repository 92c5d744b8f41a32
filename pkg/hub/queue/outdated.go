// SPDX-License-Identifier: Apache-2.0

package queue

import (
	"errors"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// ErrOutdated means that the objects that a reconcile has decided on have changed since, or that the proof of its removals is too old. The rest of
// its writes is dropped (docs/spec/differences.md B13).
var ErrOutdated = errors.New("the plan is outdated")

// Outdated reports whether an error means that a reconcile has decided on an old view, so that it is retried without an error log.
func Outdated(err error) bool {
	return err != nil && (errors.Is(err, ErrOutdated) || apierrors.IsConflict(err) || apierrors.IsNotFound(err) || apierrors.IsAlreadyExists(err))
}

// Terminating reports whether an error means that the namespace is terminating, so that nothing is left to do.
func Terminating(err error) bool {
	return err != nil && apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause)
}

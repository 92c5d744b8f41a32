// SPDX-License-Identifier: Apache-2.0

package queue

import (
	"context"
	"errors"
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func TestClassification(t *testing.T) {
	errRefused := errors.New("refused")
	resource := schema.GroupResource{Group: "cluster.open-cluster-management.io", Resource: "placementdecisions"}
	terminating := apierrors.NewForbidden(resource, "p-decision-1", errRefused)
	terminating.ErrStatus.Details.Causes = []metav1.StatusCause{{Type: corev1.NamespaceTerminatingCause}}
	for _, tc := range []struct {
		reason                string
		err                   error
		outdated, terminating bool
	}{
		{"the proof of a removal is too old", ErrOutdated, true, false},
		{"conflict", apierrors.NewConflict(resource, "p-decision-1", errRefused), true, false},
		{"gone", apierrors.NewNotFound(resource, "p-decision-1"), true, false},
		{"there already", apierrors.NewAlreadyExists(resource, "p-decision-1"), true, false},
		{"forbidden", apierrors.NewForbidden(resource, "p-decision-1", errRefused), false, false},
		{"the namespace goes", terminating, false, true},
		{"too many requests", apierrors.NewTooManyRequestsError("slow down"), false, false},
		{"no response", context.DeadlineExceeded, false, false},
		{"nothing", nil, false, false},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			err := tc.err
			if err != nil {
				err = fmt.Errorf("writing: %w", err)
			}
			if got := Outdated(err); got != tc.outdated {
				t.Errorf("outdated %v, want %v", got, tc.outdated)
			}
			if got := Terminating(err); got != tc.terminating {
				t.Errorf("terminating %v, want %v", got, tc.terminating)
			}
		})
	}
}

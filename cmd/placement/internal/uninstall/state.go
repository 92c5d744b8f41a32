// SPDX-License-Identifier: Apache-2.0

package uninstall

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// Written is an object that a hub writes into its namespace. Neither Helm nor the manifests have it, so that it outlives them.
type Written struct {
	Resource schema.GroupVersionResource
	// Name is that of the object; empty for all with the label Selector.
	Name, Selector string
	// About says what the object has.
	About string
}

// State is a Written that is there.
type State struct {
	Written

	namespace   string
	uid         types.UID
	version     string
	terminating bool
}

// String returns "configmaps hub/placement-vocabulary".
func (s *State) String() string {
	return s.Resource.GroupResource().String() + " " + s.namespace + "/" + s.Name
}

// FindState returns those of the objects that are in a namespace. The error names the others that could not be read.
func (h *Hub) FindState(ctx context.Context, namespace string, written []Written) ([]*State, error) {
	var (
		found []*State
		errs  []error
	)
	for _, one := range written {
		objects, err := h.read(ctx, namespace, one)
		if err != nil {
			errs = append(errs, fmt.Errorf("reading %s %s/%s%s: %w", one.Resource.GroupResource(), namespace, one.Name, one.Selector, err))
		}
		for i := range objects {
			live := &objects[i]
			one.Name = live.Name
			found = append(found, &State{
				Written: one, namespace: namespace, uid: live.UID, version: live.ResourceVersion, terminating: live.DeletionTimestamp != nil,
			})
		}
	}
	return found, errors.Join(errs...)
}

// read returns the objects of a Written that are there.
func (h *Hub) read(ctx context.Context, namespace string, one Written) ([]metav1.PartialObjectMetadata, error) {
	objects := h.metadata.Resource(one.Resource).Namespace(namespace)
	if one.Selector != "" {
		list, err := objects.List(ctx, metav1.ListOptions{LabelSelector: one.Selector})
		if err != nil {
			return nil, err //nolint:wrapcheck // The caller says what was read.
		}
		return list.Items, nil
	}
	live, err := objects.Get(ctx, one.Name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err //nolint:wrapcheck // The caller says what was read.
	}
	return []metav1.PartialObjectMetadata{*live}, nil
}

// DeleteState deletes an object in the version that was read, so that one which a process writes meanwhile stays. One that is gone is no error.
func (h *Hub) DeleteState(ctx context.Context, state *State) error {
	err := h.metadata.Resource(state.Resource).Namespace(state.namespace).Delete(ctx, state.Name, metav1.DeleteOptions{
		Preconditions: &metav1.Preconditions{UID: &state.uid, ResourceVersion: &state.version},
	})
	switch {
	case apierrors.IsConflict(err):
		return fmt.Errorf("deleting %s: a process has changed it since it was read; stop the hub, and repeat the command: %w", state, err)
	case err != nil && !apierrors.IsNotFound(err):
		return fmt.Errorf("deleting %s: %w", state, err)
	}
	return nil
}

// PrintState writes what a hub has left in its namespace.
func PrintState(w io.Writer, all []*State) error {
	var text strings.Builder
	for i, state := range all {
		if i == 0 {
			fmt.Fprintf(&text, "namespace %s: written by the hub\n", state.namespace)
		}
		fmt.Fprintf(&text, "  - %s %s: %s", state.Resource.GroupResource(), state.Name, state.About)
		if state.terminating {
			text.WriteString(" (is being deleted)")
		}
		text.WriteString("\n")
	}
	if _, err := io.WriteString(w, text.String()); err != nil {
		return fmt.Errorf("printing what the hub has written: %w", err)
	}
	return nil
}

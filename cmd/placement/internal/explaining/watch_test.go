// SPDX-License-Identifier: Apache-2.0

package explaining

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/cmd/placement/internal/hubflags"
	"github.com/placement-hub/placement-hub/pkg/explain/hubstate"
)

// refusingHub refuses its first request, or all of them, and has nothing.
type refusingHub struct {
	client.Client

	err    error
	always bool
	asked  int
}

func (h *refusingHub) List(context.Context, client.ObjectList, ...client.ListOption) error {
	h.asked++
	if h.asked == 1 || h.always {
		return h.err
	}
	return nil
}

// sourceOf returns a source that reads by a client.
func sourceOf(hub client.Client) *hubflags.Source {
	read := &hubstate.API{Client: hub}
	return &hubflags.Source{Source: read, Hub: read}
}

// A hub that cannot be read once is not followed, even if it could be read again a moment later.
func TestWatchEndsWhenTheHubCannotBeRead(t *testing.T) {
	hub := &refusingHub{err: errors.New("the hub is restarting")}
	f := &placementWatch{Options: &Options{All: true}}
	if state, _, err := f.readOnce(t.Context(), sourceOf(hub), nil); state != nil || err == nil || !strings.Contains(err.Error(), "restarting") {
		t.Errorf("world %v, error %v", state, err)
	}
}

// A user who may not list Placements gets an error, not an empty list.
func TestUnsatisfiedSaysNothingOfWhatMayNotBeListed(t *testing.T) {
	hub := &refusingHub{err: apierrors.NewForbidden(schema.GroupResource{Resource: "anything"}, "", errors.New("not you")), always: true}
	found, err := (&Options{All: true}).listUnsatisfied(t.Context(), sourceOf(hub), time.Now())
	if found != nil || !apierrors.IsForbidden(err) {
		t.Errorf("answer %v, error %v", found, err)
	}
}

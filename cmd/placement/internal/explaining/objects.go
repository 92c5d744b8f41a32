// SPDX-License-Identifier: Apache-2.0

package explaining

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/placement-hub/placement-hub/cmd/placement/internal/exit"
	"github.com/placement-hub/placement-hub/cmd/placement/internal/follow"
	"github.com/placement-hub/placement-hub/cmd/placement/internal/hubflags"
	"github.com/placement-hub/placement-hub/cmd/placement/internal/objectnames"
	"github.com/placement-hub/placement-hub/pkg/explain"
	"github.com/placement-hub/placement-hub/pkg/explain/document"
	"github.com/placement-hub/placement-hub/pkg/explain/endpoint"
	"github.com/placement-hub/placement-hub/pkg/explain/printers"
	"github.com/placement-hub/placement-hub/pkg/federation"
	federated "github.com/placement-hub/placement-hub/pkg/federation/explain"
	"github.com/placement-hub/placement-hub/pkg/inventory"
)

// runObjects prints where objects that arguments name are delivered, and why.
func runObjects(ctx context.Context, o *Options, args []string, stdin io.Reader, stdout io.Writer) error {
	names, err := o.ParseObjects(args)
	if err == nil {
		err = o.checkWorkloadFlags(false, true)
	}
	if err != nil {
		return exit.Mistake(err)
	}
	source, err := o.source(ctx, stdin)
	if err != nil {
		return err
	}
	if o.Watch {
		return o.printObjectChanges(ctx, source, names, stdout)
	}
	state, unread := source.Delivery(ctx, source.Namespace)
	if state == nil {
		return unread
	}
	if unread != nil {
		ask := func() (endpoint.Answer, error) {
			return o.ask(ctx, source, source.Namespace, objectnames.DeliveredObjects(names))
		}
		answer, err := hubflags.AskUnread(unread, ask)
		if answer != nil {
			return hubflags.WriteAnswer(stdout, answer, err)
		}
		unread = err
	}
	return o.printObjects(state, names, source.Namespace, unread, stdout)
}

// printObjects prints explanations of objects of a State. unread says which rights are missing.
func (o *Options) printObjects(state *explain.State, names []hubflags.DeliveredName, namespace string, unread error, stdout io.Writer) error {
	keys, missing := objectnames.DeliveredKeys(state, names, namespace)
	if len(keys) == 0 {
		return errors.Join(missing, unread)
	}
	explanations, err := o.explaining().Objects(state, keys, unread, time.Now())
	if err != nil {
		return errors.Join(err, missing)
	}
	return errors.Join(o.print(stdout, explanations), missing, unread)
}

// isDelivered reports whether a type names a kind of delivered objects.
func isDelivered(o *Options, text string) bool {
	_, is := federated.FindKind(o.Delivered, text)
	return is
}

// deliveredTypes returns the types of the objects that every hub delivers.
func deliveredTypes() []string {
	flags := hubflags.Kinds{Delivered: federation.DefaultKinds()}
	return flags.ObjectTypes()
}

// printObjectChanges prints explanations of objects, and again whenever they change, until ctx ends.
func (o *Options) printObjectChanges(ctx context.Context, from *hubflags.Source, names []hubflags.DeliveredName, stdout io.Writer) error {
	changes := &follow.Delivered{
		Kinds: o.Delivered, Format: printers.Format(o.Output),
		Once: func(state *explain.State, unread error) error {
			return o.printObjects(state, names, from.Namespace, hubflags.WatchRefused(unread), stdout)
		},
		Evaluate: func(state *explain.State, keys []inventory.Key, now time.Time) (document.Source, error) {
			found, err := o.explaining().Objects(state, keys, nil, now)
			if err != nil {
				return nil, err
			}
			return found, nil
		},
		Style: func([]inventory.Key) printers.Style { return o.style() },
	}
	return changes.Follow(ctx, from.Config, from.Hub, from.Namespace, names, stdout)
}

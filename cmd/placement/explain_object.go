// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/placement-hub/placement-hub/cmd/placement/internal/exit"
	"github.com/placement-hub/placement-hub/cmd/placement/internal/hubflags"
	"github.com/placement-hub/placement-hub/cmd/placement/internal/objectnames"
	"github.com/placement-hub/placement-hub/pkg/explain"
	"github.com/placement-hub/placement-hub/pkg/explain/endpoint"
	"github.com/placement-hub/placement-hub/pkg/federation"
	federated "github.com/placement-hub/placement-hub/pkg/federation/explain"
)

// runObjects prints where objects that arguments name are delivered, and why.
func runObjects(ctx context.Context, o *explainOptions, args []string, stdin io.Reader, stdout io.Writer) error {
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
	if o.watch {
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
func (o *explainOptions) printObjects(state *explain.State, names []hubflags.DeliveredName, namespace string, unread error, stdout io.Writer) error {
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
func isDelivered(o *explainOptions, text string) bool {
	_, is := federated.FindKind(o.Delivered, text)
	return is
}

// deliveredTypes returns the types of the objects that every hub delivers.
func deliveredTypes() []string {
	flags := hubflags.Kinds{Delivered: federation.DefaultKinds()}
	return flags.ObjectTypes()
}

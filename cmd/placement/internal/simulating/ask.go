// SPDX-License-Identifier: Apache-2.0

package simulating

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/cmd/placement/internal/hubflags"
	"github.com/placement-hub/placement-hub/cmd/placement/internal/objectnames"
	"github.com/placement-hub/placement-hub/pkg/explain/endpoint"
	"github.com/placement-hub/placement-hub/pkg/explain/hubstate"
	"github.com/placement-hub/placement-hub/pkg/explain/tools"
	"github.com/placement-hub/placement-hub/pkg/explain/whatif"
	"github.com/placement-hub/placement-hub/pkg/placement/api"
)

// readOrAsk reads what is simulated. For a user who may not read what decides about it the hub simulates, and the result is nil.
func (o *Options) readOrAsk(
	ctx context.Context, names map[types.NamespacedName]bool, stdin io.Reader, stdout io.Writer,
) (in *simulated, selected map[types.NamespacedName]bool, differs bool, err error) {
	in, selected, refused := o.readSelected(ctx, names, stdin)
	partly := refused == nil
	if partly {
		refused = in.unread()
	}
	switch {
	case refused == nil:
		return in, selected, false, nil
	case !o.live():
		return nil, nil, false, refused
	}
	answer, err := hubflags.AskUnread(refused, func() (endpoint.Answer, error) { return o.ask(ctx, names) })
	switch {
	case answer != nil:
		return nil, nil, answer.Differs, hubflags.WriteAnswer(stdout, answer, err)
	case !partly:
		return nil, nil, false, err
	}
	for _, added := range in.additions {
		if added.Unread != nil {
			added.Unread = err
		}
	}
	return in, selected, false, nil
}

// unread returns which rights are missing for the added objects.
func (s *simulated) unread() error {
	for _, added := range s.additions {
		if added.Unread != nil {
			return added.Unread
		}
	}
	return nil
}

// ask asks the hub to simulate. The error is an *endpoint.AnswerError if the hub has answered with it.
func (o *Options) ask(ctx context.Context, names map[types.NamespacedName]bool) (endpoint.Answer, error) {
	if err := o.CheckAsk(); err != nil {
		return endpoint.Answer{}, err
	}
	question := endpoint.Question{Command: endpoint.CommandSimulate, Output: o.Output, ShowKept: o.ShowKept}
	var err error
	if o.Adding {
		question.Manifests = string(bytes.Join(o.manifests, []byte("\n---\n")))
		question.Namespace, question.Objects, err = tools.ObjectsToAdd(o.added, o.Delivered)
	} else if question.Namespace, err = o.AskedNamespace(names); err == nil {
		question.WithoutBindings, err = o.AskedBindings(question.Namespace)
	}
	if err != nil {
		return endpoint.Answer{}, err
	}
	hub, config, _, err := o.ConnectHub()
	if err == nil && !o.Adding {
		err = o.askAbout(ctx, hub, &question, names)
	}
	if err != nil {
		return endpoint.Answer{}, err
	}
	return o.Send(ctx, hub, config, question)
}

// askAbout adds the Placements to a question, and without names the kinds that the user may list.
func (o *Options) askAbout(ctx context.Context, hub client.Reader, question *endpoint.Question, names map[types.NamespacedName]bool) error {
	placements, err := tools.ListableKinds(ctx, hub, question.Namespace, tools.PlacementKinds())
	if err != nil {
		return err
	}
	if len(names) == 0 {
		delivered, err := tools.ListableKinds(ctx, hub, question.Namespace, o.DeliveredKinds())
		question.Kinds = slices.Concat(placements, delivered)
		return err
	}
	for _, name := range slices.SortedFunc(maps.Keys(names), func(a, b types.NamespacedName) int { return cmp.Compare(a.Name, b.Name) }) {
		found, err := hubstate.Find(ctx, hub, objectnames.Placement{Namespace: name.Namespace, Name: name.Name, APIs: api.Adapters()}.Keys())
		if err != nil {
			return err
		}
		for _, key := range found {
			question.Objects = append(question.Objects, objectnames.PlacementObject(key))
		}
		if len(found) == 0 {
			return fmt.Errorf("--placement: there is no Placement %s on the hub; correct the name", name)
		}
	}
	return nil
}

// CheckAsk returns why the hub cannot be asked.
func (o *Options) CheckAsk() error {
	switch {
	case o.Now != "":
		return errors.New("the hub simulates the present, so it was not asked because of --now")
	case o.Selector != nil:
		return hubflags.ErrSelectorUnread
	case o.All && len(o.Changes) == 0 && !o.Adding:
		return errors.New("--all (as -o wide): clusters out of the scope of the namespace are listed for users with the ClusterRole " +
			hubstate.FleetViewRole + " alone; leave it out to ask the hub")
	case o.Adding && len(o.Changes) > 1:
		return errors.New("--add: the hub simulates added objects without other changes; leave out the others")
	case o.Adding:
		return nil
	}
	for _, change := range o.Changes {
		if _, is := change.(whatif.WithoutBinding); !is {
			return fmt.Errorf("%s: a change of a cluster concerns all namespaces, so it takes the ClusterRole %s; the hub simulates "+
				"--without-binding for users who may delete the binding", change, hubstate.FleetViewRole)
		}
	}
	return nil
}

// AskedNamespace returns the one namespace that the simulation is about.
func (o *Options) AskedNamespace(names map[types.NamespacedName]bool) (string, error) {
	namespaces := map[string]bool{}
	for name := range names {
		namespaces[name.Namespace] = true
	}
	if only := o.reported(); only != "" {
		namespaces[only] = true
	}
	found := slices.Sorted(maps.Keys(namespaces))
	if len(found) != 1 {
		return "", errors.New("the hub simulates the Placements of one namespace at a time, so it was not asked; name one with -n")
	}
	return found[0], nil
}

// AskedBindings returns the sets that are not to be bound to the namespace.
func (o *Options) AskedBindings(namespace string) ([]string, error) {
	var sets []string
	for _, change := range o.Changes {
		binding, is := change.(whatif.WithoutBinding)
		if is && binding.Namespace != namespace {
			return nil, fmt.Errorf("--without-binding: the hub simulates changes in the namespace that it is asked about; write %s/%s",
				namespace, binding.Set)
		}
		sets = append(sets, binding.Set)
	}
	return sets, nil
}

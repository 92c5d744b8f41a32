package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/placement-hub/placement-hub/pkg/explain/endpoint"
	"github.com/placement-hub/placement-hub/pkg/explain/hubstate"
	"github.com/placement-hub/placement-hub/pkg/explain/hubstate/statefile"
	"github.com/placement-hub/placement-hub/pkg/explain/printers"
	"github.com/placement-hub/placement-hub/pkg/inventory"
)

// followersUnread is a note of a comparison by the hub.
const followersUnread = "the hub compares Placements; objects that follow this one are not in the report"

// compare compares the Placements of a Question with the hub, as placement diff does. The caller may write each of them.
func (e *hubExplainer) compare(ctx context.Context, question *endpoint.Question) (endpoint.Answer, error) {
	o := &diffOptions{output: question.Output, showKept: question.ShowKept, hubLimit: e.limit, requestOptions: e.requests}
	changes, placements, err := o.changesIn(question)
	if err != nil {
		return endpoint.Answer{}, &endpoint.AnswerError{Err: err}
	}
	given, err := changes.State()
	if err != nil {
		return endpoint.Answer{}, &endpoint.AnswerError{Err: err}
	}
	hub, err := hubstate.FromCluster(ctx, e.hub, placements)
	if err != nil {
		return endpoint.Answer{}, err
	}
	hub.SetsHidden, hub.Done = true, ctx.Done()
	differences, err := o.compareAll(hub, given, changes, placements, e.now())
	if err != nil {
		return endpoint.Answer{}, &endpoint.AnswerError{Err: err}
	}
	for i := range differences.Placements {
		difference := &differences.Placements[i]
		difference.Notes = append(difference.Notes, followersUnread)
	}
	var text bytes.Buffer
	if err := printers.Differences(&text, printers.Format(o.output), differences, o.showKept); err != nil {
		return endpoint.Answer{}, err
	}
	answer := endpoint.Answer{Output: text.String(), Differs: differences.Differ()}
	if err := unresolved(differences); err != nil {
		return answer, &endpoint.AnswerError{Err: err}
	}
	return answer, nil
}

// changesIn reads the manifests of a Question. They must be the Placements that it names, and nothing else.
func (o *diffOptions) changesIn(question *endpoint.Question) (*statefile.ChangeReader, []inventory.Key, error) {
	changes, err := newChanges(statefile.Namespace{Name: question.Namespace, Enforced: true}, nil)
	if err != nil {
		return nil, nil, err
	}
	changes.Read("manifests", []byte(question.Manifests))
	placements, err := keysIn(changes)
	if err != nil {
		return nil, nil, err
	}
	given, err := changes.State()
	if err != nil {
		return nil, nil, err
	}
	if !onlyPlacements(given) {
		return nil, nil, errors.New("the manifests have other objects than Placements")
	}
	for _, key := range placements {
		named := slices.ContainsFunc(question.Objects, func(object endpoint.Object) bool {
			return key == inventory.NewPlacementKey(inventory.API(object.Group), question.Namespace, object.Name)
		})
		if !named {
			return nil, nil, fmt.Errorf("the manifests have Placement %s, which objects does not name", key)
		}
	}
	return changes, placements, nil
}

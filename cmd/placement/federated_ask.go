// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"

	"github.com/placement-hub/placement-hub/pkg/explain/endpoint"
	"github.com/placement-hub/placement-hub/pkg/explain/tools"
)

// ask asks the hub to report the named objects of a namespace, or without names those of the kinds that the user may list. The error is an
// *endpoint.AnswerError if the hub has answered with it.
func (o *federatedOptions) ask(ctx context.Context, from *federatedSource, names []deliveredName) (string, error) {
	switch {
	case o.now != "":
		return "", errors.New("the hub reports the present, so it was not asked because of --now")
	case o.selector != nil:
		return "", errSelectorUnread
	case from.namespace == "":
		return "", errors.New("the hub reports the objects of one namespace at a time, so it was not asked; name one with -n instead of -A")
	}
	question := endpoint.Question{
		Command: endpoint.CommandFederated, Namespace: from.namespace, Objects: deliveredObjects(names), Output: o.output, Color: from.color,
	}
	if len(names) == 0 {
		var err error
		if question.Kinds, err = tools.ListableKinds(ctx, from.hub, from.namespace, o.deliveredKinds()); err != nil {
			return "", err
		}
		if len(question.Kinds) == 0 {
			return "", errors.New("this user may list no objects of a kind that is delivered in namespace " + from.namespace)
		}
	}
	answer, err := o.send(ctx, from.hub, from.config, question)
	return answer.Output, err
}

// deliveredObjects returns delivered objects as a question names them.
func deliveredObjects(names []deliveredName) []endpoint.Object {
	objects := make([]endpoint.Object, 0, len(names))
	for _, named := range names {
		objects = append(objects, endpoint.Object{Group: named.kind.Group, Kind: named.kind.Kind, Name: named.name})
	}
	return objects
}

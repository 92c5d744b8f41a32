// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"errors"
	"io"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/rest"

	"github.com/placement-hub/placement-hub/pkg/explain"
	"github.com/placement-hub/placement-hub/pkg/explain/endpoint"
	"github.com/placement-hub/placement-hub/pkg/explain/tools"
)

// askUnread has the hub compare the objects of a user who may not read what decides about them.
func (o *diffOptions) askUnread(
	ctx context.Context, config *rest.Config, given *explain.State, refused error, stdout io.Writer,
) (differs bool, err error) {
	if config == nil || !apierrors.IsForbidden(refused) {
		return false, refused
	}
	answer, err := o.ask(ctx, config, given)
	return answer.Differs, writeAnswer(stdout, answer.Output, refused, err)
}

// ask sends the files to the hub. The error is an *endpoint.AnswerError if the hub has answered with it.
func (o *diffOptions) ask(ctx context.Context, config *rest.Config, given *explain.State) (endpoint.Answer, error) {
	switch {
	case o.now != "":
		return endpoint.Answer{}, errors.New("the hub compares with the present, so it was not asked because of --now")
	case o.selector != nil:
		return endpoint.Answer{}, errSelectorUnread
	}
	namespace, objects, err := tools.ObjectsToCompare(given, o.delivered)
	if err != nil {
		return endpoint.Answer{}, err
	}
	hub, err := connect(config)
	if err != nil {
		return endpoint.Answer{}, err
	}
	question := endpoint.Question{
		Command: endpoint.CommandDiff, Namespace: namespace, Objects: objects, Output: o.output, ShowKept: o.showKept,
		Manifests: string(bytes.Join(o.manifests, []byte("\n---\n"))),
	}
	chosen := o.chosen()
	question.Write, question.FieldManager, question.ForceConflicts = string(chosen.Method), chosen.FieldManager, chosen.Force
	if err := tools.AddListable(ctx, hub, given, o.delivered, &question); err != nil {
		return endpoint.Answer{}, err
	}
	return o.send(ctx, hub, config, question)
}

// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/pkg/explain"
	"github.com/placement-hub/placement-hub/pkg/explain/endpoint"
	"github.com/placement-hub/placement-hub/pkg/explain/pods"
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
	kinds := o.deliveredKinds()
	if len(given.Pods.Policies) > 0 {
		kinds = pods.AddKinds(kinds)
	}
	if question.Kinds, err = listableKinds(ctx, hub, namespace, kinds); err != nil {
		return endpoint.Answer{}, err
	}
	if len(given.Pods.Policies) > 0 {
		if question.Workloads, question.WorkloadsLeftOut, err = workloadsToCompare(ctx, hub, namespace, question.Kinds); err != nil {
			return endpoint.Answer{}, err
		}
	}
	return o.send(ctx, hub, config, question)
}

// workloadsToCompare returns the workloads in a namespace of those of the kinds, as many as a question may name, and how many more there are. What
// belongs to another workload is not among them, because policies change it through that.
func workloadsToCompare(
	ctx context.Context, hub client.Reader, namespace string, kinds []endpoint.KindRef,
) (workloads []endpoint.Object, leftOut int, err error) {
	for _, named := range kinds {
		kind, known := pods.KindOfGroup(named.GroupKind())
		if !known {
			continue
		}
		list := &metav1.PartialObjectMetadataList{}
		list.SetGroupVersionKind(kind.GroupVersion().WithKind(kind.Kind + "List"))
		if err := hub.List(ctx, list, client.InNamespace(namespace)); err != nil {
			return nil, 0, fmt.Errorf("listing the %s of namespace %s: %w", kind.Resource, namespace, err)
		}
		for i := range list.Items {
			switch workload := &list.Items[i]; {
			case !pods.IsAdmitted(workload):
			case len(workloads) == endpoint.MaxWorkloads:
				leftOut++
			default:
				workloads = append(workloads, endpoint.Object{Group: kind.Group, Kind: kind.Kind, Name: workload.Name})
			}
		}
	}
	return workloads, leftOut, nil
}

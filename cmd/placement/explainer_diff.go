// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/placement-hub/placement-hub/pkg/explain"
	"github.com/placement-hub/placement-hub/pkg/explain/endpoint"
	"github.com/placement-hub/placement-hub/pkg/explain/hubstate/statefile"
	"github.com/placement-hub/placement-hub/pkg/federation"
)

// followersUnread is a note of a comparison by the hub for a user who may list no objects of a kind that is delivered.
const followersUnread = "objects that follow this Placement are not in the report: this user may list none of a kind that is delivered"

// errNotCompared refuses files with objects of kinds that the hub does not compare.
var errNotCompared = errors.New("the hub compares Placements, ManagedClusterSetBindings, objects that are delivered, PodSchedulingPolicies and " +
	"ClusterRequests, and the files have other objects")

// errBindingsAlone is about files of which the answer would have nothing to show.
var errBindingsAlone = errors.New("the files have ManagedClusterSetBindings alone, and this user may list no objects of a kind that is " +
	"delivered, so there is nothing to compare; add the Placements of the namespace to the files")

// compare compares the objects of a Question with the hub, as placement diff does. The caller may write each of them.
func (e *hubExplainer) compare(ctx context.Context, question *endpoint.Question) (endpoint.Answer, error) {
	differences, err := e.compared(ctx, question)
	if err != nil {
		return endpoint.Answer{}, err
	}
	answer, err := answerWith(question, differences, differenceStyle(question.ShowKept))
	if err != nil {
		return endpoint.Answer{}, err
	}
	answer.Differs = differences.Differ()
	if err := unresolved(differences); err != nil {
		return answer, &endpoint.AnswerError{Err: err}
	}
	return answer, nil
}

// compared returns the differences that the manifests of a Question make. Of a user with all rights the comparison is whole; for others it has the
// objects that the Question names, and those of its kinds.
func (e *hubExplainer) compared(ctx context.Context, question *endpoint.Question) (*explain.Differences, error) {
	shown := e.shownIn(question)
	o := &diffOptions{output: question.Output, showKept: question.ShowKept, hubLimit: e.limit, requestOptions: e.requests}
	o.delivered, o.workloads = e.delivered, workloadsIn(question)
	changes, given, err := o.changesIn(question)
	if err != nil {
		return nil, &endpoint.AnswerError{Err: err}
	}
	if e.limited {
		o.wanted, o.unfollowed = shown.has, !shown.delivered
	}
	if o.unfollowed && bindingsAlone(given) {
		return nil, &endpoint.AnswerError{Err: errBindingsAlone}
	}
	hub, unread, err := o.readLive(ctx, e.hub, given)
	if err := errors.Join(err, unread); err != nil {
		return nil, err
	}
	e.prepare(ctx, hub)
	if e.limited {
		hub.Pods.Missing = unreadByHub(hub.Pods.Missing)
	}
	differences, err := o.compareAll(hub, given, changes, e.now())
	if err != nil {
		return nil, &endpoint.AnswerError{Err: err}
	}
	if e.limited {
		shown.limit(&differences, question)
	}
	return &differences, nil
}

// limit removes from a comparison what may not be shown, and adds notes on what it leaves out.
func (s *shownObjects) limit(differences *explain.Differences, question *endpoint.Question) {
	for _, each := range tools {
		if each.limit != nil {
			each.limit(s, differences, question)
		}
	}
}

// changesIn reads the manifests of a Question. They must be the objects that it names, and nothing else.
func (o *diffOptions) changesIn(question *endpoint.Question) (*statefile.ChangeReader, *explain.State, error) {
	changes, err := newChanges(statefile.Namespace{Name: question.Namespace, Enforced: true}, o.delivered)
	if err != nil {
		return nil, nil, err
	}
	changes.Read("manifests", []byte(question.Manifests))
	given, err := changes.State()
	if err != nil {
		return nil, nil, err
	}
	namespace, objects, err := objectsToCompare(given, o.delivered)
	if err != nil {
		return nil, nil, err
	}
	return changes, given, checkNamed(question, namespace, objects)
}

// checkNamed returns an error unless a Question names the objects of its manifests, for which the rights of the caller were checked.
func checkNamed(question *endpoint.Question, namespace string, objects []endpoint.Object) error {
	if namespace != question.Namespace {
		return fmt.Errorf("the manifests are of namespace %s, and the question is about %s", namespace, question.Namespace)
	}
	named := make(map[endpoint.Object]bool, len(question.Objects))
	for _, object := range question.Objects {
		named[object] = true
	}
	for _, object := range objects {
		if !named[object] {
			return fmt.Errorf("the manifests have or use %s %s, which objects does not name", object.Kind, object.Name)
		}
	}
	return nil
}

// bindingsAlone reports whether files have bindings and nothing else.
func bindingsAlone(given *explain.State) bool {
	others := len(given.Placements) + len(given.Federated.Objects) + len(given.Pods.Policies) + len(given.ClusterRequests.Requests)
	return len(given.Bindings) > 0 && others == 0
}

// objectsToCompare returns the one namespace of the objects of files, and the objects that a question about them names: each of them, and the
// Purposes that the ClusterRequests use.
func objectsToCompare(given *explain.State, delivered []federation.FederatedKind) (namespace string, objects []endpoint.Object, err error) {
	namespaces, objects, all := objectsIn(given, delivered, endpoint.CommandDiff)
	if !all {
		return "", nil, errNotCompared
	}
	for _, binding := range given.Bindings {
		if binding.Spec.ClusterSet != binding.Name {
			return "", nil, fmt.Errorf("ManagedClusterSetBinding %s: spec.clusterSet is %q, and must be the name of the binding, or admission "+
				"refuses it; correct one of them", binding.Name, binding.Spec.ClusterSet)
		}
	}
	used := map[string]bool{}
	for _, request := range given.ClusterRequests.Requests {
		for _, purpose := range request.Spec.Purposes {
			if !used[string(purpose)] {
				used[string(purpose)] = true
				objects = append(objects, endpoint.Object{Group: purposeKind.Group, Kind: purposeKind.Kind, Name: string(purpose)})
			}
		}
	}
	if len(namespaces) != 1 {
		return "", nil, fmt.Errorf("the hub compares the objects of one namespace at a time, and the files have %d", len(namespaces))
	}
	return namespaces[0], objects, nil
}

// requestObject returns a ClusterRequest as a question names it.
func requestObject(name string) endpoint.Object {
	return endpoint.Object{Group: requestKind.Group, Kind: requestKind.Kind, Name: name}
}

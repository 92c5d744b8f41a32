// SPDX-License-Identifier: Apache-2.0

package answers

import (
	"context"
	"errors"
	"fmt"

	"github.com/placement-hub/placement-hub/pkg/explain"
	"github.com/placement-hub/placement-hub/pkg/explain/admission"
	"github.com/placement-hub/placement-hub/pkg/explain/endpoint"
	"github.com/placement-hub/placement-hub/pkg/explain/hubstate/statefile"
	"github.com/placement-hub/placement-hub/pkg/explain/tools"
	"github.com/placement-hub/placement-hub/pkg/explain/writes"
)

// errBindingsAlone is about files of which the answer would have nothing to show.
var errBindingsAlone = errors.New("the files have ManagedClusterSetBindings alone, and this user may list no objects of a kind that is " +
	"delivered, so there is nothing to compare; add the Placements of the namespace to the files")

// compare compares the objects of a Question with the hub, as placement diff does. The caller may write each of them.
func (e *Explainer) compare(ctx context.Context, question *endpoint.Question) (endpoint.Answer, error) {
	differences, err := e.compared(ctx, question)
	if err != nil {
		return endpoint.Answer{}, err
	}
	answer, err := answerWith(question, differences, DifferenceStyle(question.ShowKept))
	if err != nil {
		return endpoint.Answer{}, err
	}
	answer.Differs = differences.Differ()
	if err := tools.Unresolved(differences); err != nil {
		return answer, &endpoint.AnswerError{Err: err}
	}
	return answer, nil
}

// compared returns the differences that the manifests of a Question make. Of a user with all rights the comparison is whole; for others it has the
// objects that the Question names, and those of its kinds.
func (e *Explainer) compared(ctx context.Context, question *endpoint.Question) (*explain.Differences, error) {
	visible := e.VisibleIn(question)
	o := &tools.DiffOptions{Settings: e.Settings, Workloads: tools.WorkloadsIn(question)}
	o.Writes.Chosen = writes.Write{
		Method: writes.Method(question.Write), FieldManager: question.FieldManager, Force: question.ForceConflicts,
	}
	o.Writes.Review = admission.NewReviewer(ctx, e.Definitions.Policies)
	changes, given, err := e.changesIn(question)
	if err != nil {
		return nil, &endpoint.AnswerError{Err: err}
	}
	if e.Limited {
		o.Wanted, o.Unfollowed = visible.Has, !visible.Delivered
	}
	if o.Unfollowed && bindingsAlone(given) {
		return nil, &endpoint.AnswerError{Err: errBindingsAlone}
	}
	hub, unread, err := o.Read(ctx, e.Client, given)
	if err := errors.Join(err, unread); err != nil {
		return nil, err
	}
	if err := o.ReadLive(ctx, e.Client, changes); err != nil {
		return nil, err
	}
	e.prepare(ctx, hub)
	if e.Limited {
		hub.Pods.Missing = unreadByHub(hub.Pods.Missing)
	}
	differences, err := o.Compare(hub, given, changes, e.Now())
	if err != nil {
		return nil, &endpoint.AnswerError{Err: err}
	}
	if e.Limited {
		limit(visible, &differences, question)
	}
	return &differences, nil
}

// limit removes from a comparison what may not be shown, and adds notes on what it leaves out.
func limit(visible *tools.Visible, differences *explain.Differences, question *endpoint.Question) {
	for _, each := range tools.With[tools.Limiter]() {
		each.Limit(visible, differences, question)
	}
	if differences.Otherwise != nil {
		limit(visible, differences.Otherwise, question)
	}
}

// changesIn reads the manifests of a Question. They must be the objects that it names, and nothing else.
func (e *Explainer) changesIn(question *endpoint.Question) (*statefile.ChangeReader, *explain.State, error) {
	changes, err := e.Definitions.ChangeReader(statefile.Namespace{Name: question.Namespace, Enforced: true}, e.Delivered)
	if err != nil {
		return nil, nil, err
	}
	changes.Read("manifests", []byte(question.Manifests))
	given, err := changes.State()
	if err != nil {
		return nil, nil, err
	}
	namespace, objects, err := tools.ObjectsToCompare(given, e.Delivered)
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

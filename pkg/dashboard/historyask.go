// SPDX-License-Identifier: Apache-2.0

package dashboard

import (
	"context"
	"errors"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/pkg/explain/endpoint"
	"github.com/placement-hub/placement-hub/pkg/explain/hubstate"
	"github.com/placement-hub/placement-hub/pkg/explain/movelist"
	"github.com/placement-hub/placement-hub/pkg/history"
	"github.com/placement-hub/placement-hub/pkg/placement/api"
)

// askHistory asks the hub a question. A hub without a history says why there is none.
func (v *visit) askHistory(ctx context.Context, question endpoint.Question) (*happened, error) {
	told := &happened{List: movelist.List{Now: metav1.NewTime(v.now), Namespace: question.Namespace, Moves: []history.Move{}}}
	found, err := v.hub.Explain(ctx, v.caller, Question{Question: question})
	if answered, is := errors.AsType[*endpoint.AnswerError](err); is {
		told.Missing = answered.Error()
		return told, nil
	}
	if err != nil {
		return nil, err
	}
	list, is := found.(*movelist.List)
	if !is {
		return nil, fmt.Errorf("the answer about what happened is a %T", found)
	}
	told.List = *list
	return told, nil
}

// everywhereHappened asks the hub about the namespaces of the page.
func (v *visit) everywhereHappened(ctx context.Context, question endpoint.Question) (*happened, error) {
	namespaces, err := v.namespacesShown(ctx)
	if err != nil {
		return nil, err
	}
	return v.happenedIn(ctx, namespaces, question)
}

// happenedIn asks the hub about the namespaces of namespacesShown: one question for each, or one for all where the caller may list all.
func (v *visit) happenedIn(ctx context.Context, namespaces []string, question endpoint.Question) (told *happened, err error) {
	told = &happened{List: movelist.List{Now: metav1.NewTime(v.now), Namespace: v.namespace(), Moves: []history.Move{}}}
	asked := 0
	for _, namespace := range namespaces {
		if asked == namespacesAsked {
			told.Notes = append(told.Notes, fmt.Sprintf("Of the %d namespaces that you may read, these are the rows of the first %d: choose "+
				"a namespace.", len(namespaces), asked))
			break
		}
		question.Namespace = namespace
		if question.Kinds, err = v.historyKinds(ctx, namespace); err != nil {
			return nil, err
		}
		if len(question.Kinds) == 0 {
			continue
		}
		asked++
		one, err := v.askHistory(ctx, question)
		if err != nil {
			return nil, err
		}
		if one.Missing != "" {
			return one, nil
		}
		told.merge(one, question.Limit)
	}
	if asked == 0 {
		told.Missing = fmt.Sprintf("There is no history that you may read%s. A RoleBinding to view in a namespace shows what happened in it, and a "+
			"ClusterRoleBinding to %s what happened in all.", v.where(), hubstate.FleetViewRole)
	}
	return told, nil
}

// merge adds the rows of another answer, and keeps the latest.
func (h *happened) merge(other *happened, limit int) {
	if limit == 0 {
		limit = rowsAnswered
	}
	h.Moves = append(h.Moves, other.Moves...)
	slices.SortStableFunc(h.Moves, byTime)
	h.More, h.Derived = h.More || other.More, h.Derived || other.Derived
	if extra := len(h.Moves) - limit; extra > 0 {
		h.Moves, h.More = h.Moves[extra:], true
	}
}

// historyKinds returns the kinds of Placements, delivered objects and ClusterRequests that the caller may list in a namespace, or in all if it is
// empty. A hub that reviews the rights of its users reads nothing for that.
func (v *visit) historyKinds(ctx context.Context, namespace string) ([]endpoint.KindRef, error) {
	kinds := append(deliveredKinds(v), requestKind)
	for _, adapter := range api.Adapters() {
		kinds = append(kinds, adapter.Kind())
	}
	var may []endpoint.KindRef
	for _, kind := range kinds {
		list := &metav1.PartialObjectMetadataList{}
		list.SetGroupVersionKind(kind.GroupVersion().WithKind(kind.Kind + "List"))
		switch err := v.mayList(ctx, list, client.InNamespace(namespace)); {
		case err == nil:
			may = append(may, endpoint.KindRef{Group: kind.Group, Kind: kind.Kind})
		case !apierrors.IsForbidden(err) && !apierrors.IsNotFound(err) && !meta.IsNoMatchError(err):
			return nil, err
		}
	}
	return may, nil
}

// mayList returns the error Forbidden if the caller may not list objects.
func (v *visit) mayList(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	reader := v.reader()
	if checker, is := reader.(hubstate.Checker); is {
		return checker.MayList(ctx, list, options...)
	}
	return reader.List(ctx, list, append(options, client.Limit(1))...) //nolint:wrapcheck // Its kind decides what is done.
}

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/rest"

	"github.com/placement-hub/placement-hub/pkg/decision/api"
	"github.com/placement-hub/placement-hub/pkg/explain"
	"github.com/placement-hub/placement-hub/pkg/explain/endpoint"
	"github.com/placement-hub/placement-hub/pkg/inventory"
)

// onlyPlacements reports whether the objects of files are Placements alone.
func onlyPlacements(given *explain.State) bool {
	return !decidesPods(&given.Pods) && !decidesDelivery(given) && given.ClusterRequests.Empty()
}

// askUnread has the hub compare the Placements of a user who may not read what decides about them.
func (o *diffOptions) askUnread(
	ctx context.Context, config *rest.Config, placements []inventory.Key, given *explain.State, refused error, stdout io.Writer,
) (differs bool, err error) {
	if config == nil || !apierrors.IsForbidden(refused) {
		return false, refused
	}
	answer, err := o.ask(ctx, config, placements, given)
	if !answered(err) {
		return false, unanswered(refused, err)
	}
	if _, failed := io.WriteString(stdout, answer.Output); failed != nil {
		return false, fmt.Errorf("printing the answer: %w", failed)
	}
	return answer.Differs, err
}

// ask sends the files to the hub. The error is an *endpoint.AnswerError if the hub has answered with it.
func (o *diffOptions) ask(
	ctx context.Context, config *rest.Config, placements []inventory.Key, given *explain.State,
) (endpoint.Answer, error) {
	switch {
	case o.now != "":
		return endpoint.Answer{}, errors.New("the hub compares with the present, so it was not asked because of --now")
	case o.selector != nil:
		return endpoint.Answer{}, errSelectorUnread
	case !o.effects.onlyPlacements(given):
		return endpoint.Answer{}, errors.New("the hub compares Placements alone, and the files have other objects")
	}
	objects := make([]endpoint.Object, 0, len(placements))
	for _, key := range placements {
		if key.Namespace != placements[0].Namespace {
			return endpoint.Answer{}, errors.New("the hub compares the Placements of one namespace at a time, and the files have several")
		}
		kind := api.Of(key).Kind()
		objects = append(objects, endpoint.Object{Group: kind.Group, Kind: kind.Kind, Name: key.Name})
	}
	hub, err := connect(config)
	if err != nil {
		return endpoint.Answer{}, err
	}
	address, err := o.address(ctx, hub)
	if err != nil {
		return endpoint.Answer{}, err
	}
	return endpoint.Ask(ctx, config, address, endpoint.Question{
		Namespace: placements[0].Namespace, Objects: objects, Output: o.output, ShowKept: o.showKept,
		Manifests: string(bytes.Join(o.manifests, []byte("\n---\n"))),
	})
}

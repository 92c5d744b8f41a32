// SPDX-License-Identifier: Apache-2.0

package casetests

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
	requests "github.com/placement-hub/placement-hub/pkg/clusterrequest/explain"
	"github.com/placement-hub/placement-hub/pkg/explain"
	"github.com/placement-hub/placement-hub/pkg/explain/endpoint"
	"github.com/placement-hub/placement-hub/pkg/explain/placementtest/cases"
	"github.com/placement-hub/placement-hub/pkg/explain/placementtest/evaluate"
	"github.com/placement-hub/placement-hub/pkg/explain/printers"
	"github.com/placement-hub/placement-hub/pkg/placement/api"
)

// ask evaluates cases by the explanations of the hub, for a user who may not read all that decides. The error says which rights are missing if the
// hub does not answer.
func (o *Options) ask(ctx context.Context, read []*cases.Case, now time.Time, refused error) (evaluate.Results, error) {
	if o.Now != "" {
		return evaluate.Results{}, endpoint.Unanswered(refused, errors.New("the hub explains the present, so it was not asked because of --now"))
	}
	if o.Coverage {
		return evaluate.Results{}, endpoint.Unanswered(refused, errors.New("--coverage reads all clusters, so it was not asked; leave it out"))
	}
	hub, config, _, err := o.ConnectHub()
	if err != nil {
		return evaluate.Results{}, err
	}
	var (
		answered   bool
		unanswered error
	)
	results := evaluate.RunExplained(now, read, func(c *cases.Case) (evaluate.Explained, error) {
		namespace, object := askedOf(&c.Spec.Objects)
		answer, err := o.Send(ctx, hub, config, endpoint.Question{
			Command: endpoint.CommandExplain, Namespace: namespace, Objects: []endpoint.Object{object}, Output: string(printers.FormatJSON),
		})
		answered = answered || endpoint.Answered(err)
		if err != nil {
			unanswered = err
			return evaluate.Explained{}, err
		}
		return explainedIn(answer.Output)
	})
	if unanswered != nil && !answered {
		return evaluate.Results{}, endpoint.Unanswered(refused, unanswered)
	}
	return results, nil
}

// askedOf returns the object that a case is about.
func askedOf(objects *cases.Objects) (namespace string, object endpoint.Object) {
	switch {
	case objects.Placement != "":
		namespace, object.Name, _ = strings.Cut(objects.Placement, "/")
		kind := api.V1beta1.Kind()
		for _, adapter := range api.Adapters() {
			if adapter.Kind().Group == objects.APIGroup {
				kind = adapter.Kind()
			}
		}
		object.Group, object.Kind = kind.Group, kind.Kind
	case objects.ClusterRequest != "":
		namespace, object.Name, _ = strings.Cut(objects.ClusterRequest, "/")
		object.Group, object.Kind = openmcpv1alpha1.GroupName, "ClusterRequest"
	default:
		parts := strings.Split(objects.Federated, "/")
		object.Kind, object.Group, _ = strings.Cut(parts[0], ".")
		namespace, object.Name = parts[1], parts[2]
	}
	return namespace, object
}

// explainedIn returns the one object of an answer.
func explainedIn(output string) (evaluate.Explained, error) {
	var (
		placed    explain.Reports
		requested requests.Reports
	)
	if err := errors.Join(json.Unmarshal([]byte(output), &placed), json.Unmarshal([]byte(output), &requested)); err != nil {
		return evaluate.Explained{}, fmt.Errorf("reading the answer of the hub: %w", err)
	}
	switch {
	case len(placed.Placements) == 1:
		return evaluate.Explained{Placement: &placed.Placements[0]}, nil
	case len(placed.Objects) == 1:
		return evaluate.Explained{Delivered: &placed.Objects[0]}, nil
	case len(requested.Requests) == 1:
		return evaluate.Explained{Request: &requested.Requests[0]}, nil
	default:
		return evaluate.Explained{}, errors.New("spec.objects: the hub explains no such object; correct the name")
	}
}

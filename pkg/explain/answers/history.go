// SPDX-License-Identifier: Apache-2.0

package answers

import (
	"context"
	"errors"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/pkg/explain/access"
	"github.com/placement-hub/placement-hub/pkg/explain/document"
	"github.com/placement-hub/placement-hub/pkg/explain/endpoint"
	"github.com/placement-hub/placement-hub/pkg/explain/movelist"
	"github.com/placement-hub/placement-hub/pkg/explain/printers"
	"github.com/placement-hub/placement-hub/pkg/explain/tools"
	"github.com/placement-hub/placement-hub/pkg/history"
	"github.com/placement-hub/placement-hub/pkg/placement/api"
)

const (
	// mostRows and mostBytes bound the rows of an answer, and mostReviews the objects of causes for which rights are asked.
	mostRows    = 1000
	mostBytes   = 8 << 20
	mostReviews = 100
)

// History has what happened to decisions. It is safe for concurrent use.
type History interface {
	// Find returns the rows that a Query selects, oldest first, and whether its limit has left some out.
	Find(query history.Query) ([]*history.Move, bool)
	// Leads reports whether this process evaluates.
	Leads() bool
	// NamespaceUID returns the present uid of a namespace; empty if there is none, or the hub may not know.
	NamespaceUID(ctx context.Context, name string) (types.UID, error)
}

// errNoHistory is about a hub without a history.
var errNoHistory = &endpoint.AnswerError{Err: errors.New("the hub keeps no history of decisions: an administrator starts " +
	"it with --history=memory and --history-bytes above 0")}

// askedForHistory returns the rights that permit a question about what happened to objects.
func (e *Explainer) askedForHistory(question *endpoint.Question) ([]access.Asked, error) {
	kept := tools.KindsFor(e.Delivered, endpoint.CommandHistory)
	resourceOf := func(field string, i int, kind schema.GroupKind) (schema.GroupVersionResource, error) {
		resource, known := e.ResourceOf(kind)
		if !known || !slices.ContainsFunc(kept, func(other schema.GroupVersionKind) bool { return other.GroupKind() == kind }) {
			return resource, fmt.Errorf("%s[%d]: the hub keeps the history of Placements, delivered objects and ClusterRequests, and not of the "+
				"kind %s; leave it out", field, i, kind)
		}
		return resource, nil
	}
	asked := make([]access.Asked, 0, len(question.Objects)+len(question.Kinds))
	for i, object := range question.Objects {
		resource, err := resourceOf("objects", i, object.GroupKind())
		if err != nil {
			return nil, err
		}
		asked = append(asked, access.Asked{Verb: access.VerbGet, Resource: resource, Namespace: question.Namespace, Name: object.Name})
	}
	for i, kind := range question.Kinds {
		resource, err := resourceOf("kinds", i, kind.GroupKind())
		if err != nil {
			return nil, err
		}
		asked = append(asked, access.Asked{
			Verb: access.VerbList, Resource: resource, Namespace: question.Namespace, AllNamespaces: question.Namespace == "",
		})
	}
	return asked, nil
}

// happened answers what happened to Placements. The caller may read the Placements that the Question names, and list those of its kinds; what is
// shown of each cause takes a right of its own.
func (e *Explainer) happened(ctx context.Context, question *endpoint.Question) (endpoint.Answer, error) {
	list, err := e.moves(ctx, question)
	if err != nil {
		return endpoint.Answer{}, err
	}
	style := printers.Style{Color: question.Color, Width: question.Width}
	style.Options = document.Options{Wide: printers.Format(question.Output) == printers.FormatWide}
	return answerWith(question, list, style)
}

// moves returns what happened to the Placements of a Question.
func (e *Explainer) moves(ctx context.Context, question *endpoint.Question) (*movelist.List, error) {
	if e.History == nil {
		return nil, errNoHistory
	}
	query := history.Query{Namespace: question.Namespace, Clusters: question.Clusters, Limit: mostRows, Has: func(object history.Object) bool {
		return slices.ContainsFunc(question.Objects, func(named endpoint.Object) bool {
			return named.Group == object.Group && named.Kind == object.Kind && named.Name == object.Name
		}) || slices.Contains(question.Kinds, endpoint.KindRef{Group: object.Group, Kind: object.Kind})
	}}
	if question.Since != nil {
		query.Since = question.Since.Time
	}
	if question.Limit > 0 {
		query.Limit = min(question.Limit, mostRows)
	}
	found, more := e.History.Find(query)
	size, first := 0, len(found) // The latest rows are answered.
	for first > 0 && size+found[first-1].Size() <= mostBytes {
		first--
		size += found[first].Size()
	}
	found, more = found[first:], more || first > 0
	sights := &sights{explainer: e, namespace: question.Namespace, sights: map[sightKey]movelist.Sight{}, may: map[history.Object]bool{}}
	shown, err := movelist.Select(ctx, found, movelist.Rules{Shown: sights.shown, Sight: sights.of})
	if err != nil {
		return nil, err
	}
	return &movelist.List{
		Now: metav1.NewTime(e.Now()), Namespace: question.Namespace, Moves: shown, More: more, Derived: !e.History.Leads(),
	}, nil
}

// sights decides what the caller of one answer sees.
type sights struct {
	explainer *Explainer
	namespace string

	// uid is that of the namespace, once it is read; empty if it is not known.
	uid    types.UID
	read   bool
	placed map[string]bool
	sights map[sightKey]movelist.Sight
	// may has the rights to get objects, and those of an empty name to get all of a kind.
	may     map[history.Object]bool
	reviews int
}

// sightKey is an object of a cause, for the decisions of a namespace.
type sightKey struct {
	history.Object

	of string
}

// shown reports whether a row is that of the present namespace (docs/spec/history.md HI9). Who asks about all namespaces may list them all.
func (s *sights) shown(ctx context.Context, move *history.Move) (bool, error) {
	if s.namespace == "" {
		return true, nil
	}
	if !s.read {
		uid, err := s.explainer.History.NamespaceUID(ctx, s.namespace)
		if err != nil {
			return false, fmt.Errorf("finding out of which namespace the rows are: %w", err)
		}
		s.read, s.uid = true, uid
	}
	if move.NamespaceUID != "" && s.uid != "" {
		return move.NamespaceUID == string(s.uid), nil
	}
	return s.exists(ctx, move)
}

// exists reports whether the Placement of a row exists with its uid.
func (s *sights) exists(ctx context.Context, move *history.Move) (bool, error) {
	if exists, known := s.placed[move.UID]; known {
		return exists, nil
	}
	for _, adapter := range api.Adapters() {
		if adapter.Kind().Group != move.Group {
			continue
		}
		object := adapter.Empty()
		err := s.explainer.Client.Get(ctx, client.ObjectKey{Namespace: move.Namespace, Name: move.Name}, object)
		if err != nil && !apierrors.IsNotFound(err) {
			return false, fmt.Errorf("reading a Placement of the namespace %s: %w", move.Namespace, err)
		}
		if s.placed == nil {
			s.placed = map[string]bool{}
		}
		s.placed[move.UID] = err == nil && move.UID != "" && string(object.GetUID()) == move.UID
	}
	return s.placed[move.UID], nil
}

// of returns how much of a cause is shown (docs/spec/history.md HI10).
func (s *sights) of(ctx context.Context, namespace string, cause *history.Cause) (movelist.Sight, error) {
	key := sightKey{history.Object{Group: cause.Group, Kind: cause.Kind, Namespace: cause.Namespace, Name: cause.Name}, namespace}
	if sight, known := s.sights[key]; known {
		return sight, nil
	}
	all, err := s.mayGet(ctx, history.Object{Group: cause.Group, Kind: cause.Kind})
	if err == nil && !all {
		all, err = s.mayGet(ctx, key.Object)
	}
	if err != nil {
		return movelist.Nothing, err
	}
	sight := movelist.All
	if !all {
		sight = s.inScope(namespace, cause)
	}
	s.sights[key] = sight
	return sight, nil
}

// mayGet reports whether the caller may get an object, or without a name all of its kind. Each is reviewed once, and beyond mostReviews none.
func (s *sights) mayGet(ctx context.Context, object history.Object) (bool, error) {
	resource, known := s.explainer.causeResource(schema.GroupKind{Group: object.Group, Kind: object.Kind})
	may, reviewed := s.may[object]
	if !known || reviewed || s.reviews == mostReviews {
		return may, nil
	}
	s.reviews++
	may, err := access.May(ctx, access.VerbGet, resource, object.Namespace, object.Name)
	if err == nil {
		s.may[object] = may
	}
	return may, err
}

// causeResource returns the resource of the object of a cause: of what decisions depend on, or of an object that has decisions.
func (e *Explainer) causeResource(kind schema.GroupKind) (schema.GroupVersionResource, bool) {
	if resource, known := causeResources[kind]; known {
		return resource, true
	}
	return e.ResourceOf(kind)
}

// causeResources are the resources of what decisions depend on.
var causeResources = map[schema.GroupKind]schema.GroupVersionResource{
	{Group: clusterv1.GroupName, Kind: "ManagedCluster"}:           schema.GroupVersion(clusterv1.GroupVersion).WithResource("managedclusters"),
	{Group: clusterv1.GroupName, Kind: "ManagedClusterSet"}:        setResource,
	{Group: clusterv1.GroupName, Kind: "ManagedClusterSetBinding"}: bindingResource,
	{Group: clusterv1.GroupName, Kind: "AddOnPlacementScore"}: schema.GroupVersion(clusterv1alpha1.GroupVersion).
		WithResource("addonplacementscores"),
}

// inScope returns how much of a cause explain shows to who may not read its object: clusters in scope of the namespace, and the sets bound to it.
func (s *sights) inScope(namespace string, cause *history.Cause) movelist.Sight {
	if s.explainer.Live == nil || !s.explainer.Live.Synced() {
		return movelist.Nothing
	}
	snapshot := s.explainer.Live.Snapshot()
	scope := snapshot.Scope(namespace, nil)
	var cluster string
	switch cause.Kind {
	case "ManagedCluster":
		cluster = cause.Name
	case "AddOnPlacementScore":
		cluster = cause.Namespace
	case "ManagedClusterSet":
		if slices.Contains(scope.Bound, cause.Name) {
			return movelist.Value
		}
		return movelist.Nothing
	default:
		return movelist.Nothing
	}
	if info := snapshot.Cluster(cluster); info != nil && scope.Contains(info) {
		return movelist.Value
	}
	return movelist.Nothing
}

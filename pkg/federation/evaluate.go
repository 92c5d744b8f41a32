// SPDX-License-Identifier: Apache-2.0

package federation

import (
	"errors"
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/placement-hub/placement-hub/pkg/inventory"
	"github.com/placement-hub/placement-hub/pkg/scheduling"
	"github.com/placement-hub/placement-hub/pkg/selector"
)

// Object is an object of the hub, with what of it decides about its delivery.
type Object struct {
	Kind FederatedKind
	Meta metav1.ObjectMeta
	Body Body
}

// Identity returns the identity of the object.
func (o *Object) Identity() Identity {
	identity := Identity{Kind: o.Kind}
	identity.Namespace, identity.Name = o.Meta.Namespace, o.Meta.Name
	return identity
}

// View is the state of the hub around an object.
type View struct {
	// Compiler compiles the selector of the object.
	Compiler *selector.Compiler
	// Snapshot returns the clusters, sets and bindings by which a request is evaluated; a controller subscribes with the request first.
	Snapshot func(*scheduling.Request) *inventory.Snapshot
	// HubNamespace is the namespace of the hub.
	HubNamespace string
	// Namespace is the metadata of the Namespace of the object; nil if it is unknown.
	Namespace *metav1.ObjectMeta
	// Works are the existing works of the object.
	Works []ExistingWork
	// Unguarded reports that others may change the works, so that they are no record of what was planned.
	Unguarded bool
	// Decisions returns the decisions of a Placement of the namespace.
	Decisions func(placement string) Decisions
	// Users are the workloads that propagate the object as a dependency.
	Users Users
	// Reached returns the clusters to which a dependency is delivered; false if that is not known yet.
	Reached func(Dependency) ([]string, bool)
}

// Decisions are the clusters that a Placement has selected.
type Decisions struct {
	// Problem describes why there are none to rely on, such as "is being deleted"; empty otherwise.
	Problem string
	// Similar is the name of a Placement that may be meant, if the one that is named does not exist; empty if there is none.
	Similar string
	// Clusters are sorted, each once.
	Clusters []string
}

// Users are the workloads of a namespace that propagate a dependency.
type Users struct {
	// Clusters are the clusters to which they are delivered, in any order.
	Clusters []string
	// Pending is a workload whose dependencies are not known yet; empty if there is none. It may turn out to be a user.
	Pending string
}

// State is what is done for an object.
type State string

const (
	// Delivering means that the works follow the selected clusters.
	Delivering State = "Delivering"
	// Held means that the works stay as they are because of a mistake or because something is missing.
	Held State = "Held"
	// Suspended means that the works stay as they are because the namespace does not take part.
	Suspended State = "Suspended"
	// NotDelivered means that the object is excluded, and has no works.
	NotDelivered State = "NotDelivered"
	// Deleting means that the object is being deleted, and its works with it.
	Deleting State = "Deleting"
)

// Reasons of the Events about an object (docs/spec/federated-selector.md 3.1.4).
const (
	ReasonClusterSelectorInvalid = "ClusterSelectorInvalid"
	ReasonDelivered              = "Delivered"
	ReasonWithdrawn              = "Withdrawn"
	ReasonDeliveryConflict       = "DeliveryConflict"
	ReasonDeliveryFailed         = "DeliveryFailed"
	ReasonTooLarge               = "TooLarge"
	ReasonDependenciesMissing    = "DependenciesMissing"
	ReasonReplicasUnplaced       = "ReplicasUnplaced"
	ReasonRemovalHeld            = "RemovalHeld"
	ReasonFederationSuspended    = "FederationSuspended"
	ReasonDeletionWaiting        = "DeletionWaiting"
)

// Evaluation is the result of the pipeline for an object. The controller carries it out, and all other readers display it.
type Evaluation struct {
	Object Object
	State  State
	// Reason is the reason of the Event about the State, empty if there is none, and Message a sentence about the State; empty while
	// Delivering.
	Reason, Message string
	// Target is what the annotations ask for; zero if they cannot be parsed.
	Target Target
	// Result has the verdict on every cluster. It is nil unless the object was scheduled by its own selector.
	Result *scheduling.Result
	// Selected are the clusters that get the object, sorted. Propagated are those of them that only users of the object have.
	Selected, Propagated []string
	// Replicas has the number of replicas of each selected cluster; nil for kinds without replicas.
	Replicas map[string]int32
	// Missing are the dependencies that do not reach all selected clusters.
	Missing []MissingDependency
	// Propagates reports whether the dependencies are delivered with the object.
	Propagates bool
	// Works are the existing works of the object.
	Works []ExistingWork

	// serviceAccount is created with the object in the members; empty for none.
	serviceAccount string
	// replicaLimits has what keeps each selected cluster of a workload from more replicas; empty for one that would take more.
	replicaLimits map[string]string
	snapshot      *inventory.Snapshot
	// pendingUser is View.Users.Pending, and pendingDependency reports that the clusters of a dependency are not known yet.
	pendingUser       string
	pendingDependency bool
	// leaving are the clusters of users of the object that have left the scope, and matchesNone reports that the selector matches no cluster in
	// scope.
	leaving     []string
	matchesNone bool
}

// Evaluate runs the pipeline for an object: it chooses the clusters, distributes the replicas and looks for missing dependencies
// (docs/spec/federated-selector.md 3.1.4). It is a pure function of its arguments and of what the functions of the view return.
func Evaluate(object Object, view View, now time.Time) *Evaluation {
	e := &Evaluation{Object: object, Works: view.Works, pendingUser: view.Users.Pending}
	if !object.Meta.DeletionTimestamp.IsZero() {
		e.snapshot = view.Snapshot(scopeRequest(&object))
		return e.delete(now)
	}
	namespace := view.Namespace
	if namespace == nil {
		return e.hold(Held, "", "the Namespace "+object.Meta.Namespace+" is not known yet")
	}
	e.Propagates = Propagates(object.Meta.Annotations, namespace.Annotations)

	target, err := Choose(object.Meta.Annotations, namespace.Annotations)
	if err = errors.Join(CheckNames(object.Meta.Annotations), err); err != nil {
		e.snapshot = view.Snapshot(scopeRequest(&object))
		return e.holdOutside(view, err)
	}
	e.Target = target

	request, err := target.Request(view.Compiler, object.Key())
	if err != nil {
		e.snapshot = view.Snapshot(scopeRequest(&object))
		return e.holdOutside(view, err)
	}
	if request == nil {
		request = scopeRequest(&object)
	}
	request.Availability = object.Kind.HasReplicas()
	e.snapshot = view.Snapshot(request)

	if outside := e.outside(view); outside != nil {
		return outside
	}
	if mistake := object.Body.Mistake; mistake != "" {
		return e.hold(Held, ReasonDeliveryFailed, fmt.Sprintf("%s stays in its clusters as it is: %s. Correct the object",
			object.Identity(), mistake))
	}
	if target.Placement != "" {
		return e.byPlacement(view)
	}

	e.Result = scheduling.Schedule(request, e.snapshot, e.incumbents(), now)
	if e.Result.Outcome() != scheduling.Decided {
		return e.hold(Held, "", "a ManagedClusterSet that is bound to the namespace has an invalid selector; its works stay as they are")
	}
	selected := make([]string, 0, len(e.Result.Selected))
	for _, cluster := range e.Result.Selected {
		selected = append(selected, cluster.Name)
	}

	e.matchesNone = len(target.Requirements) > 0 && !slices.ContainsFunc(e.Result.Verdicts(), func(verdict scheduling.Verdict) bool {
		return !slices.Contains([]scheduling.Stage{scheduling.StageScope, scheduling.StageTerminating, scheduling.StagePredicate}, verdict.Stage)
	})
	return e.deliver(selected, view)
}

// Key returns the key by which the object subscribes to an inventory.
func (o *Object) Key() inventory.Key {
	return inventory.Key{NamespacedName: o.Identity().NamespacedName, GroupKind: inventory.GroupKind(o.Kind.GroupKind().String())}
}

// scopeRequest asks for all clusters in the scope of an object. It serves to subscribe where no selector chooses.
func scopeRequest(object *Object) *scheduling.Request {
	return &scheduling.Request{Key: object.Key(), NoneIsEnough: true, Availability: object.Kind.HasReplicas()}
}

// outside returns the evaluation of an object that takes no part; nil if it takes part.
func (e *Evaluation) outside(view View) *Evaluation {
	namespace, identity := view.Namespace, e.Object.Identity()

	why := ExcludedNamespace(namespace.Name, view.HubNamespace, namespace.Labels, e.snapshot.Cluster(namespace.Name) != nil)
	switch {
	case why != "" && len(e.Works) == 0:
		return e.hold(NotDelivered, "", "the Namespace "+namespace.Name+" "+why)
	case why != "":
		return e.hold(Suspended, ReasonFederationSuspended, fmt.Sprintf("%s stays in its clusters as it is, because the Namespace %s %s",
			identity, namespace.Name, why))
	case e.Object.Body.Excluded != "" && len(e.Works) == 0:
		return e.hold(NotDelivered, "", identity.String()+" "+e.Object.Body.Excluded)
	case e.Object.Body.Excluded != "":
		return e.hold(Held, "", fmt.Sprintf("%s stays in its clusters as it is, because it %s", identity, e.Object.Body.Excluded))
	default:
		return nil
	}
}

// holdOutside holds an object whose annotations are invalid, unless it takes no part anyway.
func (e *Evaluation) holdOutside(view View, mistake error) *Evaluation {
	if outside := e.outside(view); outside != nil {
		return outside
	}
	return e.hold(Held, ReasonClusterSelectorInvalid, mistake.Error())
}

// byPlacement delivers the object to the decisions of a Placement.
func (e *Evaluation) byPlacement(view View) *Evaluation {
	decisions := view.Decisions(e.Target.Placement)
	switch {
	case decisions.Similar != "":
		return e.hold(Held, ReasonClusterSelectorInvalid, fmt.Sprintf("the Placement %s of the annotation %s %s in namespace %s; did you mean %s? "+
			"Correct the annotation, or create the Placement; works stay as they are until then",
			e.Target.Placement, PlacementAnnotation, decisions.Problem, e.Object.Meta.Namespace, decisions.Similar))
	case decisions.Problem != "":
		return e.hold(Held, "", fmt.Sprintf("the Placement %s of the annotation %s %s in namespace %s; works stay as they are",
			e.Target.Placement, PlacementAnnotation, decisions.Problem, e.Object.Meta.Namespace))
	}

	// A PlacementDecision is an object of the namespace: nothing that it names goes beyond the sets that are bound there.
	// A cluster that has the object keeps it while it is not known to have left the scope.
	scope, incumbents, left := e.snapshot.Scope(e.Object.Meta.Namespace, nil), e.incumbents(), e.leftScope()
	clusters := slices.DeleteFunc(slices.Clone(decisions.Clusters), func(cluster string) bool {
		if incumbents[cluster] {
			return left(cluster)
		}
		info := e.snapshot.Cluster(cluster)
		return info == nil || !scope.Contains(info)
	})
	return e.deliver(clusters, view)
}

// deliver completes the evaluation with the selected clusters.
func (e *Evaluation) deliver(selected []string, view View) *Evaluation {
	own := make(map[string]bool, len(selected))
	for _, cluster := range selected {
		own[cluster] = true
	}
	e.Selected = slices.Clone(selected)
	left := e.leftScope()

	for _, cluster := range view.Users.Clusters {
		switch {
		case own[cluster]:
		case left(cluster):
			e.leaving = append(e.leaving, cluster)
		default:
			own[cluster] = true
			e.Selected, e.Propagated = append(e.Selected, cluster), append(e.Propagated, cluster)
		}
	}

	slices.Sort(e.Selected)
	slices.Sort(e.Propagated)
	if e.Object.Kind.HasReplicas() {
		preferences, err := PreferencesOf(e.Object.Kind.Kind, e.Object.Meta.Annotations)
		if err != nil {
			e.Selected, e.Propagated = nil, nil
			return e.hold(Held, ReasonClusterSelectorInvalid, err.Error())
		}
		e.planReplicas(preferences, e.replicaClusters(preferences, view.Unguarded))
	}

	e.State = Delivering
	e.dependencies(view)
	return e
}

// dependencies finds the missing dependencies, and the ServiceAccount that is created with a workload.
func (e *Evaluation) dependencies(view View) {
	known := make([]Dependency, 0, len(e.Object.Body.Dependencies))
	reached := map[Dependency][]string{}
	for _, dependency := range e.Object.Body.Dependencies {
		if dependency.Kind == kindServiceAccount && e.Propagates {
			e.serviceAccount = dependency.Name
			continue
		}
		if clusters, found := view.Reached(dependency); found {
			known, reached[dependency] = append(known, dependency), clusters
		} else {
			e.pendingDependency = true
		}
	}

	e.Missing = MissingDependencies(e.Selected, known, func(d Dependency) []string { return reached[d] })
}

// replicaClusters returns the selected clusters with the replicas that they have. What an agent reports as ready counts up to what the hub has
// planned there; of unguarded works, up to the share of a cluster of which nothing is known (docs/spec/trust.md T8).
func (e *Evaluation) replicaClusters(preferences Preferences, unguarded bool) []ReplicaCluster {
	clusters := make([]ReplicaCluster, 0, len(e.Selected))
	existing := make(map[string]ExistingWork, len(e.Works))
	for _, work := range e.Works {
		if !work.Foreign {
			existing[work.Cluster] = work
		}
	}

	for _, name := range e.Selected {
		work, info := existing[name], e.snapshot.Cluster(name)
		clusters = append(clusters, ReplicaCluster{
			Name: name, Available: info != nil && info.Available, Planned: work.Replicas, Ready: min(work.Ready, work.Replicas),
		})
	}
	if !unguarded {
		return clusters
	}

	unknown := make([]ReplicaCluster, 0, len(clusters))
	for _, cluster := range clusters {
		unknown = append(unknown, ReplicaCluster{Name: cluster.Name, Available: true})
	}
	shares := PlanReplicas(e.Object.Key(), e.Object.Body.Replicas, preferences, unknown)
	for i := range clusters {
		share := shares[clusters[i].Name]
		clusters[i].Planned, clusters[i].Ready = share, min(clusters[i].Ready, share)
	}
	return clusters
}

// Pending reports whether objects that the evaluation needs have not been evaluated yet. Their evaluation makes the next one.
func (e *Evaluation) Pending() bool { return e.pendingUser != "" || e.pendingDependency }

// incumbents returns the clusters that have the object.
func (e *Evaluation) incumbents() map[string]bool {
	incumbents := make(map[string]bool, len(e.Works))
	for _, work := range e.Works {
		if !work.Foreign && !work.Deleting {
			incumbents[work.Cluster] = true
		}
	}
	return incumbents
}

func (e *Evaluation) hold(state State, reason, message string) *Evaluation {
	e.State, e.Reason, e.Message = state, reason, message
	return e
}

// SPDX-License-Identifier: Apache-2.0

package recorder

import (
	"context"
	"iter"
	"maps"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/klog/v2"

	"github.com/placement-hub/placement-hub/pkg/clusterinfo"
	"github.com/placement-hub/placement-hub/pkg/history"
	"github.com/placement-hub/placement-hub/pkg/history/changes"
	"github.com/placement-hub/placement-hub/pkg/inventory"
	"github.com/placement-hub/placement-hub/pkg/placement/api"
)

const (
	// mostCauses bounds the causes of a row, and mostAsked the clusters whose changes are looked for.
	mostCauses = 10
	// mostReasons bounds the reasons of a row.
	mostReasons = 20
	mostAsked   = 100
	// before bounds the time between a change and the row that it caused.
	before = 30 * time.Minute
)

// row returns the row of a round; nil if no cluster was gained or lost.
func (r *Recorder) row(ctx context.Context, of ended, now time.Time) *history.Move {
	was, is := clustersOf(maps.Values(of.before)), clustersOf(slices.Values(of.after))
	gained, lost := without(is, was), without(was, is)
	if len(gained)+len(lost) == 0 {
		return nil
	}

	pages := slices.AppendSeq(of.after, maps.Values(of.before))
	oldest := slices.MinFunc(pages, func(a, b part) int { return a.GetCreationTimestamp().Compare(b.GetCreationTimestamp().Time) })
	uid, err := r.namespaces.uid(ctx, of.key.Namespace, oldest.GetCreationTimestamp().Time)
	if err != nil {
		klog.FromContext(ctx).V(2).Info("A row of the history has no uid of its namespace", "namespace", of.key.Namespace, "err", err)
	}
	kind := schema.ParseGroupKind(string(of.key.GroupKind))
	move := &history.Move{
		Time: of.first.UTC(), Namespace: of.key.Namespace, NamespaceUID: string(uid),
		Group: kind.Group, Kind: kind.Kind, Name: of.key.Name, UID: ownerOf(pages, kind.Kind, of.key.Name),
		ResourceVersion: of.version, Gained: gained, Lost: lost, Derived: !of.evaluated && !r.Leads(),
	}
	for _, cluster := range slices.Concat(lost, gained) {
		if len(move.Reasons) == mostReasons {
			break
		}
		if at := slices.IndexFunc(of.reasons, func(reason history.Reason) bool { return reason.Cluster == cluster }); at >= 0 {
			move.Reasons = append(move.Reasons, of.reasons[at])
		}
	}
	move.Causes = r.causes(ctx, of.key, move, now)
	return move
}

// clustersOf returns the clusters that parts of a decision name.
func clustersOf(parts iter.Seq[part]) map[string]bool {
	clusters := map[string]bool{}
	for of := range parts {
		for _, cluster := range of.clusters() {
			clusters[cluster] = true
		}
	}
	return clusters
}

// without returns the clusters that others lack, sorted. The names are those of the caches, which keep each name once and apart from its object.
func without(clusters, others map[string]bool) []string {
	var left []string
	for cluster := range clusters {
		if !others[cluster] {
			left = append(left, cluster)
		}
	}
	slices.Sort(left)
	return left
}

// ownerOf returns the uid of the Placement that owns pages; empty if none has an owner.
func ownerOf(pages []part, kind, name string) string {
	for _, page := range pages {
		for _, owner := range page.GetOwnerReferences() {
			if owner.Kind == kind && owner.Name == name {
				return string(owner.UID)
			}
		}
	}
	return ""
}

// causes returns the changes that a row may have been caused by (docs/spec/history.md HI5).
func (r *Recorder) causes(ctx context.Context, key inventory.Key, move *history.Move, now time.Time) []history.Cause {
	moved := slices.Concat(move.Lost, move.Gained)
	moved = moved[:min(len(moved), mostAsked)]
	scope, reads := r.dependencies(ctx, key)
	has := func(object history.Object) bool {
		switch object.Kind {
		case changes.KindCluster:
			return slices.Contains(moved, object.Name)
		case changes.KindSet:
			return slices.Contains(scope, object.Name)
		case changes.KindBinding:
			return object.Namespace == key.Namespace
		case changes.KindPlacement, changes.KindRequest:
			return object == move.Object()
		case changes.KindScore:
			return slices.Contains(moved, object.Namespace)
		default:
			return false
		}
	}
	question := changes.Question{
		Namespace: key.Namespace, Clusters: moved, Sets: scope, Has: has, Reads: reads, Since: now.Add(-before), Until: now, Limit: mostCauses,
	}
	found, last := r.changes.Find(question), r.rows.Last(key.Namespace, move.UID)
	return slices.DeleteFunc(found, func(cause history.Cause) bool {
		lasting := cause.Kind == changes.KindCluster && strings.HasPrefix(cause.Field, "spec.taints[") && slices.Contains(move.Lost, cause.Name)
		return !lasting && cause.Time.Before(last)
	})
}

// dependencies returns the sets in scope of a Placement and the properties that it reads; nil for what is not known.
func (r *Recorder) dependencies(ctx context.Context, key inventory.Key) (sets []string, reads []clusterinfo.Property) {
	if key.API() == "" {
		return nil, deliveredReads
	}
	object := api.Of(key).Empty()
	if r.informers.Get(ctx, key.NamespacedName, object) != nil {
		return nil, []clusterinfo.Property{} // It is deleted and reads nothing: its deletion is the cause.
	}
	placement := api.Read(object)
	if placement == nil {
		return nil, nil
	}
	request := placement.Request(r.shared.Compiler)
	dependencies := request.Dependencies()
	reads = append(slices.Concat(dependencies.Reads, dependencies.ScopeReads), clusterinfo.Property{Kind: clusterinfo.Taint})
	for _, predicate := range dependencies.Predicates {
		reads = append(reads, predicate.Reads()...)
	}
	scope := r.shared.Inventory.Snapshot().Scope(key.Namespace, request.ClusterSets)
	reads = append(reads, scope.Reads()...)
	sets = slices.Concat(scope.Bound, request.ClusterSets)
	return sets, append(reads, clusterinfo.Property{Kind: clusterinfo.Label, Name: exclusiveSet}, clusterinfo.Property{Kind: clusterinfo.Name})
}

// deliveredReads are the properties by which clusters of delivered objects are mostly chosen. Their annotations are not read.
var deliveredReads = []clusterinfo.Property{
	{Kind: clusterinfo.Taint}, {Kind: clusterinfo.Label}, {Kind: clusterinfo.Claim}, {Kind: clusterinfo.Availability}, {Kind: clusterinfo.Name},
}

// exclusiveSet is the label by which a cluster is in an exclusive set: a set that was unbound is not in scope any more.
const exclusiveSet = "cluster.open-cluster-management.io/clusterset"

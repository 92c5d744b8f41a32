// SPDX-License-Identifier: Apache-2.0

package scheduling

import (
	"slices"

	"github.com/placement-hub/placement-hub/pkg/clusterinfo"
	"github.com/placement-hub/placement-hub/pkg/inventory"
)

// Dependencies returns what the Result depends on, for inventory.Subscribe.
func (r *Request) Dependencies() inventory.Dependencies {
	var dependencies inventory.Dependencies
	for _, plugin := range filterPlugins {
		if plugin.reads != nil {
			plugin.reads(r, &dependencies)
		}
	}

	for _, prioritizer := range r.Prioritizers {
		plugin := prioritizer.plugin()
		if plugin.reads != nil && (r.Ranks() || plugin.warns) {
			dependencies.Reads = append(dependencies.Reads, plugin.reads(prioritizer)...)
		}
		if plugin.scopeReads != nil {
			dependencies.ScopeReads = append(dependencies.ScopeReads, plugin.scopeReads(r)...)
		}
	}

	for _, group := range r.Groups {
		dependencies.Reads = append(dependencies.Reads, group.Selector.Reads()...)
	}
	if r.Availability {
		dependencies.Reads = append(dependencies.Reads, clusterinfo.Property{Kind: clusterinfo.Availability})
	}
	return dependencies
}

// Dependencies returns what the Request depends on while this is its Result, for inventory.Subscribe. They include the rejected clusters
// while the status lists rejections.
func (r *Result) Dependencies() inventory.Dependencies {
	dependencies := r.Request.Dependencies()
	dependencies.WatchRejected = r.ListsRejections()
	if !dependencies.WatchRejected || !r.Request.listsPredicates() {
		return dependencies
	}

	for _, predicate := range r.Request.Predicates {
		clauses := predicate.Selector.Clauses()
		if len(clauses) > 1 || predicate.Selector.HasCEL() {
			dependencies.Clauses = append(dependencies.Clauses, clauses)
		}
	}
	return dependencies
}

// ReadsDecisions reports whether the Result depends on the decisions of other Placements.
func (r *Request) ReadsDecisions() bool {
	return r.Ranks() && slices.ContainsFunc(r.Prioritizers, Prioritizer.ReadsDecisions)
}

// Reads returns the properties of clusters that the Result depends on, including those that decide which clusters are in scope.
func (r *Result) Reads() []clusterinfo.Property {
	return append(r.Request.reads(), r.snapshot.Scope(r.Request.Key.Namespace, r.Request.ClusterSets).Reads()...)
}

// reads returns the properties of clusters that the Request reads.
func (r *Request) reads() []clusterinfo.Property {
	dependencies := r.Dependencies()
	reads := slices.Concat(dependencies.Reads, dependencies.ScopeReads)
	for _, predicate := range dependencies.Predicates {
		reads = append(reads, predicate.Reads()...)
	}
	return reads
}

// ReadsScores reports whether the Result depends on AddOnPlacementScores.
func (r *Request) ReadsScores() bool {
	return slices.ContainsFunc(r.reads(), func(read clusterinfo.Property) bool {
		return read.Kind == clusterinfo.Score || read.Kind == clusterinfo.Any
	})
}

// SPDX-License-Identifier: Apache-2.0

package evaluate

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/placement-hub/placement-hub/pkg/clusterinfo"
	"github.com/placement-hub/placement-hub/pkg/explain"
	"github.com/placement-hub/placement-hub/pkg/explain/placementtest/cases"
	"github.com/placement-hub/placement-hub/pkg/explain/whatif"
)

// vocabulary is what cases may name: a name that no object has would make a case hold by mistake.
type vocabulary struct {
	clusters, nodes map[string]bool
	// Labels and claims have their values by key.
	labels, claims, nodeLabels map[string]map[string]bool
}

func newVocabulary(clusters []*clusterinfo.ClusterInfo, state *explain.State) *vocabulary {
	v := &vocabulary{
		clusters: map[string]bool{}, nodes: map[string]bool{}, nodeLabels: map[string]map[string]bool{},
		labels: map[string]map[string]bool{}, claims: map[string]map[string]bool{},
	}
	note := func(to map[string]map[string]bool, of map[string]string) {
		for key, value := range of {
			if to[key] == nil {
				to[key] = map[string]bool{}
			}
			to[key][value] = true
		}
	}
	for _, cluster := range clusters {
		v.clusters[cluster.Name] = true
		note(v.labels, cluster.Labels)
		note(v.claims, cluster.Claims)
	}
	for _, node := range state.Pods.Nodes {
		v.nodes[node.Name] = true
		note(v.nodeLabels, node.Labels)
	}
	return v
}

// unknown returns an error about a name that does not exist.
func unknown[T any](field, what, name string, known map[string]T) error {
	names := slices.Sorted(maps.Keys(known))
	hint := "; correct the name"
	if near := whatif.Nearest(name, names); len(near) > 0 {
		hint = "; did you mean " + strings.Join(near, " or ") + "?"
	}
	return fmt.Errorf("%s: there is no %s %s%s", field, what, name, hint)
}

// check returns an error about the first name of a case that no object has.
func (v *vocabulary) check(c *cases.Case) error {
	const path = "spec.expect"
	expect := &c.Spec.Expect
	for field, of := range map[string]*cases.Clusters{path + ".selected": expect.Selected, path + ".notSelected": expect.NotSelected} {
		if err := v.checkClusters(field, of); err != nil {
			return err
		}
	}
	if err := checkNames(path+".nodes", "Node", expect.Nodes, v.nodes, v.nodeLabels); err != nil {
		return err
	}
	for i := range expect.Groups {
		if err := v.checkClusters(fmt.Sprintf("%s.groups[%d].clusters", path, i), expect.Groups[i].Clusters); err != nil {
			return err
		}
	}
	named := map[string]string{}
	for i, because := range expect.Because {
		named[fmt.Sprintf("%s.because[%d].cluster", path, i)] = because.Cluster
	}
	for i, cluster := range expect.Order {
		named[fmt.Sprintf("%s.order[%d]", path, i)] = cluster
	}
	for cluster := range expect.Replicas {
		named[path+".replicas."+cluster] = cluster
	}
	for _, field := range slices.Sorted(maps.Keys(named)) {
		if !v.clusters[named[field]] {
			return unknown(field, "ManagedCluster", named[field], v.clusters)
		}
	}
	return v.checkCounts(path+".counts", expect.Counts)
}

func (v *vocabulary) checkClusters(field string, of *cases.Clusters) error {
	return checkNames(field, "ManagedCluster", of, v.clusters, v.labels)
}

func checkNames(field, kind string, of *cases.Clusters, known map[string]bool, labels map[string]map[string]bool) error {
	if of == nil {
		return nil
	}
	for _, list := range []struct {
		field string
		names []string
	}{{"exactly", of.Exactly}, {"allOf", of.AllOf}, {"anyOf", of.AnyOf}, {"noneOf", of.NoneOf}} {
		for _, name := range list.names {
			if !known[name] {
				return unknown(field+"."+list.field, kind, name, known)
			}
		}
	}
	for name, selector := range map[string]*metav1.LabelSelector{"every": of.Every, "none": of.None} {
		if err := checkSelector(field+"."+name, kind, selector, labels); err != nil {
			return err
		}
	}
	return nil
}

// checkSelector returns an error about the first key or value of a selector that no label has.
func checkSelector(field, kind string, selector *metav1.LabelSelector, labels map[string]map[string]bool) error {
	if selector == nil {
		return nil
	}
	requirements := slices.Clone(selector.MatchExpressions)
	for _, key := range slices.Sorted(maps.Keys(selector.MatchLabels)) {
		requirements = append(requirements, metav1.LabelSelectorRequirement{Key: key, Values: []string{selector.MatchLabels[key]}})
	}
	for _, requirement := range requirements {
		values, has := labels[requirement.Key]
		if !has {
			return unknown(field, kind+" with the label", requirement.Key, labels)
		}
		for _, value := range requirement.Values {
			if !values[value] {
				return unknown(field, kind+" with the label "+requirement.Key, value, values)
			}
		}
	}
	return nil
}

func (v *vocabulary) checkCounts(field string, counts []cases.Count) error {
	for i := range counts {
		known, what := v.labels, "label"
		if counts[i].TopologyType == "Claim" {
			known, what = v.claims, "claim"
		}
		at, key := fmt.Sprintf("%s[%d]", field, i), counts[i].Topology
		values, has := known[key]
		if !has {
			return unknown(at+".topology", "ManagedCluster with the "+what, key, known)
		}
		for _, value := range slices.Sorted(maps.Keys(counts[i].Values)) {
			if !values[value] {
				return unknown(at+".values."+value, "ManagedCluster with the "+what+" "+key, value, values)
			}
		}
	}
	return nil
}

// checkFailure returns an error about a cluster that fails and does not exist.
func (v *vocabulary) checkFailure(when *cases.When) error {
	for field, failure := range map[string]*cases.Failure{"spec.when.lost": when.Lost, "spec.when.deleted": when.Deleted} {
		if failure == nil {
			continue
		}
		for i, cluster := range failure.Clusters {
			if !v.clusters[cluster] {
				return unknown(fmt.Sprintf("%s.clusters[%d]", field, i), "ManagedCluster", cluster, v.clusters)
			}
		}
	}
	return nil
}

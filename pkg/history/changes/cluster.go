// SPDX-License-Identifier: Apache-2.0

package changes

import (
	"maps"
	"slices"
	"strconv"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/placement-hub/placement-hub/pkg/clusterinfo"
	"github.com/placement-hub/placement-hub/pkg/history"
)

// cluster adds the changes of what decisions read of a ManagedCluster: labels, taints, claims, resources, whether it is available and accepted, and
// its version.
func (c *collector) cluster(before, after *clusterv1.ManagedCluster) {
	c.labels(before.Labels, after.Labels)
	if !slices.EqualFunc(before.Spec.Taints, after.Spec.Taints, sameTaint) {
		c.taints(before.Spec.Taints, after.Spec.Taints)
	}
	if !slices.Equal(before.Status.ClusterClaims, after.Status.ClusterClaims) {
		c.texts(claims(before), claims(after), "status.clusterClaims", "claim ", clusterinfo.Claim, []string{"status", "clusterClaims"})
	}
	if was, is := available(before), available(after); was != is {
		c.value(present(was), present(is), Change{
			Cause: history.Cause{
				Field: "status.conditions[" + clusterv1.ManagedClusterConditionAvailable + "]",
				What:  "condition " + clusterv1.ManagedClusterConditionAvailable,
			},
			Properties: []clusterinfo.Property{{Kind: clusterinfo.Availability}, {Kind: clusterinfo.Field, Name: "status.conditions"}},
			path:       []string{"status", "conditions"},
		})
	}
	if before.Spec.HubAcceptsClient != after.Spec.HubAcceptsClient {
		was, is := strconv.FormatBool(before.Spec.HubAcceptsClient), strconv.FormatBool(after.Spec.HubAcceptsClient)
		c.value(&was, &is, field(specField, "hubAcceptsClient"))
	}
	if was, is := before.Status.Version.Kubernetes, after.Status.Version.Kubernetes; was != is {
		c.value(present(was), present(is), field("status", "version"))
	}
	c.resources(before.Status.Allocatable, after.Status.Allocatable, "allocatable")
	c.resources(before.Status.Capacity, after.Status.Capacity, "capacity")
}

// field returns a Change of a field of two levels.
func field(first, second string) Change {
	path := first + "." + second
	return Change{
		Cause: history.Cause{Field: path, What: path}, Properties: []clusterinfo.Property{{Kind: clusterinfo.Field, Name: path}},
		path: []string{first, second},
	}
}

// present returns nil for an empty text.
func present(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

func available(cluster *clusterv1.ManagedCluster) string {
	condition := meta.FindStatusCondition(cluster.Status.Conditions, clusterv1.ManagedClusterConditionAvailable)
	if condition == nil {
		return ""
	}
	return string(condition.Status)
}

func claims(cluster *clusterv1.ManagedCluster) map[string]string {
	claims := make(map[string]string, len(cluster.Status.ClusterClaims))
	for _, claim := range cluster.Status.ClusterClaims {
		claims[claim.Name] = claim.Value
	}
	return claims
}

// labels adds the changes of labels.
func (c *collector) labels(before, after map[string]string) {
	if !maps.Equal(before, after) {
		c.texts(before, after, "metadata.labels", "label ", clusterinfo.Label, nil)
	}
}

// texts adds the changes of a map of texts. Their paths end with the keys if none is given.
func (c *collector) texts(before, after map[string]string, field, what string, kind clusterinfo.PropertyKind, path []string) {
	for _, key := range keysOf(before, after) {
		to := path
		if to == nil {
			to = []string{"metadata", "labels", key}
		}
		c.value(lookup(before, key), lookup(after, key), Change{
			Cause:      history.Cause{Field: field + "[" + key + "]", What: what + key},
			Properties: []clusterinfo.Property{{Kind: kind, Name: key}, {Kind: clusterinfo.Field, Name: field}}, path: to,
		})
	}
}

// keysOf returns the keys of two maps, sorted.
func keysOf[V any](before, after map[string]V) []string {
	keys := slices.Collect(maps.Keys(after))
	for key := range before {
		if _, there := after[key]; !there {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return keys
}

func lookup(in map[string]string, key string) *string {
	value, there := in[key]
	if !there {
		return nil
	}
	return &value
}

// taints adds the changes of taints, which have a key and an effect. The time of a taint is not compared.
func (c *collector) taints(before, after []clusterv1.Taint) {
	was, is := taintsOf(before), taintsOf(after)
	for _, name := range keysOf(was, is) {
		key := was[name].Key
		if key == "" {
			key = is[name].Key
		}
		var from, to *string
		if taint, there := was[name]; there {
			from = &taint.Value
		}
		if taint, there := is[name]; there {
			to = &taint.Value
		}
		c.value(from, to, Change{
			Cause:      history.Cause{Field: "spec.taints[" + name + "]", What: "taint " + name},
			Properties: []clusterinfo.Property{{Kind: clusterinfo.Taint, Name: key}}, path: []string{specField, "taints"},
		})
	}
}

func sameTaint(a, b clusterv1.Taint) bool {
	return a.Key == b.Key && a.Value == b.Value && a.Effect == b.Effect
}

func taintsOf(taints []clusterv1.Taint) map[string]clusterv1.Taint {
	named := make(map[string]clusterv1.Taint, len(taints))
	for _, taint := range taints {
		named[taint.Key+":"+string(taint.Effect)] = taint
	}
	return named
}

// resources adds the changes of amounts.
func (c *collector) resources(before, after clusterv1.ResourceList, name string) {
	if maps.EqualFunc(before, after, sameAmount) {
		return
	}
	was, is := amounts(before), amounts(after)
	for _, key := range keysOf(was, is) {
		c.value(lookup(was, key), lookup(is, key), Change{
			Cause: history.Cause{Field: "status." + name + "[" + key + "]", What: name + " of " + key},
			Properties: []clusterinfo.Property{
				{Kind: clusterinfo.Resource, Name: key}, {Kind: clusterinfo.Field, Name: "status." + name},
			},
			path: []string{"status", name, key},
		})
	}
}

func sameAmount(a, b resource.Quantity) bool { return a.Cmp(b) == 0 }

func amounts(list clusterv1.ResourceList) map[string]string {
	amounts := make(map[string]string, len(list))
	for name, quantity := range list {
		amounts[string(name)] = quantity.String()
	}
	return amounts
}

// scores adds the changes of the scores of an AddOnPlacementScore.
func (c *collector) scores(before, after *clusterv1alpha1.AddOnPlacementScore) {
	if slices.Equal(before.Status.Scores, after.Status.Scores) {
		return
	}
	was, is := scoresOf(before), scoresOf(after)
	for _, name := range keysOf(was, is) {
		c.value(lookup(was, name), lookup(is, name), Change{
			Cause:      history.Cause{Field: "status.scores[" + name + "]", What: "score " + name},
			Properties: []clusterinfo.Property{{Kind: clusterinfo.Score, Name: after.Name}}, path: []string{"status", "scores"},
		})
	}
}

func scoresOf(object *clusterv1alpha1.AddOnPlacementScore) map[string]string {
	scores := make(map[string]string, len(object.Status.Scores))
	for _, score := range object.Status.Scores {
		scores[score.Name] = strconv.Itoa(int(score.Value))
	}
	return scores
}

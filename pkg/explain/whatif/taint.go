// SPDX-License-Identifier: Apache-2.0

package whatif

import (
	"fmt"
	"regexp"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"

	"github.com/placement-hub/placement-hub/pkg/explain"
)

// DrainKey is the key of the taint that Drain adds.
const DrainKey = "drain"

// The bounds of taints and tolerations are those of the definitions of ManagedCluster and Placement.
const (
	taintKeyLength   = 316
	taintValueLength = 1024
)

var taintKey = regexp.MustCompile(
	`^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$`)

// effects are the valid effects of taints.
var effects = []clusterv1.TaintEffect{
	clusterv1.TaintEffectNoSelect, clusterv1.TaintEffectPreferNoSelect, clusterv1.TaintEffectNoSelectIfNew,
}

// Taint adds a taint to a cluster, or sets the value of the taint with the same key and effect. Its TimeAdded is the time of the change, as
// admission sets it, unless the cluster has the same taint already.
type Taint struct {
	Cluster string
	Taint   clusterv1.Taint
}

// String is "taint c7 gpu=a100:NoSelect".
func (t Taint) String() string {
	text := t.Taint.Key
	if t.Taint.Value != "" {
		text += "=" + t.Taint.Value
	}
	return fmt.Sprintf("taint %s %s:%s", t.Cluster, text, t.Taint.Effect)
}

// Apply implements Change.
func (t Taint) Apply(state *explain.State, now time.Time) (*explain.State, error) {
	if err := checkTaint(t.Taint.Key, t.Taint.Value); err != nil {
		return nil, err
	}
	if !slices.Contains(effects, t.Taint.Effect) {
		return nil, fmt.Errorf("a taint has no effect %q: use one of %v", t.Taint.Effect, effects)
	}
	return withCluster(state, t.Cluster, func(cluster *clusterv1.ManagedCluster) error {
		taints := &cluster.Spec.Taints
		added := clusterv1.Taint{Key: t.Taint.Key, Value: t.Taint.Value, Effect: t.Taint.Effect, TimeAdded: stamp(now)}

		at := slices.IndexFunc(*taints, func(taint clusterv1.Taint) bool { return taint.Key == added.Key && taint.Effect == added.Effect })
		switch {
		case at < 0:
			*taints = append(*taints, added)
		case (*taints)[at].Value != added.Value:
			(*taints)[at] = added
		default: // It is there.
		}
		return nil
	})
}

func checkTaint(key, value string) error {
	switch {
	case len(key) > taintKeyLength || !taintKey.MatchString(key):
		return fmt.Errorf("%q is no key of a taint: it has at most %d letters, digits, '-', '_' and '.', with a DNS name and '/' before it or not",
			key, taintKeyLength)
	case len([]rune(value)) > taintValueLength:
		return fmt.Errorf("the value of a taint has at most %d letters", taintValueLength)
	default:
		return nil
	}
}

// stamp returns the TimeAdded of a taint, in whole seconds as in the API.
func stamp(now time.Time) metav1.Time { return metav1.NewTime(now.UTC().Truncate(time.Second)) }

// Untaint removes the taints of a key from a cluster: those of one effect, or all of them when Effect is empty.
type Untaint struct {
	Cluster, Key string
	Effect       clusterv1.TaintEffect
}

// String is "taint c7 gpu-" or "taint c7 gpu:NoSelect-".
func (u Untaint) String() string {
	text := u.Key
	if u.Effect != "" {
		text += ":" + string(u.Effect)
	}
	return fmt.Sprintf("taint %s %s-", u.Cluster, text)
}

// Apply implements Change.
func (u Untaint) Apply(state *explain.State, _ time.Time) (*explain.State, error) {
	return withCluster(state, u.Cluster, func(cluster *clusterv1.ManagedCluster) error {
		before := len(cluster.Spec.Taints)
		known := make([]string, 0, before)
		for _, taint := range cluster.Spec.Taints {
			known = append(known, taint.Key+":"+string(taint.Effect))
		}

		cluster.Spec.Taints = slices.DeleteFunc(cluster.Spec.Taints, func(taint clusterv1.Taint) bool {
			return taint.Key == u.Key && (u.Effect == "" || taint.Effect == u.Effect)
		})
		if len(cluster.Spec.Taints) == before {
			return fmt.Errorf("ManagedCluster %s has no such taint: %w", u.Cluster, unknown("taint", u.Key, slices.Values(known)))
		}
		return nil
	})
}

// Drain adds the taint drain:NoSelect, so that every Placement leaves the cluster that does not tolerate all taints.
type Drain struct{ Cluster string }

// String is "drain c7".
func (d Drain) String() string { return "drain " + d.Cluster }

// Taint returns the equivalent change.
func (d Drain) Taint() Taint {
	return Taint{Cluster: d.Cluster, Taint: clusterv1.Taint{Key: DrainKey, Effect: clusterv1.TaintEffectNoSelect}}
}

// Apply implements Change.
func (d Drain) Apply(state *explain.State, now time.Time) (*explain.State, error) {
	return d.Taint().Apply(state, now)
}

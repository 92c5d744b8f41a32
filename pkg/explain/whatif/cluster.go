// SPDX-License-Identifier: Apache-2.0

package whatif

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/validation"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"

	"github.com/placement-hub/placement-hub/pkg/clustersets/webhook"
	"github.com/placement-hub/placement-hub/pkg/explain"
)

// Label sets a label of a cluster.
type Label struct{ Cluster, Key, Value string }

// String is "label c7 region=eu".
func (l Label) String() string { return fmt.Sprintf("label %s %s=%s", l.Cluster, l.Key, l.Value) }

// Apply implements Change.
func (l Label) Apply(state *explain.State, _ time.Time) (*explain.State, error) {
	if problems := validation.IsQualifiedName(l.Key); len(problems) > 0 {
		return nil, fmt.Errorf("%q is no key of a label: %s", l.Key, strings.Join(problems, "; "))
	}
	if problems := validation.IsValidLabelValue(l.Value); len(problems) > 0 {
		return nil, fmt.Errorf("%q is no value of a label: %s", l.Value, strings.Join(problems, "; "))
	}

	if l.Key == clusterv1beta2.ClusterSetLabel && l.Value != "" {
		if err := checkSet(state, l.Value); err != nil {
			return nil, err
		}
	}
	return withCluster(state, l.Cluster, func(cluster *clusterv1.ManagedCluster) error {
		if cluster.Labels == nil {
			cluster.Labels = map[string]string{}
		}
		cluster.Labels[l.Key] = l.Value
		if l.Key == clusterv1beta2.ClusterSetLabel {
			defaultSet(cluster)
		}
		return nil
	})
}

// Unlabel removes a label of a cluster. Without the label of its set a cluster is in the set default.
type Unlabel struct{ Cluster, Key string }

// String is "label c7 region-"; for the label of the set it names the set default.
func (u Unlabel) String() string {
	text := fmt.Sprintf("label %s %s-", u.Cluster, u.Key)
	if u.Key == clusterv1beta2.ClusterSetLabel {
		text += inDefaultSet
	}
	return text
}

// Apply implements Change.
func (u Unlabel) Apply(state *explain.State, _ time.Time) (*explain.State, error) {
	return withCluster(state, u.Cluster, func(cluster *clusterv1.ManagedCluster) error {
		if _, has := cluster.Labels[u.Key]; !has {
			return fmt.Errorf("ManagedCluster %s has no such label: %w", u.Cluster, unknown("label", u.Key, maps.Keys(cluster.Labels)))
		}
		delete(cluster.Labels, u.Key)
		if u.Key == clusterv1beta2.ClusterSetLabel {
			defaultSet(cluster)
		}
		return nil
	})
}

// inDefaultSet is the suffix for a cluster that admission puts into the set default.
const inDefaultSet = " (so that it is in the set " + webhook.DefaultSet + ")"

// defaultSet labels a cluster without a set, as admission does.
func defaultSet(cluster *clusterv1.ManagedCluster) {
	if !webhook.LacksSet(cluster) {
		return
	}
	if cluster.Labels == nil {
		cluster.Labels = map[string]string{}
	}
	cluster.Labels[clusterv1beta2.ClusterSetLabel] = webhook.DefaultSet
}

// The bounds of claims are those of the definition of ManagedCluster.
const (
	claimNameLength  = 253
	claimValueLength = 1024
)

// Claim sets a claim of a cluster, as its agent would.
type Claim struct{ Cluster, Name, Value string }

// String is "claim c7 version=1.30".
func (c Claim) String() string { return fmt.Sprintf("claim %s %s=%s", c.Cluster, c.Name, c.Value) }

// Apply implements Change.
func (c Claim) Apply(state *explain.State, _ time.Time) (*explain.State, error) {
	if letters := len([]rune(c.Name)); letters < 1 || letters > claimNameLength {
		return nil, fmt.Errorf("the name of a claim has 1 to %d letters, and this one has %d", claimNameLength, letters)
	}
	if letters := len([]rune(c.Value)); letters < 1 || letters > claimValueLength {
		return nil, fmt.Errorf("the value of a claim has 1 to %d letters, and this one has %d", claimValueLength, letters)
	}
	return withCluster(state, c.Cluster, func(cluster *clusterv1.ManagedCluster) error {
		claims := &cluster.Status.ClusterClaims
		*claims = append(slices.DeleteFunc(*claims, named(c.Name)), clusterv1.ManagedClusterClaim{Name: c.Name, Value: c.Value})
		return nil
	})
}

// Unclaim removes a claim of a cluster.
type Unclaim struct{ Cluster, Name string }

// String is "claim c7 version-".
func (u Unclaim) String() string { return fmt.Sprintf("claim %s %s-", u.Cluster, u.Name) }

// Apply implements Change.
func (u Unclaim) Apply(state *explain.State, _ time.Time) (*explain.State, error) {
	return withCluster(state, u.Cluster, func(cluster *clusterv1.ManagedCluster) error {
		if !slices.ContainsFunc(cluster.Status.ClusterClaims, named(u.Name)) {
			return fmt.Errorf("ManagedCluster %s has no such claim: %w", u.Cluster, unknown("claim", u.Name, func(yield func(string) bool) {
				for _, claim := range cluster.Status.ClusterClaims {
					if !yield(claim.Name) {
						return
					}
				}
			}))
		}
		cluster.Status.ClusterClaims = slices.DeleteFunc(cluster.Status.ClusterClaims, named(u.Name))
		return nil
	})
}

func named(name string) func(clusterv1.ManagedClusterClaim) bool {
	return func(claim clusterv1.ManagedClusterClaim) bool { return claim.Name == name }
}

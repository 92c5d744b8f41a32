// SPDX-License-Identifier: Apache-2.0

package federation

import (
	"errors"
	"fmt"
	"maps"
	"slices"
)

// anyCluster is the name of the Preference of clusters without a Preference of their own.
const anyCluster = "*"

// Preferences are the replica preferences of a workload (docs/spec/federated-selector.md 3.1.6).
type Preferences struct {
	// Rebalance moves running replicas to follow the weights; otherwise they stay where they are.
	Rebalance bool `json:"rebalance"`
	// Clusters has a Preference by the name of a cluster, or by "*" for all others. A cluster without one gets no replicas.
	Clusters map[string]Preference `json:"clusters"`
}

// Preference is the part of one cluster. No field is negative, and MinReplicas does not exceed MaxReplicas.
type Preference struct {
	MinReplicas int32 `json:"minReplicas"`
	// MaxReplicas limits the replicas; nil means no limit.
	MaxReplicas *int32 `json:"maxReplicas"`
	// Weight is the share of the replicas that remain after the minimums, relative to the other weights.
	Weight int32 `json:"weight"`
}

// DefaultPreferences distribute replicas evenly, and move no running replica.
func DefaultPreferences() Preferences {
	return Preferences{Clusters: map[string]Preference{anyCluster: {Weight: 1}}}
}

// PreferencesAnnotation returns the annotation with the preferences of a kind; "" if the kind has none.
func PreferencesAnnotation(kind string) string {
	switch kind {
	case kindDeployment:
		return DeploymentPreferencesAnnotation
	case kindReplicaSet:
		return ReplicaSetPreferencesAnnotation
	default:
		return ""
	}
}

// PreferencesOf returns the preferences of an object of a kind by its annotations; DefaultPreferences without the annotation. With an error
// the works of the object stay as they are.
func PreferencesOf(kind string, annotations map[string]string) (Preferences, error) {
	name := PreferencesAnnotation(kind)
	value, found := annotations[name]
	if name == "" || !found {
		return DefaultPreferences(), nil
	}
	preferences, err := ParsePreferences(value)
	if err != nil {
		return Preferences{}, fmt.Errorf("annotation %s: %w", name, err)
	}
	return preferences, nil
}

// ParsePreferences decodes preferences and validates them. Without the field clusters the default of clusters applies.
func ParsePreferences(value string) (Preferences, error) {
	var parsed *Preferences
	if err := decodeStrictly(value, &parsed); err != nil {
		return Preferences{}, err
	}
	if parsed == nil {
		return Preferences{}, errors.New("must be a JSON object, not null")
	}
	if parsed.Clusters == nil {
		parsed.Clusters = DefaultPreferences().Clusters
	}

	var errs []error
	for _, cluster := range slices.Sorted(maps.Keys(parsed.Clusters)) {
		if err := parsed.Clusters[cluster].validate(); err != nil {
			errs = append(errs, fmt.Errorf("clusters[%s].%w", cluster, err))
		}
	}
	if len(errs) > 0 {
		return Preferences{}, errors.Join(errs...)
	}
	return *parsed, nil
}

func (p Preference) validate() error {
	switch {
	case p.MinReplicas < 0:
		return fmt.Errorf("minReplicas: Invalid value: %d: must be 0 or more", p.MinReplicas)
	case p.MaxReplicas != nil && *p.MaxReplicas < 0:
		return fmt.Errorf("maxReplicas: Invalid value: %d: must be 0 or more", *p.MaxReplicas)
	case p.Weight < 0:
		return fmt.Errorf("weight: Invalid value: %d: must be 0 or more", p.Weight)
	case p.MaxReplicas != nil && *p.MaxReplicas < p.MinReplicas:
		return fmt.Errorf("maxReplicas: Invalid value: %d: must be minReplicas (%d) or more", *p.MaxReplicas, p.MinReplicas)
	default:
		return nil
	}
}

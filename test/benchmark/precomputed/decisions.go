// SPDX-License-Identifier: Apache-2.0

package precomputed

import (
	"encoding/json"
	"fmt"
	"iter"
	"os"

	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Decisions are what is written for one placement.
type Decisions struct {
	// Placement has the status that is written last.
	Placement clusterv1beta1.Placement `json:"placement"`
	// Pages have the decisions.
	Pages []clusterv1beta1.PlacementDecision `json:"pages"`
}

// Statuses are the objects with their statuses.
func (d *Decisions) Statuses() iter.Seq2[client.Object, any] {
	return func(yield func(client.Object, any) bool) {
		if !yield(&d.Placement, d.Placement.Status) {
			return
		}
		for i := range d.Pages {
			if !yield(&d.Pages[i], d.Pages[i].Status) {
				return
			}
		}
	}
}

// Script has the decisions that the ideal controller writes when the label of the cluster gets one of the values.
type Script struct {
	Cluster string                 `json:"cluster"`
	Label   string                 `json:"label"`
	ByValue map[string][]Decisions `json:"decisions"`
}

// WriteFile writes the script to a file.
func (s *Script) WriteFile(path string) error {
	content, err := json.Marshal(s)
	if err != nil {
		return fmt.Errorf("encoding decisions: %w", err)
	}
	return os.WriteFile(path, content, 0o600)
}

// ReadFile reads what WriteFile wrote.
func ReadFile(path string) (*Script, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	script := &Script{}
	if err := json.Unmarshal(content, script); err != nil {
		return nil, fmt.Errorf("reading decisions from %s: %w", path, err)
	}
	return script, nil
}

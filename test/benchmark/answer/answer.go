package answer

import (
	"encoding/json"
	"fmt"
	"os"

	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
)

// Answer is what is written for one placement.
type Answer struct {
	// Placement has the status that is written last.
	Placement clusterv1beta1.Placement `json:"placement"`
	// Pages have the decisions.
	Pages []clusterv1beta1.PlacementDecision `json:"pages"`
}

// Told is all that the ideal is told: whenever the label of the cluster has one of the values, what is written.
type Told struct {
	Cluster string              `json:"cluster"`
	Label   string              `json:"label"`
	Answers map[string][]Answer `json:"answers"`
}

// WriteFile keeps what is told in a file.
func (t *Told) WriteFile(path string) error {
	content, err := json.Marshal(t)
	if err != nil {
		return fmt.Errorf("encoding answers: %w", err)
	}
	return os.WriteFile(path, content, 0o600)
}

// ReadFile reads what WriteFile wrote.
func ReadFile(path string) (*Told, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	told := &Told{}
	if err := json.Unmarshal(content, told); err != nil {
		return nil, fmt.Errorf("reading answers from %s: %w", path, err)
	}
	return told, nil
}

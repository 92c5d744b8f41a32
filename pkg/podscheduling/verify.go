// SPDX-License-Identifier: Apache-2.0

package podscheduling

import (
	"fmt"
	"maps"
	"slices"
)

// Missing is a node label that a Pod must ask for and does not, because its nodeSelector lacks the key or has another value.
type Missing struct {
	Key, Value string
}

// Verify returns the labels of the node selector that the nodeSelector of a Pod does not ask for, sorted by key; nil if there are none.
// Only spec.nodeSelector counts: an equivalent node affinity does not satisfy the constraints, and more keys are fine
// (docs/spec/affinity-class.md 1.4).
func (c *Constraints) Verify(nodeSelector map[string]string) []Missing {
	var missing []Missing
	for _, key := range slices.Sorted(maps.Keys(c.NodeSelector)) {
		if value, found := nodeSelector[key]; !found || value != c.NodeSelector[key] {
			missing = append(missing, Missing{Key: key, Value: c.NodeSelector[key]})
		}
	}
	return missing
}

// Denial returns the message about a Pod that does not ask for a label of its AffinityClass.
func (m Missing) Denial(namespace, pod, class string) string {
	return fmt.Sprintf("pod %s/%s belongs to application with AffinityClass %q but missing required nodeSelector %s=%s",
		namespace, pod, class, m.Key, m.Value)
}

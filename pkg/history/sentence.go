// SPDX-License-Identifier: Apache-2.0

package history

import (
	"fmt"
	"strings"
)

const (
	// clustersNamed and causesNamed bound the names and the causes in a sentence.
	clustersNamed = 10
	causesNamed   = 3
)

// Sentence returns "lost eu2, gained us2: ManagedCluster eu2 taint maintenance:NoSelect added by kubectl-edit". Without a cause it has the reasons of
// the evaluation: "lost eu2 (ManagedCluster is deleted), gained eu3 (rank 2, score 87)".
func (m *Move) Sentence() string {
	known := len(m.Causes)+m.HiddenCauses > 0
	var parts []string
	for _, part := range []struct {
		verb     string
		clusters []string
	}{{"lost", m.Lost}, {"gained", m.Gained}} {
		if len(part.clusters) > 0 {
			parts = append(parts, part.verb+" "+m.names(part.clusters, !known))
		}
	}
	text := strings.Join(parts, ", ")
	if !known {
		return text
	}
	return text + ": " + m.causes()
}

// names returns the clusters, with the reasons of the evaluation if they are asked for.
func (m *Move) names(clusters []string, reasons bool) string {
	var text strings.Builder
	for i, cluster := range clusters {
		if i == clustersNamed {
			fmt.Fprintf(&text, " and %d more", len(clusters)-i)
			break
		}
		if i > 0 {
			text.WriteString(", ")
		}
		text.WriteString(cluster)
		if reason := m.ReasonOf(cluster); reasons && reason != "" {
			fmt.Fprintf(&text, " (%s)", reason)
		}
	}
	return text.String()
}

// ReasonOf returns the reason of the evaluation for a cluster; empty if none is known.
func (m *Move) ReasonOf(cluster string) string {
	for _, reason := range m.Reasons {
		if reason.Cluster == cluster {
			return reason.Text
		}
	}
	return ""
}

// causes names the causes, and how many are not shown.
func (m *Move) causes() string {
	texts := make([]string, 0, causesNamed+2)
	for i := range m.Causes {
		if i == causesNamed {
			texts = append(texts, fmt.Sprintf("%d more", len(m.Causes)-i))
			break
		}
		texts = append(texts, m.Causes[i].Sentence())
	}
	if m.HiddenCauses > 0 {
		texts = append(texts, HiddenText(m.HiddenCauses))
	}
	return strings.Join(texts, "; ")
}

// HiddenText returns how many causes a reader does not see, from 1.
func HiddenText(count int) string {
	if count == 1 {
		return "a change of an object that this user may not read"
	}
	return fmt.Sprintf("%d changes of objects that this user may not read", count)
}

// Sentence returns "ManagedCluster eu2 taint maintenance:NoSelect added by kubectl-edit", or "ManagedCluster c7 label region changed from eu to us".
func (c *Cause) Sentence() string {
	name := c.Name
	if c.Namespace != "" {
		name = c.Namespace + "/" + name
	}
	words := []string{c.Kind, name}
	if c.What != "" {
		words = append(words, c.What)
	}
	words = append(words, string(c.Action))
	if c.Action == Changed && c.Old != "" && c.New != "" {
		words = append(words, "from", c.Old, "to", c.New)
	}
	if c.Manager != "" {
		words = append(words, "by", c.Manager)
	}
	return strings.Join(words, " ")
}

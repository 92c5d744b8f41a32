// SPDX-License-Identifier: Apache-2.0

package dashboard

import (
	"cmp"
	"slices"
	"strings"

	"github.com/placement-hub/placement-hub/pkg/dashboard/lists"
	"github.com/placement-hub/placement-hub/pkg/explain/document"
)

const (
	// causesShown bounds the causes of the overview, and namedInCause the objects that a row names.
	causesShown  = 50
	namedInCause = 3
)

// sharedCause is a cause that objects of a kind and state have in common.
type sharedCause struct {
	Kind  string        `json:"kind"`
	State string        `json:"state"`
	Tone  document.Tone `json:"-"`
	Cause string        `json:"cause"`
	Count int           `json:"count"`
	// Text says what the cause is: the message of the objects, or that of the first one, which Of then names.
	Text string `json:"text"`
	Of   string `json:"of,omitempty"`
	// Named are the first objects, and Link is the list of all.
	Named []item `json:"-"`
	Link  string `json:"-"`

	same bool // All have the message of the first one.
}

// Noun is the kind without its group, in the plural where there are several.
func (c *sharedCause) Noun() string {
	if noun, _, _ := strings.Cut(c.Kind, "."); c.Count == 1 {
		return noun
	}
	return nounOf(c.Kind)
}

// More counts the objects that the row does not name.
func (c *sharedCause) More() int { return c.Count - len(c.Named) }

// sentences say what causes are that no message has in the plural.
var sentences = map[string]string{
	causeSilent: "no agent reports whether they are available", causeDeleted: "they are being deleted",
}

// causesIn groups the objects that need attention by their cause, the worst and most frequent first. lists of them are at the path of their kind.
func causesIn(items []item, namespace string) []sharedCause {
	type key struct{ kind, state, cause string }
	at, causes := map[key]int{}, []sharedCause{}
	for i := range items {
		each := &items[i]
		if !each.NeedsAttention() {
			continue
		}
		of := key{each.Kind, each.State, each.Cause}
		n, known := at[of]
		if !known {
			n = len(causes)
			at[of] = n
			causes = append(causes, sharedCause{
				Kind: each.Kind, State: each.State, Tone: each.Tone, Cause: each.Cause, Text: each.Message, same: true,
				Link: causeLink(each, namespace),
			})
		}
		found := &causes[n]
		found.Count++
		found.same = found.same && found.Text == each.Message
		if len(found.Named) < namedInCause {
			found.Named = append(found.Named, *each)
		}
	}
	for i := range causes {
		found := &causes[i]
		if sentence := sentences[found.Cause]; sentence != "" && found.Count > 1 {
			found.Text = sentence
		} else if !found.same && strings.Contains(found.Cause, " ") { // It is a clause, and the messages differ in their numbers.
			found.Text = found.Cause
		} else if !found.same {
			found.Of = qualified(&found.Named[0])
		}
	}
	slices.SortStableFunc(causes, func(a, b sharedCause) int {
		return cmp.Or(cmp.Compare(lists.Severity(a.Tone), lists.Severity(b.Tone)), cmp.Compare(b.Count, a.Count))
	})
	return causes
}

// qualified returns "namespace/name".
func qualified(o *item) string {
	if o.Namespace == "" {
		return o.Name
	}
	return o.Namespace + "/" + o.Name
}

// causeLink returns the list of the objects that have the cause of one.
func causeLink(o *item, namespace string) string {
	path := map[string]string{itemPlacement: placementsPath, itemCluster: clustersPath, itemRequest: requestsPath}[o.Kind]
	if path == clustersPath {
		namespace = ""
	}
	kind := ""
	if path == "" { // It is a delivered object, of one of many kinds.
		path, kind = objectsPath, o.Kind
	}
	return link([]string{path}, lists.ByNamespace, namespace, lists.ByKind, kind, lists.ByState, o.State, lists.ByCause, o.Cause)
}

// nounOf returns the plural of a kind, without its group: "Deployments" for "Deployment.apps".
func nounOf(kind string) string {
	noun, _, _ := strings.Cut(kind, ".")
	switch {
	case strings.HasSuffix(noun, "Endpoints"):
		return noun
	case strings.HasSuffix(noun, "s"), strings.HasSuffix(noun, "x"), strings.HasSuffix(noun, "ch"):
		return noun + "es"
	case strings.HasSuffix(noun, "y") && !strings.HasSuffix(noun, "ay"): // A Gateway has the plural Gateways.
		return strings.TrimSuffix(noun, "y") + "ies"
	default:
		return noun + "s"
	}
}

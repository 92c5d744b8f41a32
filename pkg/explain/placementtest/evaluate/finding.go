// SPDX-License-Identifier: Apache-2.0

package evaluate

import (
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/placement-hub/placement-hub/pkg/explain/placementtest/cases"
)

// finding is a clause that does not hold.
type finding struct {
	field, message string
	// missing is a cluster that would have to be selected; empty for none.
	missing string
}

func found(field, format string, arguments ...any) *finding {
	return &finding{field: field, message: fmt.Sprintf(format, arguments...)}
}

// group is a set of names that a case says something about.
type group struct {
	// The texts of a name in the group, such as "is selected", and of one that is not in it, such as "is not selected".
	is, isNot string
	// names are sorted.
	names  []string
	labels func(name string) map[string]string
	// reason says why a name is in the group or not; empty if nothing is known.
	reason func(name string) string
	// selection reports that a counterfactual can select what is missing.
	selection bool
}

func (g *group) has(name string) bool {
	_, has := slices.BinarySearch(g.names, name)
	return has
}

// because returns ": " and the reason for a name.
func (g *group) because(name string) string {
	if reason := g.reason(name); reason != "" {
		return ": " + reason
	}
	return ""
}

// lacks returns the finding that a name is missing.
func (g *group) lacks(field, name string) *finding {
	f := found(field, "%s %s%s", name, g.isNot, g.because(name))
	if g.selection {
		f.missing = name
	}
	return f
}

// surplus returns the finding that a name should be missing.
func (g *group) surplus(field, name string) *finding {
	return found(field, "%s %s%s", name, g.is, g.because(name))
}

// check returns the first clause that does not hold; nil if all do.
func (g *group) check(field string, of *cases.Clusters) *finding {
	if of == nil {
		return nil
	}
	if of.Exactly != nil {
		if f := g.checkExactly(field+".exactly", of.Exactly); f != nil {
			return f
		}
	}
	for _, name := range of.AllOf {
		if !g.has(name) {
			return g.lacks(field+".allOf", name)
		}
	}
	if len(of.AnyOf) > 0 && !slices.ContainsFunc(of.AnyOf, g.has) {
		f := g.lacks(field+".anyOf", of.AnyOf[0])
		f.message = fmt.Sprintf("none of %s %s; %s", shown(of.AnyOf), strings.Replace(g.isNot, "is not", "is", 1), f.message)
		return f
	}
	for _, name := range of.NoneOf {
		if g.has(name) {
			return g.surplus(field+".noneOf", name)
		}
	}
	bound := &cases.Bound{AtLeast: of.AtLeast, AtMost: of.AtMost}
	if f := checkBound(field, bound, len(g.names), "it has "+shown(g.names)); f != nil {
		return f
	}
	if f := g.checkLabels(field+".every", of.Every, false); f != nil {
		return f
	}
	return g.checkLabels(field+".none", of.None, true)
}

func (g *group) checkExactly(field string, names []string) *finding {
	for _, name := range names {
		if !g.has(name) {
			return g.lacks(field, name)
		}
	}
	for _, name := range g.names {
		if !slices.Contains(names, name) {
			return g.surplus(field, name)
		}
	}
	return nil
}

// checkLabels rejects names whose labels a selector selects, or does not select.
func (g *group) checkLabels(field string, of *metav1.LabelSelector, rejects bool) *finding {
	if of == nil {
		return nil
	}
	selector, err := metav1.LabelSelectorAsSelector(of)
	if err != nil {
		return found(field, "%v", err) // The reader of the case has checked it.
	}
	for _, name := range g.names {
		if selector.Matches(labels.Set(g.labels(name))) == rejects {
			f := g.surplus(field, name)
			if !rejects {
				f.message = fmt.Sprintf("%s, which does not have the labels %s, %s%s", name, selector, g.is, g.because(name))
			} else {
				f.message = fmt.Sprintf("%s, which has the labels %s, %s%s", name, selector, g.is, g.because(name))
			}
			return f
		}
	}
	return nil
}

// checkBound checks a number; what continues the sentence.
func checkBound(field string, of *cases.Bound, number int, what string) *finding {
	switch {
	case of == nil:
		return nil
	case of.Exactly != nil && number != *of.Exactly:
		return found(field+".exactly", "there are %d instead of %d: %s", number, *of.Exactly, what)
	case of.AtLeast != nil && number < *of.AtLeast:
		return found(field+".atLeast", "there are %d instead of at least %d: %s", number, *of.AtLeast, what)
	case of.AtMost != nil && number > *of.AtMost:
		return found(field+".atMost", "there are %d instead of at most %d: %s", number, *of.AtMost, what)
	default:
		return nil
	}
}

// namesShown bounds the names in a message.
const namesShown = 5

// shown returns the first names, and the number of the others.
func shown(names []string) string {
	switch {
	case len(names) == 0:
		return "none"
	case len(names) <= namesShown:
		return strings.Join(names, ", ")
	default:
		return fmt.Sprintf("%s and %d more", strings.Join(names[:namesShown], ", "), len(names)-namesShown)
	}
}

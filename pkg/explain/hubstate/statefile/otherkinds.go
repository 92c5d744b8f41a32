// SPDX-License-Identifier: Apache-2.0

package statefile

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/placement-hub/placement-hub/pkg/explain"
	"github.com/placement-hub/placement-hub/pkg/federation"
)

// The group of the operator of openMCP, and the page that compares it with that of the hub.
const (
	openmcpGroup = "clusters.openmcp.cloud"
	openmcpPage  = "docs/openmcp.md"
)

// readOther reads an object of a kind that files of this Reader do not have. A kind that resembles one of them is a mistake. An object of any other
// kind is for another program, and readOther skips it.
func (r *Reader) readOther(at position, gvk schema.GroupVersionKind) {
	apiVersion := gvk.GroupVersion()
	near := r.nearest(gvk)
	if len(near) == 0 {
		r.skip(at, gvk)
		return
	}

	names := make([]string, 0, len(near))
	for _, kind := range near {
		names = append(names, fmt.Sprintf("%s of %s", cmp.Or(kind.Kind, gvk.Kind), strings.TrimSuffix(kind.GroupVersion().String(), "/")))
	}
	path, help := "kind", "did you mean "+strings.Join(names, " or ")+"?"
	switch first := near[0]; {
	case first.Group == gvk.Group && first.Kind == gvk.Kind:
		path, help = "apiVersion", "it is served as "+first.GroupVersion().String()
	case first.Group != gvk.Group:
		path = "apiVersion"
	}
	if gvk.Group == openmcpGroup {
		help += " " + openmcpPage + " compares the two APIs"
	}
	r.reportf(at, "", path, "%s of %s is not known here; %s", gvk.Kind, apiVersion, help)
}

// skip counts an object that is for another program. A strict Reader reports it as a mistake.
func (r *Reader) skip(at position, gvk schema.GroupVersionKind) {
	if r.strict {
		r.reportf(at, "", "kind", "%s of %s is not read here: leave it out, or --strict", gvk.Kind, gvk.GroupVersion())
		return
	}
	name := gvk.Kind
	if r.state.KindOf(gvk) == nil && slices.ContainsFunc(r.known(), func(kind schema.GroupVersionKind) bool { return kind.Kind == name }) {
		name = gvk.GroupKind().String()
	}
	r.skipped[name]++
}

// nearest returns the kinds that a kind may be a misspelling of; none if it resembles no kind of files. Of a group that files have, the kind may be
// in another one; a group that they do not have may only be misspelt itself.
func (r *Reader) nearest(gvk schema.GroupVersionKind) []schema.GroupVersionKind {
	known := map[string][]schema.GroupVersionKind{}
	for _, kind := range r.known() {
		known[kind.Group] = append(known[kind.Group], kind)
	}
	group, name := gvk.Group, strings.ToLower(gvk.Kind)
	if known[group] == nil {
		if group = federation.Similar(gvk.Group, slices.Sorted(maps.Keys(known))); group == "" {
			return nil
		}
	}

	names := make([]string, 0, len(known[group]))
	for _, kind := range known[group] {
		names = append(names, strings.ToLower(kind.Kind))
	}
	similar := federation.Similar(name, names)
	near := slices.DeleteFunc(slices.Clone(known[group]), func(kind schema.GroupVersionKind) bool {
		lower := strings.ToLower(kind.Kind)
		return kind.Kind != "" && lower != similar && (similar != "" || !strings.Contains(lower, name))
	})
	if len(near) > 0 || group != gvk.Group {
		return near
	}
	return slices.DeleteFunc(r.known(), func(kind schema.GroupVersionKind) bool { return kind.Kind != gvk.Kind })
}

// known returns the kinds that files may have, one without a Kind for all of its group.
func (r *Reader) known() []schema.GroupVersionKind {
	var known []schema.GroupVersionKind
	for _, kind := range r.state.Kinds() {
		if kind.Concerns == 0 || r.admitter(kind, kind.GroupVersionKind) != nil {
			known = append(known, kind.GroupVersionKind)
		}
	}
	return known
}

// leavesOut reports whether objects of a kind that a command does not take are skipped. Kinds of Kubernetes and of other projects are in the same
// files as those of the hub; to leave out one of the hub's own would change the result.
func leavesOut(kind *explain.Kind) bool { return kind.Definition == explain.BuiltIn }

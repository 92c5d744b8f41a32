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
)

// dropUntaken removes from an object what an API server does not take of it: a namespace of a kind that is in none, and the status of an object
// that is applied.
func (r *Reader) dropUntaken(at position, gvk schema.GroupVersionKind, kind *explain.Kind, object map[string]any) {
	if metadata, isObject := object[metadataKey].(map[string]any); isObject && !kind.Namespaced {
		if namespace, has := text(metadata, "namespace"); has {
			delete(metadata, "namespace")
			r.astray++
			if r.astray == 1 {
				r.firstAstray = at.problem(identify(gvk, object), "metadata.namespace",
					fmt.Sprintf("%s is left out, because a %s is in no namespace", namespace, gvk.Kind)).String()
			}
		}
	}
	if r.rules == nil {
		return
	}
	if status, isObject := object["status"].(map[string]any); isObject && len(status) > 0 {
		r.statuses++
	}
	delete(object, "status")
}

// Notes returns what was left out of the files, one line each.
func (r *Reader) Notes() []string {
	var notes []string
	if len(r.skipped) > 0 {
		names := slices.SortedFunc(maps.Keys(r.skipped), func(a, b string) int {
			return cmp.Or(r.skipped[b]-r.skipped[a], strings.Compare(a, b))
		})
		for i, name := range names {
			names[i] = fmt.Sprintf("%d %s", r.skipped[name], name)
		}
		notes = append(notes, "skipped "+strings.Join(names, ", "))
	}
	switch {
	case r.astray == 1:
		notes = append(notes, "warning: "+r.firstAstray)
	case r.astray > 1:
		notes = append(notes, fmt.Sprintf("warning: %s; so are others, %d in all", r.firstAstray, r.astray))
	}
	if r.statuses > 0 {
		notes = append(notes, fmt.Sprintf("left out status, which apply does not write: %d", r.statuses))
	}
	return notes
}

// SPDX-License-Identifier: Apache-2.0

package lists

import (
	"errors"
	"net/url"
	"slices"
	"strings"
)

// The parameters of a URL that filter a list.
const (
	ByName      = "name"
	ByNamespace = "namespace"
	BySet       = "set"
	ByKind      = "kind"
	ByState     = "state"
	ByLabel     = "label"
	ByCause     = "cause"
)

// NoSet is the value of BySet for objects in no set. No set has such a name.
const NoSet = "-"

// filter selects objects.
type filter struct {
	name, namespace, set, kind, state, cause string
	labels                                   []requirement
}

// requirement is a label or claim that an object must have; with any value if any is true.
type requirement struct {
	key, value string
	any        bool
}

// errLabel is about a text that is no requirement.
var errLabel = errors.New("write key=value, such as region=eu, or key for any value; several are separated by commas")

// parseLabels parses requirements, "region=eu,gpu".
func parseLabels(text string) ([]requirement, error) {
	var requirements []requirement
	for each := range strings.SplitSeq(text, ",") {
		if each = strings.TrimSpace(each); each == "" {
			continue
		}
		key, value, assigns := strings.Cut(each, "=")
		value = strings.TrimPrefix(value, "=") // kubectl takes key==value, too.
		if key = strings.TrimSpace(key); key == "" || strings.ContainsAny(key, " !") {
			return nil, errLabel
		}
		requirements = append(requirements, requirement{key: key, value: strings.TrimSpace(value), any: !assigns})
	}
	return requirements, nil
}

// newFilter reads the filters of a list from the parameters of a URL. The error is about the label.
func newFilter(asked url.Values, offered []string) (filter, error) {
	get := func(parameter string) string {
		if !slices.Contains(offered, parameter) {
			return ""
		}
		return strings.TrimSpace(asked.Get(parameter))
	}
	f := filter{
		name: strings.ToLower(get(ByName)), namespace: get(ByNamespace), set: get(BySet), kind: get(ByKind), state: get(ByState),
		cause: strings.TrimSpace(asked.Get(ByCause)),
	}
	var err error
	f.labels, err = parseLabels(get(ByLabel))
	return f, err
}

// matches reports whether an object passes all filters but that of the state.
func (f *filter) matches(o *Object) bool {
	switch {
	case f.name != "" && !strings.Contains(strings.ToLower(o.fullName()), f.name),
		f.namespace != "" && o.Namespace != f.namespace && !slices.Contains(o.Namespaces, f.namespace),
		f.kind != "" && o.Kind != f.kind, f.cause != "" && o.Cause != f.cause:
		return false
	case f.set == NoSet && len(o.Sets) > 0, f.set != "" && f.set != NoSet && !slices.Contains(o.Sets, f.set):
		return false
	}
	return !slices.ContainsFunc(f.labels, func(wanted requirement) bool { return !wanted.holds(o.Labels) && !wanted.holds(o.Claims) })
}

func (r requirement) holds(values map[string]string) bool {
	value, has := values[r.key]
	return has && (r.any || value == r.value)
}

// fullName returns "namespace/name".
func (o *Object) fullName() string {
	if o.Namespace == "" {
		return o.Name
	}
	return o.Namespace + "/" + o.Name
}

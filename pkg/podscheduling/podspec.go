// SPDX-License-Identifier: Apache-2.0

package podscheduling

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
)

// The fields of a pod spec that constraints are injected into, and of an affinity.
const (
	nodeSelectorField  = "nodeSelector"
	nodeNameField      = "nodeName"
	affinityField      = "affinity"
	schedulerNameField = "schedulerName"
	tolerationsField   = "tolerations"

	nodeAffinityField = "nodeAffinity"
	expressionsField  = "matchExpressions"
	fieldsField       = "matchFields"
	labelsField       = "matchLabels"

	// gatesField is only read.
	gatesField = "schedulingGates"
)

// defaultScheduler is what the API server fills in before webhooks are called, so it counts as unset: docs/spec/kubernetes.md V1.
const defaultScheduler = "default-scheduler"

// podSpec has the fields of a pod spec that Inject reads, undecoded.
type podSpec struct {
	NodeSelector    json.RawMessage `json:"nodeSelector"`
	NodeName        json.RawMessage `json:"nodeName"`
	Affinity        json.RawMessage `json:"affinity"`
	SchedulerName   json.RawMessage `json:"schedulerName"`
	Tolerations     json.RawMessage `json:"tolerations"`
	SchedulingGates json.RawMessage `json:"schedulingGates"`
}

// fields decodes the fields that are there and not null, and checks that their parts have the types that Inject relies on. Numbers keep
// their text.
func (s *podSpec) fields() (map[string]any, error) {
	fields := map[string]any{}
	for _, field := range []struct {
		name string
		raw  json.RawMessage
	}{
		{nodeSelectorField, s.NodeSelector}, {nodeNameField, s.NodeName}, {affinityField, s.Affinity},
		{schedulerNameField, s.SchedulerName}, {tolerationsField, s.Tolerations}, {gatesField, s.SchedulingGates},
	} {
		if len(field.raw) == 0 {
			continue
		}
		value, err := decode(field.raw)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", field.name, err)
		}
		if value == nil {
			continue
		}
		if err := specShape.check(field.name, value); err != nil {
			return nil, err
		}
		fields[field.name] = value
	}

	return fields, nil
}

func decode(raw []byte) (any, error) {
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		return nil, fmt.Errorf("decode: %w", err)
	}
	return value, nil
}

// shape has the type of a JSON value: an object with the shapes of some of its members, a list with that of its items, or a string.
type shape struct {
	members map[string]shape // not nil for an object
	items   *shape           // not nil for a list
	text    bool
}

var (
	anyValue     = shape{}
	textShape    = shape{text: true}
	anyList      = shape{items: &anyValue}
	requirements = shape{items: &shape{members: map[string]shape{}}}
	termShape    = shape{members: map[string]shape{expressionsField: requirements, fieldsField: requirements}}
	podTerms     = shape{members: map[string]shape{requiredField: anyList, preferredField: anyList}}

	specShape = shape{members: map[string]shape{
		nodeSelectorField:  {members: map[string]shape{}},
		nodeNameField:      textShape,
		schedulerNameField: textShape,
		tolerationsField:   anyList,
		gatesField:         anyList,
		affinityField: {members: map[string]shape{
			nodeAffinityField: {members: map[string]shape{
				requiredField:  {members: map[string]shape{termsField: {items: &termShape}}},
				preferredField: anyList,
			}},
			"podAffinity":     podTerms,
			"podAntiAffinity": podTerms,
		}},
	}}
)

// check checks a member of an object. Null is always as good as absent.
func (s shape) check(name string, value any) error {
	if member, known := s.members[name]; known && value != nil {
		if err := member.checkValue(value); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

func (s shape) checkValue(value any) error {
	switch {
	case s.members != nil:
		object, ok := value.(map[string]any)
		if !ok {
			return fmt.Errorf("is %T, not an object", value)
		}
		for _, name := range slices.Sorted(maps.Keys(s.members)) {
			if err := s.check(name, object[name]); err != nil {
				return err
			}
		}
	case s.items != nil:
		list, ok := value.([]any)
		if !ok {
			return fmt.Errorf("is %T, not a list", value)
		}
		for i, item := range list {
			if err := s.items.checkValue(item); err != nil {
				return fmt.Errorf("[%d]: %w", i, err)
			}
		}
	case s.text:
		if _, ok := value.(string); !ok {
			return fmt.Errorf("is %T, not a string", value)
		}
	}

	return nil
}

// member returns a member of an object; the zero value if it is absent or null.
func member[T any](object map[string]any, name string) T {
	value, _ := object[name].(T) // fields has checked the type.
	return value
}

// at returns the value at a path of nested objects; the zero value if it is not there.
func at[T any](object map[string]any, path ...string) T {
	last := len(path) - 1
	for _, name := range path[:last] {
		object = member[map[string]any](object, name)
	}
	return member[T](object, path[last])
}

// with returns a copy of an object that has a value at a path; objects on the way are copied or made, everything else is shared.
func with(object map[string]any, value any, path ...string) map[string]any {
	changed := maps.Clone(object)
	if changed == nil {
		changed = map[string]any{}
	}
	if len(path) > 1 {
		value = with(member[map[string]any](object, path[0]), value, path[1:]...)
	}
	changed[path[0]] = value //nolint:gosec // A path has at least one name.
	return changed
}

// canonical returns a text that is equal for values that are deeply equal. Null and empty lists are as good as absent.
func canonical(value any) string { return string(appendCanonical(nil, value)) }

func appendCanonical(text []byte, value any) []byte {
	switch value := value.(type) {
	case map[string]any:
		text = append(text, '{')
		for _, name := range slices.Sorted(maps.Keys(value)) {
			if !absent(value[name]) {
				text = appendCanonical(append(strconv.AppendQuote(text, name), ':'), value[name])
				text = append(text, ',')
			}
		}
		return append(text, '}')
	case []any:
		text = append(text, '[')
		for _, item := range value {
			text = append(appendCanonical(text, item), ',')
		}
		return append(text, ']')
	case string:
		return strconv.AppendQuote(text, value)
	default: // a number, a boolean or null
		return fmt.Append(text, value)
	}
}

// absent reports whether a member of an object is as good as absent.
func absent(value any) bool {
	list, isList := value.([]any)
	return value == nil || isList && len(list) == 0
}

// Identity returns a text that is equal for two workloads if the same policies match their pods and make the same of them in one namespace.
func (w *Workload) Identity() (string, error) {
	text, err := json.Marshal([]any{w.path, w.ofDaemonSet(), w.Labels, w.spec})
	if err != nil {
		return "", fmt.Errorf("encode the pod spec: %w", err)
	}
	return string(text), nil
}

package statefile

import (
	"fmt"
	"maps"
	"reflect"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/json"
)

// merger merges objects of kinds other than Placements, until the first error.
type merger struct {
	reader *Reader
	kept   map[string][]string // by kind and name
	err    error
}

// mergeAll returns the objects of the files as they are after they were applied to the live ones.
func mergeAll[T any, P interface {
	*T
	metav1.Object
}](m *merger, kind schema.GroupVersionKind, given, live []P) []P {
	merged := make([]P, 0, len(given))

	for _, alone := range given {
		at := slices.IndexFunc(live, func(other P) bool {
			return other.GetNamespace() == alone.GetNamespace() && other.GetName() == alone.GetName()
		})
		if at < 0 {
			merged = append(merged, alone)

			continue
		}

		name := kind.Kind + " " + alone.GetName()
		if alone.GetNamespace() != "" {
			name = kind.Kind + " " + alone.GetNamespace() + "/" + alone.GetName()
		}

		object, kept, err := mergeOne[T, P](m.reader, kind, alone, live[at])
		if err != nil && m.err == nil {
			m.err = fmt.Errorf("applying %s: %w", name, err)
		}

		m.kept[name] = kept
		merged = append(merged, object)
	}

	return merged
}

// mergeOne returns the live object after the file was applied, and the fields of its spec that the file does not set.
func mergeOne[T any, P interface {
	*T
	metav1.Object
}](r *Reader, kind schema.GroupVersionKind, alone, live P) (P, []string, error) {
	stored, err := runtime.DefaultUnstructuredConverter.ToUnstructured(live)
	if err != nil {
		return nil, nil, fmt.Errorf("reading the live object: %w", err)
	}

	last := map[string]any{}
	if applied := live.GetAnnotations()[corev1.LastAppliedConfigAnnotation]; applied != "" {
		if err := json.Unmarshal([]byte(applied), &last); err != nil {
			return nil, nil, fmt.Errorf("the live object has a damaged annotation %s, which kubectl apply refuses too; remove the annotation: %w",
				corev1.LastAppliedConfigAnnotation, err)
		}
	}

	given := desired(r.rules.given[identityOf(kind, alone)])
	object := threeWay(desired(last), given, desired(stored))
	object["apiVersion"], object["kind"] = kind.ToAPIVersionAndKind()

	if findings := r.definitions[kind].admit(object); len(findings) > 0 {
		return nil, nil, fmt.Errorf("together with the live object, %s: %s", findings[0].path, findings[0].text)
	}

	kept := keptFields(given, object)
	merged := P(new(T))

	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(restore(object, stored), merged); err != nil {
		return nil, nil, fmt.Errorf("reading the result: %w", err)
	}

	return merged, kept, nil
}

// keptFields returns the fields of a merged spec that the file does not set or sets otherwise, without defaults.
func keptFields(given, merged map[string]any) []string {
	one, _ := given["spec"].(map[string]any)
	other, _ := merged["spec"].(map[string]any)

	var kept []string

	for _, key := range slices.Sorted(maps.Keys(other)) {
		if _, isDefault := defaultsOfSpec[key]; !isDefault && !reflect.DeepEqual(one[key], other[key]) {
			kept = append(kept, "spec."+key)
		}
	}

	return kept
}

// defaultsOfSpec are the fields that the definitions fill in.
var defaultsOfSpec = map[string]bool{"enforcement": true}

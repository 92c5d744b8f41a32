package scheduling

import (
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/placement-hub/placement-hub/pkg/clusterinfo"
	"github.com/placement-hub/placement-hub/pkg/selector"
)

// lowering is what all APIs lower with: it collects a Request and the mistakes in it.
type lowering struct {
	compiler *selector.Compiler
	request  *Request
}

func (l *lowering) mistake(errs ...*field.Error) {
	l.request.Errors = append(l.request.Errors, errs...)
}

// name must fit into the label of the decisions (docs/spec/differences.md A2).
func (l *lowering) name(name string) {
	path := field.NewPath("metadata", "name")
	for _, rule := range validation.IsValidLabelValue(name) {
		l.mistake(field.Invalid(path, name, "labels every PlacementDecision and "+rule))
	}
}

func (l *lowering) wanted(path *field.Path, wanted *int32) {
	if wanted != nil && *wanted < 0 {
		l.mistake(field.Invalid(path, *wanted, "must be 0 or more, or absent for all clusters"))
	}
}

func (l *lowering) predicate(paths selector.Paths, spec selector.Spec) {
	compiled, errs := l.compiler.Compile(paths, spec)
	l.mistake(errs...)

	if compiled != nil {
		l.request.Predicates = append(l.request.Predicates, Predicate{Selector: compiled, CEL: paths.CEL})
	}
}

// defaultPrioritizers apply where nothing else is said (docs/spec/upstream-placement.md 1.8).
func defaultPrioritizers() []Prioritizer {
	return []Prioritizer{{BuiltIn: Balance, Weight: 1}, {BuiltIn: Steady, Weight: 1}}
}

// The types of topology keys, which are the same words in every API.
const (
	topologyLabel = "Label"
	topologyClaim = "Claim"
)

// topologyKey reads the fields topologyKey and topologyKeyType of the struct at path. A claim may have any name
// (docs/spec/differences.md C1). A label may not, and since no cluster can have a label with a wrong key, it is a mistake and not a
// question that nobody answers.
func (l *lowering) topologyKey(path *field.Path, name, kind string) clusterinfo.Property {
	key := clusterinfo.Property{Kind: clusterinfo.Label, Name: name}
	if kind == topologyClaim {
		key.Kind = clusterinfo.Claim
	}

	if name == "" {
		l.mistake(field.Required(path.Child("topologyKey"), "the name of a label or of a cluster claim"))
	} else if kind == topologyLabel {
		for _, rule := range validation.IsQualifiedName(name) {
			l.mistake(field.Invalid(path.Child("topologyKey"), name, rule))
		}
	}

	if kind != topologyLabel && kind != topologyClaim {
		l.mistake(field.NotSupported(path.Child("topologyKeyType"), kind, []string{topologyLabel, topologyClaim}))
	}

	return key
}

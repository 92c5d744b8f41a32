// SPDX-License-Identifier: Apache-2.0

package statefile

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metavalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clusterv1 "open-cluster-management.io/api/cluster/v1"

	"github.com/placement-hub/placement-hub/pkg/explain"
	"github.com/placement-hub/placement-hub/pkg/explain/admission"
	"github.com/placement-hub/placement-hub/pkg/explain/snapshot"
	"github.com/placement-hub/placement-hub/pkg/federation"
)

// Reader reads an explain.State from files. It continues after an error, so that all of them are reported at once. It is not safe for
// concurrent use.
type Reader struct {
	definitions map[schema.GroupVersionKind]admitter
	state       explain.State
	seen        map[string]position
	// kinds has the kinds of the objects in seen.
	kinds    map[string]*explain.Kind
	problems []Problem
	// skipped counts the objects that are left out, by their kinds. strict makes them problems.
	skipped map[string]int
	strict  bool
	// astray and statuses count the namespaces and the status that an API server does not take of objects. firstAstray describes the first namespace.
	astray, statuses int
	firstAstray      string
	namespace        Namespace

	rules *applyRules // nil: every document is read without changes
	// live has the objects that compared reports, as they were given; none if it is nil.
	compared func(identity string) bool
	live     map[string]*Asked
	// updated are the live objects that Review takes in place of those of a State.
	updated map[string]*Asked

	// taken is the header of a snapshot, at takenAt; nil for other files.
	taken   *snapshot.Header
	takenAt position

	policies    *admission.Policies
	role        Role
	submissions []submitted // for the policies
}

// NewReader returns a Reader that validates by the given definitions, which must serve every kind of a State that has a
// CustomResourceDefinition. Without those of policies, classes and Tenants, these kinds are not known.
func NewReader(crds []*apiextensionsv1.CustomResourceDefinition) (*Reader, error) {
	definitions, err := newDefinitions(crds)
	if err != nil {
		return nil, err
	}
	for _, kind := range explain.Kinds() {
		if kind.Definition == explain.Required && definitions[kind.GroupVersionKind] == nil {
			return nil, fmt.Errorf("no CustomResourceDefinition serves %s", kind.GroupVersionKind)
		}
	}
	return &Reader{
		definitions: definitions, seen: map[string]position{}, kinds: map[string]*explain.Kind{}, skipped: map[string]int{},
	}, nil
}

// Deliver sets the delivered kinds; the default is federation.DefaultKinds. Of kinds that are not known otherwise, only the metadata is
// validated.
func (r *Reader) Deliver(kinds []federation.FederatedKind) { r.state.Federated.Kinds = kinds }

// Strict sets whether objects of kinds that only others read are errors. By default they are left out, and counted in Notes.
func (r *Reader) Strict(strict bool) { r.strict = strict }

// Read reads a file: YAML documents or JSON, single objects or lists. The name is for messages; State returns the errors.
func (r *Reader) Read(file string, content []byte) {
	first := len(r.problems)
	for _, document := range splitDocuments(file, content) {
		value, problems := document.parse()
		r.problems = append(r.problems, problems...)
		if header, is := headerIn(value); is {
			r.readHeader(position{document: document}, header)
		} else if value != nil {
			r.readValue(position{document: document}, value)
		}
	}
	slices.SortStableFunc(r.problems[first:], func(a, b Problem) int { return a.Line - b.Line })
}

// State returns the objects of the files, with the cluster sets "default" and "global". The error is an *InputError.
func (r *Reader) State() (*explain.State, error) {
	state := r.state
	if len(r.problems) == 0 {
		r.reportUnread(&state)
	}
	if len(r.problems) > 0 {
		return nil, &InputError{Problems: r.problems}
	}
	state.ClusterSets = withDefaultSets(state.ClusterSets)
	return &state, nil
}

func (r *Reader) reportf(at position, object, path, format string, arguments ...any) {
	r.problems = append(r.problems, at.problem(object, path, fmt.Sprintf(format, arguments...)))
}

func (r *Reader) readValue(at position, value any) {
	object, isObject := value.(map[string]any)
	if !isObject {
		r.reportf(at, "", "", "must be an object with apiVersion, kind and metadata, and is %s", describe(value))
		return
	}
	apiVersion, hasVersion := text(object, "apiVersion")
	kind, hasKind := text(object, "kind")
	if !hasVersion || !hasKind {
		r.reportUntyped(at, hasVersion, hasKind)
		return
	}

	gvk := schema.FromAPIVersionAndKind(apiVersion, kind)
	of := r.state.KindOf(gvk)
	_, hasItems := object["items"]
	switch {
	case of != nil && of.Concerns == 0:
		return
	case gvk == corev1.SchemeGroupVersion.WithKind("List"), strings.HasSuffix(kind, "List") && hasItems:
		r.readItems(at, kind, object)
	case !r.rules.selects(object):
		return
	case of == nil || r.admitter(of, gvk) == nil:
		r.readOther(at, gvk)
	case r.rules == nil || r.state.Diffs(of):
		r.readObject(at, gvk, of, object)
	case leavesOut(of):
		r.skip(at, gvk)
	default:
		r.reportf(at, "", "kind", "%s of %s cannot be compared: leave it out; what it means for placements shows once it is applied",
			kind, apiVersion)
	}
}

func (r *Reader) reportUntyped(at position, hasVersion, hasKind bool) {
	if !hasVersion {
		r.reportf(at, "", "apiVersion", "is required: every object says its apiVersion and kind")
	}
	if !hasKind {
		r.reportf(at, "", "kind", "is required: every object says its apiVersion and kind")
	}
}

func (r *Reader) readItems(at position, kind string, list map[string]any) {
	for _, key := range slices.Sorted(maps.Keys(list)) {
		if !slices.Contains([]string{"apiVersion", "kind", metadataKey, "items"}, key) {
			r.reportf(at, kind, key, "unknown field: a list has items, and nothing beside them")
		}
	}
	items, isList := list["items"].([]any)
	if !isList && list["items"] != nil {
		r.reportf(at, kind, "items", "must be a list, and is %s", describe(list["items"]))
	}

	for i, item := range items {
		if object, isObject := item.(map[string]any); isObject && kind != "List" {
			setDefault(object, "apiVersion", list["apiVersion"])
			setDefault(object, "kind", strings.TrimSuffix(kind, "List"))
		}
		r.readValue(at.child("items").item(i), item)
	}
}

func (r *Reader) readObject(at position, gvk schema.GroupVersionKind, kind *explain.Kind, object map[string]any) {
	r.namespace.set(kind, object)
	r.dropUntaken(at, gvk, kind, object)
	identity := identify(gvk, object)
	asGiven := r.rules.copyOf(object)
	findings := append(r.admitter(kind, gvk).admit(object), r.namespace.check(object)...)
	for _, finding := range findings {
		r.reportf(at, identity, finding.path, "%s", finding.text)
	}
	if len(findings) > 0 {
		return
	}

	if first, again := r.seen[identity]; again {
		r.reportf(at, identity, "", "was given at %s already: remove one of the two, or rename it", first.place())
		return
	}
	r.kinds[identity] = kind
	r.seen[identity] = at
	r.submit(at, identity, kind, object)

	if err := r.add(kind, object); err != nil {
		for _, finding := range decodingFindings(err) {
			r.reportf(at, identity, finding.path, "%s", finding.text)
		}
		return
	}
	r.rules.keep(identity, asGiven, object)
	if r.compared != nil && r.compared(identity) {
		r.live[identity] = &Asked{Live: &unstructured.Unstructured{Object: runtime.DeepCopyJSON(object)}}
	}
}

// Has reports whether the files have an object, by Manifest.Identity.
func (r *Reader) Has(identity string) bool { return r.kinds[identity] != nil }

// Compare has the following files read for comparisons: Live returns their objects that are compared, which compared reports by Manifest.Identity.
func (r *Reader) Compare(compared func(identity string) bool) {
	r.compared, r.live = compared, map[string]*Asked{}
}

// Live returns the live objects of a comparison as files have them, by Manifest.Identity. Go types, by which a State has them, do not tell fields
// that are empty from those that are absent, as field managers do.
func (r *Reader) Live() map[string]*Asked { return r.live }

// setDefault sets a field that an object lacks.
func setDefault(object map[string]any, key string, value any) {
	if object[key] == nil {
		object[key] = value
	}
}

// add adds a valid object to the State.
func (r *Reader) add(kind *explain.Kind, fields map[string]any) error {
	object, err := kind.Decode(fields)
	if err != nil {
		return err
	}
	return kind.Add(&r.state, object)
}

// admitter returns the admitter of a kind; nil if the definition of the kind is not known.
func (r *Reader) admitter(kind *explain.Kind, gvk schema.GroupVersionKind) admitter {
	if kind.Definition != explain.BuiltIn {
		return r.definitions[gvk]
	}
	rules := metadataRules{kind: gvk.Kind, namespaced: kind.Namespaced, nameRule: kind.NameRule}
	if rules.nameRule == nil {
		rules.nameRule = metavalidation.NameIsDNSSubdomain
	}
	return &builtin{metadataRules: rules, check: kind.Check}
}

// builtin is the admitter of a kind without a CustomResourceDefinition. Unknown fields and wrong types are found when the object is decoded.
type builtin struct {
	metadataRules
	check func(object map[string]any) []explain.Finding // of the rest; nil: nothing to check
}

func (b *builtin) admit(object map[string]any) []finding {
	findings := b.checkMetadata(object)
	if b.check == nil {
		return findings
	}
	for _, found := range b.check(object) {
		findings = append(findings, finding{found.Path, found.Text})
	}
	return findings
}

// identify names an object as far as its fields allow: "Placement team-a/rollout", "ManagedCluster eu1", "Placement". Kinds of other groups
// have their group as suffix, if it has a name.
func identify(gvk schema.GroupVersionKind, object map[string]any) string {
	kind := gvk.Kind
	if gvk.Group != clusterv1.GroupName && gvk.Group != corev1.GroupName {
		kind += "." + gvk.Group
	}
	metadata, isObject := object[metadataKey].(map[string]any)
	if !isObject {
		return kind
	}
	name, hasName := text(metadata, "name")
	namespace, hasNamespace := text(metadata, "namespace")
	switch {
	case !hasName:
		return kind
	case !hasNamespace:
		return kind + " " + name
	default:
		return kind + " " + namespace + "/" + name
	}
}

// text returns a string field; false when it is missing, empty or no string.
func text(object map[string]any, key string) (string, bool) {
	value, isString := object[key].(string)
	return value, isString && value != ""
}

var unknownFieldPath = regexp.MustCompile(`^unknown field "(.+)"$`)

// decodingFindings returns the findings of an error of Kind.Decode: one for each unknown field, with its path.
func decodingFindings(err error) []finding {
	strict, isStrict := runtime.AsStrictDecodingError(errors.Unwrap(err)) // Decode adds a prefix.
	if !isStrict {
		return []finding{{"", err.Error()}}
	}
	var findings []finding

	for _, err := range strict.Errors() {
		if match := unknownFieldPath.FindStringSubmatch(err.Error()); match != nil {
			findings = append(findings, finding{match[1], unknownField(nil)})
		} else {
			findings = append(findings, finding{"", err.Error()})
		}
	}
	return findings
}

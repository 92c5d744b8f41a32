package statefile

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"

	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
	loopbackv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcploopback/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/explain"
	"github.com/placement-hub/placement-hub/pkg/placement/api"
)

// store adds a valid object to a State.
type store func(*explain.State, map[string]any) error

// stores has the kinds of a State.
var stores = newStores()

func newStores() map[schema.GroupVersionKind]store {
	stores := map[schema.GroupVersionKind]store{
		kindOf(clusterv1.GroupVersion.Version, "ManagedCluster"): into(func(w *explain.State) *[]*clusterv1.ManagedCluster { return &w.Clusters }),
		kindOf(clusterv1beta2.GroupVersion.Version, "ManagedClusterSet"): into(func(w *explain.State) *[]*clusterv1beta2.ManagedClusterSet {
			return &w.ClusterSets
		}),
		kindOf(clusterv1beta2.GroupVersion.Version, "ManagedClusterSetBinding"): into(
			func(w *explain.State) *[]*clusterv1beta2.ManagedClusterSetBinding { return &w.Bindings }),
		kindOf(clusterv1alpha1.GroupVersion.Version, "AddOnPlacementScore"): into(func(w *explain.State) *[]*clusterv1alpha1.AddOnPlacementScore {
			return &w.Scores
		}),
		rbacv1.SchemeGroupVersion.WithKind("ClusterRole"): into(func(w *explain.State) *[]*rbacv1.ClusterRole { return &w.ClusterRoles }),
		rbacv1.SchemeGroupVersion.WithKind("ClusterRoleBinding"): into(func(w *explain.State) *[]*rbacv1.ClusterRoleBinding {
			return &w.ClusterRoleBindings
		}),
		corev1.SchemeGroupVersion.WithKind("ServiceAccount"): into(func(w *explain.State) *[]*corev1.ServiceAccount { return &w.Accounts }),
	}

	for _, adapter := range api.Adapters() {
		stores[adapter.Kind()] = object(adapter.Empty, func(w *explain.State) *[]api.Object { return &w.Placements })
		stores[adapter.Kind().GroupVersion().WithKind("PlacementDecision")] = object(adapter.Codec().Empty, func(w *explain.State) *[]api.Object {
			return &w.Decisions
		})
	}

	return merged(merged(merged(stores, podStores()), federatedStores()), requestStores())
}

// object returns a store for a list of several types.
func object(empty func() api.Object, list func(*explain.State) *[]api.Object) store {
	return func(w *explain.State, fields map[string]any) error {
		typed := empty()
		if err := runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(fields, typed, true); err != nil {
			return fmt.Errorf("cannot be read: %w", err)
		}

		*list(w) = append(*list(w), typed)

		return nil
	}
}

func kindOf(version, kind string) schema.GroupVersionKind {
	return schema.GroupVersionKind{Group: clusterv1.GroupName, Version: version, Kind: kind}
}

func into[T any](list func(*explain.State) *[]*T) store {
	return func(w *explain.State, object map[string]any) error {
		typed := new(T)
		if err := runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(object, typed, true); err != nil {
			return fmt.Errorf("cannot be read: %w", err)
		}

		*list(w) = append(*list(w), typed)

		return nil
	}
}

// ignoredKinds affect no Placement, no Pod and no ClusterRequest: RoleBindings never bind a set, AccessRequests get no Cluster, and what a
// ProviderConfig offers counts as soon as the provider has published it in the status of its ClusterProvider.
var ignoredKinds = []schema.GroupVersionKind{
	rbacv1.SchemeGroupVersion.WithKind("Role"), rbacv1.SchemeGroupVersion.WithKind("RoleBinding"),
	openmcpv1alpha1.GroupVersion.WithKind("AccessRequest"), loopbackv1alpha1.GroupVersion.WithKind("ProviderConfig"),
	apiextensionsv1.SchemeGroupVersion.WithKind("CustomResourceDefinition"),
}

// Reader reads an explain.State from files. It continues after an error, so that all of them are reported at once. It is not safe for
// concurrent use.
type Reader struct {
	definitions map[schema.GroupVersionKind]admitter
	state       explain.State
	seen        map[string]string
	// kinds has the kinds of the objects in seen.
	kinds    map[string]schema.GroupVersionKind
	problems []Problem

	rules *applyRules // nil: every document is read without changes
}

// NewReader returns a Reader that validates by the given definitions, which must serve every kind of a State that has a
// CustomResourceDefinition. Without those of policies, classes and Tenants, these kinds are not known.
func NewReader(crds []*apiextensionsv1.CustomResourceDefinition) (*Reader, error) {
	definitions, err := newDefinitions(crds)
	if err != nil {
		return nil, err
	}

	maps.Copy(definitions, merged(merged(builtins, podBuiltins()), federatedBuiltins()))

	for gvk := range stores {
		if definitions[gvk] == nil && !optionalKind(gvk) && gvk.Group != openmcpv1alpha1.GroupVersion.Group {
			return nil, fmt.Errorf("no CustomResourceDefinition serves %s", gvk)
		}
	}

	return &Reader{definitions: definitions, seen: map[string]string{}, kinds: map[string]schema.GroupVersionKind{}}, nil
}

// Read reads a file: YAML documents or JSON, single objects or lists. The name is for messages; State returns the errors.
func (r *Reader) Read(file string, content []byte) {
	first := len(r.problems)

	for _, document := range splitDocuments(file, content) {
		node, value, problems := document.parse()
		r.problems = append(r.problems, problems...)

		if node != nil {
			r.readValue(position{document: document, node: node}, value)
		}
	}

	slices.SortStableFunc(r.problems[first:], func(a, b Problem) int { return a.Line - b.Line })
}

// State returns the objects of the files, with the cluster sets "default" and "global". The error is an *InputError.
func (r *Reader) State() (*explain.State, error) {
	if len(r.problems) > 0 {
		return nil, &InputError{Problems: r.problems}
	}

	state := r.state
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
	store, admitter := r.storeOf(gvk)
	_, hasItems := object["items"]

	switch {
	case slices.Contains(ignoredKinds, gvk):
		return
	case gvk == corev1.SchemeGroupVersion.WithKind("List"), strings.HasSuffix(kind, "List") && hasItems:
		r.readItems(at, kind, object)
	case !r.rules.selects(object):
		return
	case r.rules != nil && !r.rules.takes(gvk) && !r.decidesDelivery(gvk):
		r.reportf(at, "", "kind", "%s of %s cannot be compared: leave it out, only %s can; what it means for placements shows once it is applied",
			kind, apiVersion, r.rules.takenKinds())
	case store == nil:
		r.reportf(at, "", "kind", "%s of %s is not known here: remove it, or use one of %s", kind, apiVersion, r.knownKinds())
	default:
		r.readObject(at, gvk, object, store, admitter)
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
		r.readValue(at.child("items").item(i), item)
	}
}

func (r *Reader) readObject(at position, gvk schema.GroupVersionKind, object map[string]any, store store, admitter admitter) {
	r.rules.setNamespace(gvk, object)

	identity := identify(gvk, object)
	asGiven := r.rules.copyOf(object)
	findings := append(admitter.admit(object), r.rules.check(object)...)

	for _, finding := range findings {
		r.reportf(at, identity, finding.path, "%s", finding.text)
	}

	if len(findings) > 0 {
		return
	}

	if first, again := r.seen[identity]; again {
		r.reportf(at, identity, "", "was given at %s already: remove one of the two, or rename it", first)

		return
	}

	r.kinds[identity] = gvk
	r.seen[identity] = fmt.Sprintf("%s:%d", at.document.file, at.line(""))

	if err := store(&r.state, object); err != nil {
		for _, finding := range decodingFindings(err) {
			r.reportf(at, identity, finding.path, "%s", finding.text)
		}

		return
	}

	r.rules.keep(identity, asGiven)
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

func (r *Reader) knownKinds() string {
	names := make([]string, 0, len(stores))

	for gvk := range stores {
		if r.definitions[gvk] == nil {
			continue
		}

		names = append(names, fmt.Sprintf("%s (%s)", gvk.Kind, gvk.GroupVersion()))
	}

	slices.Sort(names)

	return strings.Join(names, ", ")
}

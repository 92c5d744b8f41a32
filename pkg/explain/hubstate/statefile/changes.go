package statefile

import (
	"fmt"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/placement-hub/placement-hub/pkg/explain"
	"github.com/placement-hub/placement-hub/pkg/inventory"
	"github.com/placement-hub/placement-hub/pkg/placement/api"
)

// Namespace is the default namespace of Placements.
type Namespace struct {
	// Name is empty when every Placement must name its namespace.
	Name string
	// Enforced rejects Placements of other namespaces.
	Enforced bool
}

// ChangeReader reads Placements, policies, classes and Tenants that are to be applied to a hub, as strictly as a Reader. It is not
// safe for concurrent use.
type ChangeReader struct {
	reader *Reader
}

// Applied is a Placement of the files that was applied to a State.
type Applied struct {
	// Placement is its key.
	Placement inventory.Key
	// Kept are the spec fields of the live Placement that the file does not set and that applying it keeps.
	Kept []string
}

// NewChangeReader returns a ChangeReader that validates by the given definitions.
func NewChangeReader(crds []*apiextensionsv1.CustomResourceDefinition, namespace Namespace) (*ChangeReader, error) {
	reader, err := NewReader(crds)
	if err != nil {
		return nil, err
	}

	reader.rules = &applyRules{namespace: namespace, given: map[string]map[string]any{}}

	return &ChangeReader{reader: reader}, nil
}

// Select has the following files read without the objects whose labels the selector does not select, as `kubectl apply -l` does; nil selects all.
func (c *ChangeReader) Select(selector labels.Selector) { c.reader.rules.selector = selector }

// Read reads a file, as Reader.Read does.
func (c *ChangeReader) Read(file string, content []byte) { c.reader.Read(file, content) }

// State returns the objects of the files, with the defaults of new objects. The caller must not change it. The error is an *InputError.
func (c *ChangeReader) State() (*explain.State, error) {
	if len(c.reader.problems) > 0 {
		return nil, &InputError{Problems: c.reader.problems}
	}

	return &c.reader.state, nil
}

// Placements returns the Placements of the files, with the defaults of new objects. The error is an *InputError.
func (c *ChangeReader) Placements() ([]*api.Placement, error) {
	state, err := c.State()
	if err != nil {
		return nil, err
	}

	placements := make([]*api.Placement, 0, len(state.Placements))
	for _, object := range state.Placements {
		placements = append(placements, api.Read(object))
	}

	return placements, nil
}

// ApplyTo applies the Placements to a State as `kubectl apply` does to a hub: it sets the fields of the file, removes fields of the last
// apply that the file lacks, and keeps the others. It does not modify the given State.
func (c *ChangeReader) ApplyTo(hub *explain.State) (*explain.State, []Applied, error) {
	placements, err := c.Placements()
	if err != nil {
		return nil, nil, err
	}

	after := *hub
	after.Placements = slices.Clone(hub.Placements)
	applied := make([]Applied, 0, len(placements))

	for _, alone := range placements {
		key := alone.Key()

		at := slices.IndexFunc(hub.Placements, func(live api.Object) bool { return api.Read(live).Key() == key })
		if at < 0 {
			after.Placements = append(after.Placements, alone.Object)
			applied = append(applied, Applied{Placement: key})

			continue
		}

		merged, err := c.merge(alone, hub.Placements[at])
		if err != nil {
			return nil, nil, fmt.Errorf("applying Placement %s: %w", key, err)
		}

		kept, err := differingFields(alone.Object, merged)
		if err != nil {
			return nil, nil, fmt.Errorf("applying Placement %s: %w", key, err)
		}

		generation, err := Generation(merged, hub.Placements[at])
		if err != nil {
			return nil, nil, fmt.Errorf("applying Placement %s: %w", key, err)
		}

		merged.SetGeneration(generation)

		after.Placements[at] = merged
		applied = append(applied, Applied{Placement: key, Kept: kept})
	}

	return &after, applied, nil
}

// applyRules are the additional rules of a ChangeReader. A nil pointer has no rules.
type applyRules struct {
	namespace Namespace
	selector  labels.Selector           // nil selects all
	given     map[string]map[string]any // by identity, before defaults were filled in
}

func (*applyRules) takes(gvk schema.GroupVersionKind) bool {
	adapter, found := api.Find(gvk.GroupVersion().String())

	return found && adapter.Kind() == gvk || slices.Contains(comparedKinds, gvk)
}

func (*applyRules) takenKinds() string {
	return "Placements of " + api.GroupVersions(" and ") + ", PodSchedulingPolicies, ClusterPodSchedulingPolicies, AffinityClasses, Tenants, " +
		"objects that are delivered to clusters, their Namespaces and ManagedClusterSetBindings, ClusterRequests, Clusters, ClusterProviders, " +
		"Purposes, TraitEquivalences"
}

// selects reports whether an object is read. One whose labels are no texts is, so that the mistake is reported.
func (c *applyRules) selects(object map[string]any) bool {
	if c == nil || c.selector == nil {
		return true
	}

	has, _, err := unstructured.NestedStringMap(object, metadataKey, "labels")

	return err != nil || c.selector.Matches(labels.Set(has))
}

func (c *applyRules) setNamespace(gvk schema.GroupVersionKind, object map[string]any) {
	metadata, isObject := object[metadataKey].(map[string]any)
	if c == nil || !isObject || c.namespace.Name == "" || slices.Contains(clusterWide, gvk) {
		return
	}

	if named, isThere := metadata["namespace"]; !isThere || named == "" || named == nil {
		metadata["namespace"] = c.namespace.Name
	}
}

func (c *applyRules) copyOf(object map[string]any) map[string]any {
	if c == nil {
		return nil
	}

	return runtime.DeepCopyJSON(object)
}

func (c *applyRules) check(object map[string]any) []finding {
	if c == nil || !c.namespace.Enforced {
		return nil
	}

	metadata, _ := object[metadataKey].(map[string]any)

	named, hasNamespace := text(metadata, "namespace")
	if !hasNamespace || named == c.namespace.Name {
		return nil
	}

	return []finding{{"metadata.namespace", fmt.Sprintf("is %s, and --namespace says %s: change one of the two, or leave --namespace out",
		named, c.namespace.Name)}}
}

func (c *applyRules) keep(identity string, object map[string]any) {
	if c != nil {
		c.given[identity] = object
	}
}

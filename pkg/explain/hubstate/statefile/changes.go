// SPDX-License-Identifier: Apache-2.0

package statefile

import (
	"iter"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/placement-hub/placement-hub/pkg/explain"
	"github.com/placement-hub/placement-hub/pkg/explain/writes"
	"github.com/placement-hub/placement-hub/pkg/federation"
	"github.com/placement-hub/placement-hub/pkg/placement/api"
)

// ChangeReader reads objects that are to be applied to a hub, as strictly as a Reader. It is not
// safe for concurrent use while it reads.
type ChangeReader struct {
	reader *Reader
	types  *writes.Types
	// reviewed is what the policies said of the objects that were applied last.
	reviewed reviewNotes
}

// NewChangeReader returns a ChangeReader that validates by the given definitions.
func NewChangeReader(crds []*apiextensionsv1.CustomResourceDefinition, namespace Namespace) (*ChangeReader, error) {
	reader, err := NewReader(crds)
	if err != nil {
		return nil, err
	}
	reader.In(namespace)
	reader.rules = &applyRules{given: map[string]map[string]any{}, created: map[string]map[string]any{}}
	return &ChangeReader{reader: reader, types: writes.NewTypes(structuralsOf(reader.definitions))}, nil
}

// Select has the following files read without the objects whose labels the selector does not select, as `kubectl apply -l` does; nil selects all.
func (c *ChangeReader) Select(selector labels.Selector) { c.reader.rules.selector = selector }

// Strict sets whether objects of kinds that only others read are errors, as Reader.Strict does.
func (c *ChangeReader) Strict(strict bool) { c.reader.Strict(strict) }

// Notes returns what was left out of the files, as Reader.Notes does.
func (c *ChangeReader) Notes() []string { return c.reader.Notes() }

// SkippedAll reports whether the files have objects, and all of them were left out because only others read their kinds.
func (c *ChangeReader) SkippedAll() bool { return len(c.reader.skipped) > 0 && len(c.reader.seen) == 0 }

// Read reads a file, as Reader.Read does.
func (c *ChangeReader) Read(file string, content []byte) { c.reader.Read(file, content) }

// Has reports whether the files have an object, as Reader.Has does.
func (c *ChangeReader) Has(identity string) bool { return c.reader.Has(identity) }

// State returns the objects of the files, with the defaults of new objects. The caller must not change it. The error is an *InputError.
func (c *ChangeReader) State() (*explain.State, error) {
	if len(c.reader.problems) > 0 {
		return nil, &InputError{Problems: c.reader.problems}
	}
	return &c.reader.state, nil
}

// Deliver sets the delivered kinds, as Reader.Deliver does.
func (c *ChangeReader) Deliver(kinds []federation.FederatedKind) { c.reader.Deliver(kinds) }

// Apply writes the objects of the files to a State: as the API server has answered, and otherwise as it would, by kubectl apply, server-side apply or
// kubectl replace, with the admission policies. It does not modify the given State. Applied.Result.Kept are the spec fields of a live object that the
// file does not set.
func (c *ChangeReader) Apply(hub *explain.State, w *Writes) (*explain.State, []explain.Applied, error) {
	given, err := c.State()
	if err != nil {
		return nil, nil, err
	}
	var all []*written
	for kind, object := range given.Each(everything) {
		one, err := c.write(w, kind, object, kind.Find(hub, object))
		if err != nil {
			return nil, nil, err
		}
		all = append(all, one)
	}
	if err := c.review(hub, w, all); err != nil {
		return nil, nil, err
	}
	isRefused := func(one *written) bool { return len(one.Result.Refused) > 0 }
	stored := slices.DeleteFunc(slices.Clone(all), isRefused)
	after, applied, err := hub.With(each(stored))
	if err != nil {
		return nil, nil, err
	}

	for i := range applied {
		one, result := stored[i], &applied[i].Result
		result.By, result.Kept, result.Gone = one.Result.By, one.Result.Kept, one.Result.Gone
		applied[i].Doubt, applied[i].Offline = one.Doubt, one.Offline
	}
	for _, one := range all {
		if isRefused(one) {
			applied = append(applied, one.Applied)
		}
	}
	return after, applied, nil
}

// each yields what becomes of objects.
func each(all []*written) iter.Seq2[*explain.Kind, api.Object] {
	return func(yield func(*explain.Kind, api.Object) bool) {
		for _, one := range all {
			if !yield(one.Kind, one.To) {
				return
			}
		}
	}
}

// everything are the results that objects of files decide about.
const everything = explain.OfPlacements | explain.OfDelivery | explain.OfPods | explain.OfRequests

// applyRules are the additional rules of a ChangeReader. A nil pointer has no rules.
type applyRules struct {
	selector labels.Selector           // nil selects all
	given    map[string]map[string]any // by identity, before defaults were filled in
	created  map[string]map[string]any // by identity, with the defaults of new objects
}

// selects reports whether an object is read. One whose labels are no texts is, so that the mistake is reported.
func (a *applyRules) selects(object map[string]any) bool {
	if a == nil || a.selector == nil {
		return true
	}
	has, _, err := unstructured.NestedStringMap(object, metadataKey, "labels")
	return err != nil || a.selector.Matches(labels.Set(has))
}

func (a *applyRules) copyOf(object map[string]any) map[string]any {
	if a == nil {
		return nil
	}
	return runtime.DeepCopyJSON(object)
}

func (a *applyRules) keep(identity string, given, created map[string]any) {
	if a != nil {
		a.given[identity], a.created[identity] = given, created
	}
}

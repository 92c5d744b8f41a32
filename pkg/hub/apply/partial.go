// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"encoding/json"
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// partialWrites are the statuses that were applied without the fields that the schema lacks. Their writers find that the object lacks these fields
// at each look, and would write them, with a new stamp, for ever. It is safe for concurrent use.
type partialWrites struct {
	stamp string

	mu   sync.Mutex // guards the field below
	last map[string]partialWrite
}

// partialWrite is what was to be applied to an object, and the resourceVersion that it had after the write.
type partialWrite struct{ wanted, version string }

func newPartialWrites(stamp string) *partialWrites {
	return &partialWrites{stamp: stamp, last: map[string]partialWrite{}}
}

// written reports whether a status was applied as far as the schema allows, and the object has not changed since.
func (p *partialWrites) written(r *request) bool {
	p.mu.Lock()
	none := len(p.last) == 0
	p.mu.Unlock()
	if none || r.subresource != subresourceStatus {
		return false
	}
	object, wanted, version := p.describe(r)

	p.mu.Lock()
	defer p.mu.Unlock()
	last, found := p.last[object]
	return found && version != "" && last == partialWrite{wanted, version}
}

// keep notes that a status was applied without fields that the schema lacks, and the resourceVersion of its object after that.
func (p *partialWrites) keep(r *request, version string) {
	object, wanted, _ := p.describe(r)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.last[object] = partialWrite{wanted, version}
}

// forget notes that a status was applied as a whole.
func (p *partialWrites) forget(r *request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.last) == 0 {
		return
	}
	object, _, _ := p.describe(r)
	delete(p.last, object)
}

// describe returns the kind and name of an object, what is applied to it but for the stamp, and the resourceVersion that is applied.
func (p *partialWrites) describe(r *request) (object, wanted, version string) {
	applied, err := decode(r.body)
	if err != nil {
		return "", "", "" // The API server refuses it.
	}
	object, version = applied.GroupVersionKind().String()+" "+applied.GetNamespace()+"/"+applied.GetName(), applied.GetResourceVersion()
	applied.SetResourceVersion("")
	unstructured.RemoveNestedField(applied.Object, subresourceStatus, p.stamp)

	text, err := json.Marshal(applied)
	if err != nil {
		return "", "", ""
	}
	return object, string(text), version
}

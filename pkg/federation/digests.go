// SPDX-License-Identifier: Apache-2.0

package federation

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"sync"

	workv1 "open-cluster-management.io/api/work/v1"
)

// mostDigests bounds the memory of Digests to some 3 MiB.
const mostDigests = 1 << 14

// Digests compacts works, and computes the hash of equal contents once: an object has the same in most clusters. It is safe for concurrent
// use. The zero value is empty.
type Digests struct {
	mu    sync.Mutex
	known map[[sha256.Size]byte]digest
}

// CompactWork does the same as the function CompactWork.
func (d *Digests) CompactWork(work *workv1.ManifestWork) {
	if IsCompactWork(work) {
		return
	}
	key, err := contentKey(work)
	if err != nil {
		compactTo(work, newDigest(work))
		return
	}

	d.mu.Lock()
	contents, known := d.known[key]
	d.mu.Unlock()
	if !known {
		contents = newDigest(work)
		d.keep(key, contents)
	}
	compactTo(work, contents)
}

func (d *Digests) keep(key [sha256.Size]byte, contents digest) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.known == nil || len(d.known) >= mostDigests {
		d.known = map[[sha256.Size]byte]digest{} // What is in use becomes known again.
	}
	d.known[key] = contents
}

// contentKey returns a key that only works with equal digests share. It has everything that newDigest reads: the manifests as they are
// encoded, so that none is decoded for it, and the rest of the spec.
func contentKey(work *workv1.ManifestWork) ([sha256.Size]byte, error) {
	var sum bytes.Buffer
	rest := work.Spec
	rest.Workload.Manifests = nil

	encoded, err := json.Marshal(rest)
	if err != nil {
		return [sha256.Size]byte{}, fmt.Errorf("encode ManifestWork %s/%s: %w", work.Namespace, work.Name, err)
	}
	for _, text := range hashedTexts(work) {
		fmt.Fprintf(&sum, "%d %s", len(text), text)
	}
	fmt.Fprintf(&sum, "%d %s", len(encoded), encoded)

	for i := range work.Spec.Workload.Manifests {
		raw := work.Spec.Workload.Manifests[i].Raw
		fmt.Fprintf(&sum, "%d ", len(raw))
		sum.Write(raw)
	}
	return sha256.Sum256(sum.Bytes()), nil
}

// hashedTexts returns the labels and the annotation that count for WorkHash.
func hashedTexts(work *workv1.ManifestWork) []string {
	texts := make([]string, 0, len(hashedLabels)+1)
	for _, name := range hashedLabels {
		texts = append(texts, work.Labels[name])
	}
	return append(texts, work.Annotations[ObjectAnnotation])
}

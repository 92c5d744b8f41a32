// SPDX-License-Identifier: Apache-2.0

package planes

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"
)

const (
	// lookInterval is the time between two looks at etcd. Controllers that react to what is restored do so within it.
	lookInterval = 250 * time.Millisecond
	// mostOperations is how many operations etcd accepts in a transaction by default.
	mostOperations = 128
)

// volatile are prefixes of the keys of objects that programs of a control plane write all the time.
var volatile = []string{"/registry/leases/kube-system/", "/registry/leases/kube-node-lease/"}

// object is the value of a key of etcd and the revision that wrote it.
type object struct {
	value    []byte
	revision int64
}

// snapshot is what an etcd had in its keys at some time.
type snapshot struct{ objects map[string]object }

// entry is a key-value pair in the JSON of etcd's gateway, which encodes bytes in base64 and integers as strings.
type entry struct {
	Key      []byte `json:"key"`
	Value    []byte `json:"value,omitempty"`
	Revision int64  `json:"mod_revision,string,omitempty"`
}

// takeSnapshot waits until the keys do not change from one look to the next, and returns them.
func takeSnapshot(ctx context.Context, url string) (*snapshot, error) {
	ctx, cancel := context.WithTimeout(ctx, restTimeout)
	defer cancel()

	var last *snapshot
	for {
		found, err := read(ctx, url, false)
		if err != nil {
			return nil, err
		}
		if last != nil && len(last.differences(found)) == 0 {
			return found, nil
		}
		last = found
		if err := pause(ctx); err != nil {
			return nil, fmt.Errorf("waiting for a new control plane to come to rest: %w", err)
		}
	}
}

// restore writes to etcd until it has the objects of s and no others, and nothing has changed them for one look.
func (s *snapshot) restore(ctx context.Context, url string) error {
	ctx, cancel := context.WithTimeout(ctx, restTimeout)
	defer cancel()
	for first := true; ; first = false {
		found, err := read(ctx, url, true)
		if err != nil {
			return err
		}
		different := s.differences(found)
		if len(different) == 0 && !first {
			return nil
		}
		if err := s.write(ctx, url, different); err != nil {
			return err
		}
		if err := pause(ctx); err != nil {
			return fmt.Errorf("%w; different are %q", err, different[:min(5, len(different))])
		}
	}
}

// differences returns the keys that are not in both snapshots with the same revision, in the order in which restore writes them: webhooks
// first, because they are called for other objects; definitions after their objects, and namespaces after what is in them.
func (s *snapshot) differences(other *snapshot) []string {
	var different []string
	for key, object := range other.objects {
		if had, ok := s.objects[key]; !ok || had.revision != object.revision {
			different = append(different, key)
		}
	}
	for key := range s.objects {
		if _, ok := other.objects[key]; !ok {
			different = append(different, key)
		}
	}
	slices.SortFunc(different, func(a, b string) int { return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a, b)) })
	return different
}

func rank(key string) int {
	switch {
	case strings.Contains(key, "/admissionregistration.k8s.io/"):
		return 0
	case strings.Contains(key, "/namespaces/"):
		return 2
	case strings.Contains(key, "/apiextensions.k8s.io/customresourcedefinitions/"):
		return 3
	default:
		return 1
	}
}

// write deletes the keys that s does not have and puts the others, and records the revisions that it wrote.
func (s *snapshot) write(ctx context.Context, url string, keys []string) error {
	type operation struct {
		Delete *entry `json:"request_delete_range,omitempty"`
		Put    *entry `json:"request_put,omitempty"`
	}
	for chunk := range slices.Chunk(keys, mostOperations) {
		var operations []operation
		for _, key := range chunk {
			if had, ok := s.objects[key]; ok {
				operations = append(operations, operation{Put: &entry{Key: []byte(key), Value: had.value}})
			} else {
				operations = append(operations, operation{Delete: &entry{Key: []byte(key)}})
			}
		}
		var answer struct {
			Header struct {
				Revision int64 `json:"revision,string"`
			} `json:"header"`
		}
		if err := ask(ctx, url+"/v3/kv/txn", map[string]any{"success": operations}, &answer); err != nil {
			return err
		}
		for _, key := range chunk {
			if had, ok := s.objects[key]; ok {
				s.objects[key] = object{value: had.value, revision: answer.Header.Revision}
			}
		}
	}
	return nil
}

// read returns the objects of an etcd without those that are volatile, and without their values if only their keys are asked for.
func read(ctx context.Context, url string, keysOnly bool) (*snapshot, error) {
	everything := map[string]any{"key": []byte("/"), "range_end": []byte("0"), "keys_only": keysOnly} // "0" follows "/"
	var answer struct {
		Entries []entry `json:"kvs"`
	}
	if err := ask(ctx, url+"/v3/kv/range", everything, &answer); err != nil {
		return nil, err
	}
	s := &snapshot{objects: map[string]object{}}
	for _, e := range answer.Entries {
		key := string(e.Key)
		if !slices.ContainsFunc(volatile, func(prefix string) bool { return strings.HasPrefix(key, prefix) }) {
			s.objects[key] = object{value: e.Value, revision: e.Revision}
		}
	}
	return s, nil
}

// ask sends a request to the gateway of etcd and decodes its answer.
func ask(ctx context.Context, url string, question, answer any) error {
	body, err := json.Marshal(question)
	if err != nil {
		return fmt.Errorf("asking %s: %w", url, err)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("asking %s: %w", url, err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return fmt.Errorf("asking %s: %w", url, err)
	}
	content, err := io.ReadAll(response.Body)
	if err := errors.Join(err, response.Body.Close()); err != nil {
		return fmt.Errorf("reading the answer of %s: %w", url, err)
	}
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s answers %s: %s", url, response.Status, content)
	}
	if err := json.Unmarshal(content, answer); err != nil {
		return fmt.Errorf("reading the answer of %s: %w", url, err)
	}
	return nil
}

// pause waits for the time between two looks.
func pause(ctx context.Context) error {
	select {
	case <-time.After(lookInterval):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx) //nolint:wrapcheck // The callers say what they wait for.
	}
}

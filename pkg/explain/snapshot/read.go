// SPDX-License-Identifier: Apache-2.0

package snapshot

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"
)

// Decode reads what Write has written. It checks the format, and not the objects.
func Decode(content []byte) (*Snapshot, error) {
	documents := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(content)))
	s := &Snapshot{}
	for number := 0; ; {
		text, err := documents.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("reading YAML: %w", err)
		}
		object := &unstructured.Unstructured{}
		if err := yaml.Unmarshal(text, &object.Object); err != nil {
			return nil, fmt.Errorf("document %d: %w", number+1, err)
		}
		if len(object.Object) == 0 {
			continue
		}
		number++
		if number > 1 {
			s.Objects = append(s.Objects, object)
			continue
		}
		if object.GroupVersionKind() != Kind {
			break
		}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, &s.Header); err != nil {
			return nil, fmt.Errorf("the header: %w; take another snapshot", err)
		}
	}
	if s.Header.Kind == "" {
		return nil, errors.New("is no snapshot: its first document is not of the kind PlacementSnapshot; placement snapshot writes one")
	}
	return s, s.Header.Check()
}

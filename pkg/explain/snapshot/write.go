// SPDX-License-Identifier: Apache-2.0

package snapshot

import (
	"fmt"
	"io"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// Snapshot is what was read of a hub.
type Snapshot struct {
	Header  Header
	Objects []*unstructured.Unstructured
}

// Write writes the Header and the objects as YAML documents.
func (s *Snapshot) Write(to io.Writer) error {
	if err := writeDocument(to, &s.Header); err != nil {
		return fmt.Errorf("writing the header: %w", err)
	}
	for _, object := range s.Objects {
		if err := writeDocument(to, object.Object); err != nil {
			return fmt.Errorf("writing %s %s/%s: %w", object.GetKind(), object.GetNamespace(), object.GetName(), err)
		}
	}
	return nil
}

func writeDocument(to io.Writer, value any) error {
	text, err := yaml.Marshal(value)
	if err != nil {
		return err //nolint:wrapcheck // The caller names the document.
	}
	_, err = to.Write(append([]byte("---\n"), text...))
	return err //nolint:wrapcheck // The caller names the document.
}

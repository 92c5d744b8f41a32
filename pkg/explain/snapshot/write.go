// SPDX-License-Identifier: Apache-2.0

package snapshot

import (
	"fmt"
	"io"

	"sigs.k8s.io/yaml"
)

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

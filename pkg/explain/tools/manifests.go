// SPDX-License-Identifier: Apache-2.0

package tools

import (
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/placement-hub/placement-hub/pkg/explain/hubstate/statefile"
	"github.com/placement-hub/placement-hub/pkg/federation"
)

// Definitions returns the CustomResourceDefinitions that manifests are validated with, which must not be changed.
type Definitions func() ([]*apiextensionsv1.CustomResourceDefinition, error)

// Reader returns a reader of the objects of a hub that delivers the kinds.
func (d Definitions) Reader(namespace statefile.Namespace, delivered []federation.FederatedKind) (*statefile.Reader, error) {
	crds, err := d()
	if err != nil {
		return nil, err
	}
	reader, err := statefile.NewReader(crds)
	if err != nil {
		return nil, err
	}
	reader.In(namespace)
	reader.Deliver(delivered)
	return reader, nil
}

// ChangeReader returns a reader of what is to be applied to a hub that delivers the kinds.
func (d Definitions) ChangeReader(namespace statefile.Namespace, delivered []federation.FederatedKind) (*statefile.ChangeReader, error) {
	crds, err := d()
	if err != nil {
		return nil, err
	}
	changes, err := statefile.NewChangeReader(crds, namespace)
	if err != nil {
		return nil, err
	}
	changes.Deliver(delivered)
	return changes, nil
}

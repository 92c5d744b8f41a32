// SPDX-License-Identifier: Apache-2.0

package tools

import (
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/placement-hub/placement-hub/pkg/explain/admission"
	"github.com/placement-hub/placement-hub/pkg/explain/hubstate/statefile"
	"github.com/placement-hub/placement-hub/pkg/federation"
)

// Definitions are what manifests are validated with. What the functions return must not be changed.
type Definitions struct {
	CRDs     func() ([]*apiextensionsv1.CustomResourceDefinition, error)
	Policies func() (*admission.Policies, error)
}

// Reader returns a reader of the objects of a hub that delivers the kinds. They have a role, for which the policies are evaluated.
func (d Definitions) Reader(
	role statefile.Role, namespace statefile.Namespace, delivered []federation.FederatedKind,
) (*statefile.Reader, error) {
	crds, err := d.CRDs()
	if err != nil {
		return nil, err
	}
	reader, err := statefile.NewReader(crds)
	if err != nil {
		return nil, err
	}
	reader.In(namespace)
	reader.Deliver(delivered)
	if role != statefile.Stored {
		policies, err := d.Policies()
		if err != nil {
			return nil, err
		}
		reader.Enforce(policies, role)
	}
	return reader, nil
}

// ChangeReader returns a reader of what is to be applied to a hub that delivers the kinds.
func (d Definitions) ChangeReader(namespace statefile.Namespace, delivered []federation.FederatedKind) (*statefile.ChangeReader, error) {
	crds, err := d.CRDs()
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

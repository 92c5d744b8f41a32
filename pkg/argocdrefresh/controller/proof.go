// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// probe changes spec and nothing else. It leaves every ApplicationSet valid, so that nothing but a missing right refuses it.
const probe = `{"spec":{"syncPolicy":{"applicationsSync":"%s"}}}`

// The two values of the probe, of which at least one differs from that of the ApplicationSet.
const (
	probeValue      = "create-only"
	otherProbeValue = "create-update"
)

// ErrTooManyRights is the error of a process whose account may write spec of ApplicationSets.
var ErrTooManyRights = errors.New("its account may write spec of ApplicationSets, and could deploy anything; " +
	"apply manifests/argocdrefresh, whose ValidatingAdmissionPolicy refuses it, run as its ServiceAccount, and start again")

// prove returns ErrTooManyRights if a dry run may write spec of the ApplicationSet, and nil if the API server refuses it as forbidden.
func (c *controller) prove(ctx context.Context, name string) error {
	object := emptyApplicationSet(c.Namespace, name)
	if err := c.reader.Get(ctx, client.ObjectKeyFromObject(object), object); err != nil {
		return fmt.Errorf("reading ApplicationSet %s/%s: %w", c.Namespace, name, err)
	}
	value := probeValue
	if current, _, _ := unstructured.NestedString(object.Object, "spec", "syncPolicy", "applicationsSync"); current == probeValue {
		value = otherProbeValue
	}
	patch := client.RawPatch(types.MergePatchType, fmt.Appendf(nil, probe, value))
	err := c.writer.Patch(ctx, object, patch, client.DryRunAll, client.FieldOwner(FieldManager))
	switch {
	case err == nil:
		return fmt.Errorf("the API server accepts a dry run that changes spec of ApplicationSet %s/%s: %w", c.Namespace, name, ErrTooManyRights)
	case apierrors.IsForbidden(err):
		return nil
	default:
		return fmt.Errorf("asking by a dry run whether spec of ApplicationSet %s/%s can be written: %w", c.Namespace, name, err)
	}
}

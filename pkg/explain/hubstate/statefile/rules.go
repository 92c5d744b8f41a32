// SPDX-License-Identifier: Apache-2.0

package statefile

import (
	"context"
	"fmt"

	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel/model"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/cel/common"

	"github.com/placement-hub/placement-hub/pkg/explain"
	"github.com/placement-hub/placement-hub/pkg/explain/admission"
)

// newRules returns the validation rules of a schema, x-kubernetes-validations; nil if it has none.
func newRules(structural *structuralschema.Structural) *cel.Validator {
	return cel.NewValidator(structural, true, celconfig.PerCallLimit)
}

// violations returns the validation rules that a valid object violates, as an API server finds them when the object is created, or is updated where
// the request has an Old one. Rules of parts that an update does not change are not evaluated, but for those that compare both.
func (d *definition) violations(ctx context.Context, request admission.Request) []finding {
	rules := d.rules()
	if rules == nil {
		return nil
	}
	var (
		old     any
		options []cel.Option
	)
	if request.Old != nil {
		old = request.Old.Object
		options = append(options, cel.WithRatcheting(
			common.NewCorrelatedObject(request.Object.Object, old, &model.Structural{Structural: d.structural})))
	}
	errs, _ := rules.Validate(ctx, nil, d.structural, request.Object.Object, old, celconfig.RuntimeCELCostBudget, options...)
	return findingsOf(errs)
}

// check returns what an object violates before policies are evaluated, and warnings. What webhooks refuse of Described objects is a warning, because
// a hub may have stored them without its webhook; Applied ones are checked where they are applied, one after the other.
func (r *Reader) check(ctx context.Context, one *submitted, request admission.Request) (findings []finding, warnings []string, err error) {
	if one.kind.Admit == nil {
		return r.violations(ctx, request.Object.GroupVersionKind(), request), nil, nil
	}
	if r.role == Applied {
		return nil, nil, nil
	}
	object, err := one.kind.Decode(request.Object.DeepCopy().Object)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", one.identity, err)
	}
	errs, said := one.kind.Admit(&r.state, nil, object)
	for _, refused := range errs {
		warnings = append(warnings, "admission would refuse it: "+refused.Error())
	}
	return nil, append(warnings, said...), nil
}

// violations returns the validation rules of the definition of a kind that an object violates.
func (r *Reader) violations(ctx context.Context, gvk schema.GroupVersionKind, request admission.Request) []finding {
	if defined, is := r.definitions[gvk].(*definition); is {
		return defined.violations(ctx, request)
	}
	return nil
}

// hasRules reports whether the definition of a kind has validation rules.
func (r *Reader) hasRules(gvk schema.GroupVersionKind) bool {
	defined, is := r.definitions[gvk].(*definition)
	return is && defined.rules() != nil
}

// violated sets the refusals of the objects that violate the validation rules of their definitions, but for those with an Admit of their own, and
// returns the others.
//
//nolint:contextcheck,nolintlint // Apply has no context: the rules have a budget. The directive is for the callers.
func (c *ChangeReader) violated(all []*written) ([]*written, error) {
	var left []*written
	for _, one := range all {
		if one.Kind.Admit == nil && c.reader.hasRules(one.Kind.GroupVersionKind) {
			request, err := one.request()
			if err != nil {
				return nil, err
			}
			for _, found := range c.reader.violations(context.Background(), one.Kind.GroupVersionKind, request) {
				one.Result.Refused = append(one.Result.Refused, found.path+": "+found.text)
			}
		}
		if len(one.Result.Refused) == 0 {
			left = append(left, one)
		}
	}
	return left, nil
}

// isSubmitted reports whether an object is kept for Review.
func (r *Reader) isSubmitted(kind *explain.Kind, object *unstructured.Unstructured) bool {
	if r.role == Stored || r.role == Described && object.GetUID() != "" {
		return false
	}
	gvk := object.GroupVersionKind()
	return r.policies.Concern(gvk) || r.hasRules(gvk) || kind.Admit != nil
}

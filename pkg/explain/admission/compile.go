// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"context"
	"sync"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/plugin/cel"
	"k8s.io/apiserver/pkg/admission/plugin/policy/validating"
	"k8s.io/apiserver/pkg/admission/plugin/webhook/matchconditions"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/apiserver/pkg/cel/environment"
)

// environments is the environment that all policies are compiled in. It takes longer to make than a policy.
var environments = sync.OnceValue(func() *environment.EnvSet { //nolint:gochecknoglobals // It never changes.
	return environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion())
})

// lazyValidator compiles a policy when the first request matches it.
type lazyValidator struct{ compiled func() validating.Validator }

var _ validating.Validator = lazyValidator{}

func newLazyValidator(policy *admissionregistrationv1.ValidatingAdmissionPolicy) lazyValidator {
	return lazyValidator{sync.OnceValue(func() validating.Validator { return compile(policy) })}
}

// Validate implements validating.Validator.
func (l lazyValidator) Validate(
	ctx context.Context, resource schema.GroupVersionResource, attributes *admission.VersionedAttributes, params runtime.Object,
	namespace *corev1.Namespace, budget int64, authz authorizer.UnconditionalAuthorizer,
) validating.ValidateResult {
	return l.compiled().Validate(ctx, resource, attributes, params, namespace, budget, authz)
}

// CompileError implements validating.Validator.
func (l lazyValidator) CompileError() error {
	return l.compiled().CompileError() //nolint:wrapcheck // The dispatcher shows it.
}

// compile compiles a policy as compilePolicy of the API server's package validating does, which is not exported.
func compile(policy *admissionregistrationv1.ValidatingAdmissionPolicy) validating.Validator {
	spec := &policy.Spec
	compiler, err := cel.NewCompositedCompiler(environments())
	if err != nil {
		return validating.NewValidator(nil, nil, nil, nil, spec.FailurePolicy, err)
	}
	declared := cel.OptionalVariableDeclarations{HasParams: spec.ParamKind != nil, HasAuthorizer: true}
	ofMessages := cel.OptionalVariableDeclarations{HasParams: spec.ParamKind != nil}
	condition := func(expressions []cel.ExpressionAccessor, variables cel.OptionalVariableDeclarations) cel.ConditionEvaluator {
		return compiler.CompileCondition(expressions, variables, environment.StoredExpressions)
	}

	variables := make([]cel.NamedExpressionAccessor, 0, len(spec.Variables))
	for _, variable := range spec.Variables {
		variables = append(variables, &validating.Variable{Name: variable.Name, Expression: variable.Expression})
	}
	compiler.CompileAndStoreVariables(variables, declared, environment.StoredExpressions)
	var matcher matchconditions.Matcher
	if len(spec.MatchConditions) > 0 {
		conditions := make([]cel.ExpressionAccessor, 0, len(spec.MatchConditions))
		for i := range spec.MatchConditions {
			conditions = append(conditions, (*matchconditions.MatchCondition)(&spec.MatchConditions[i]))
		}
		matcher = matchconditions.NewMatcher(condition(conditions, declared), spec.FailurePolicy, "policy", "validate", policy.Name)
	}

	validations := make([]cel.ExpressionAccessor, len(spec.Validations))
	messages := make([]cel.ExpressionAccessor, len(spec.Validations)) // Nil for a validation without a messageExpression.
	for i, validation := range spec.Validations {
		validations[i] = &validating.ValidationCondition{
			Expression: validation.Expression, Message: validation.Message, Reason: validation.Reason,
		}
		if validation.MessageExpression != "" {
			messages[i] = &validating.MessageExpressionCondition{MessageExpression: validation.MessageExpression}
		}
	}
	return validating.NewValidator(
		condition(validations, declared), matcher, condition(nil, declared), condition(messages, ofMessages), spec.FailurePolicy, nil)
}

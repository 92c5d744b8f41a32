// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"context"
	"slices"
	"sync"

	"github.com/google/cel-go/common/types"
	admissionv1 "k8s.io/api/admission/v1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/plugin/cel"
	"k8s.io/apiserver/pkg/admission/plugin/policy/validating"
	"k8s.io/apiserver/pkg/admission/plugin/webhook/matchconditions"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/apiserver/pkg/cel/environment"
)

// environments is the environment that all policies are compiled in. It takes longer to make than a policy.
var environments = sync.OnceValue(func() *environment.EnvSet { //nolint:gochecknoglobals // It never changes.
	return environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion())
})

// lazyValidator compiles a policy when the first request matches it.
type lazyValidator struct{ compiled func() *compiledPolicy }

var _ validating.Validator = lazyValidator{}

func newLazyValidator(policy *admissionregistrationv1.ValidatingAdmissionPolicy) lazyValidator {
	return lazyValidator{sync.OnceValue(func() *compiledPolicy { return compile(policy) })}
}

// Validate implements validating.Validator.
func (l lazyValidator) Validate(
	ctx context.Context, resource schema.GroupVersionResource, attributes *admission.VersionedAttributes, params runtime.Object,
	namespace *corev1.Namespace, budget int64, authz authorizer.UnconditionalAuthorizer,
) validating.ValidateResult {
	return l.compiled().validator().Validate(ctx, resource, attributes, params, namespace, budget, authz)
}

// CompileError implements validating.Validator.
func (l lazyValidator) CompileError() error {
	return l.compiled().validator().CompileError() //nolint:wrapcheck // The dispatcher shows it.
}

// compiledPolicy are the parts of a policy. A nil matcher matches all.
type compiledPolicy struct {
	validations, messages, annotations cel.ConditionEvaluator
	matcher                            matchconditions.Matcher
	failurePolicy                      *admissionregistrationv1.FailurePolicyType
	err                                error
}

// validator returns a Validator for one request. It leaves out the messages of a request that is admitted, which take as long as the validations,
// because variables are evaluated again for them.
func (c *compiledPolicy) validator() validating.Validator {
	if c.err != nil {
		return validating.NewValidator(nil, nil, nil, nil, c.failurePolicy, c.err)
	}
	validations := &recordedValidations{ConditionEvaluator: c.validations}
	return validating.NewValidator(
		validations, c.matcher, c.annotations, &neededMessages{ConditionEvaluator: c.messages, of: validations}, c.failurePolicy, nil)
}

// recordedValidations records whether a validation has failed.
type recordedValidations struct {
	cel.ConditionEvaluator

	failed bool
}

// ForInput implements cel.ConditionEvaluator.
func (r *recordedValidations) ForInput(
	ctx context.Context, attributes *admission.VersionedAttributes, request *admissionv1.AdmissionRequest, optional cel.OptionalVariableBindings,
	namespace *corev1.Namespace, budget int64,
) ([]cel.EvaluationResult, int64, error) {
	results, left, err := r.ConditionEvaluator.ForInput(ctx, attributes, request, optional, namespace, budget)
	r.failed = slices.ContainsFunc(results, func(result cel.EvaluationResult) bool {
		return result.Error != nil || result.EvalResult != types.True
	})
	return results, left, err //nolint:wrapcheck // The validator shows it.
}

// neededMessages evaluates no message if no validation has failed.
type neededMessages struct {
	cel.ConditionEvaluator

	of *recordedValidations
}

// cheapValidations leave so much of the budget of a policy that its messages cannot use up the rest, which would be an error.
const cheapValidations = celconfig.RuntimeCELCostBudget / 10 * 9

// ForInput implements cel.ConditionEvaluator.
func (n *neededMessages) ForInput(
	ctx context.Context, attributes *admission.VersionedAttributes, request *admissionv1.AdmissionRequest, optional cel.OptionalVariableBindings,
	namespace *corev1.Namespace, budget int64,
) ([]cel.EvaluationResult, int64, error) {
	if !n.of.failed && budget >= cheapValidations {
		return nil, budget, nil
	}
	return n.ConditionEvaluator.ForInput(ctx, attributes, request, optional, namespace, budget) //nolint:wrapcheck // The validator shows it.
}

// compile compiles a policy as compilePolicy of the API server's package validating does, which is not exported.
func compile(policy *admissionregistrationv1.ValidatingAdmissionPolicy) *compiledPolicy {
	spec := &policy.Spec
	compiler, err := cel.NewCompositedCompiler(environments())
	if err != nil {
		return &compiledPolicy{failurePolicy: spec.FailurePolicy, err: err}
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
	return &compiledPolicy{
		validations: condition(validations, declared), messages: condition(messages, ofMessages), annotations: condition(nil, declared),
		matcher: matcher, failurePolicy: spec.FailurePolicy,
	}
}

// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	goruntime "runtime"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/plugin/policy/generic"
	"k8s.io/apiserver/pkg/admission/plugin/policy/matching"
	"k8s.io/apiserver/pkg/admission/plugin/policy/validating"
	"k8s.io/apiserver/pkg/admission/plugin/webhook/predicates/rules"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/apiserver/pkg/authorization/authorizerfactory"
	"k8s.io/apiserver/pkg/warning"
)

// Request is the creation of an object, or its update if there is an Old one.
type Request struct {
	Object, Old *unstructured.Unstructured
}

// Answer is what the policies say of a Request.
type Answer struct {
	// Refusal is empty for an object that is admitted. It and the Warnings are as kubectl shows them.
	Refusal  string
	Warnings []string
	// Rights are the policies that have asked for rights, so that their answer is that for a user who has them. Unread are those that were not
	// evaluated, because they select by the labels of a Namespace that the World could not read. Both are sorted by name.
	Rights, Unread []string
}

// Reviewer does what Policies.ReviewAll does.
type Reviewer func(world *World, workers int, requests []Request) ([]Answer, error)

// NewReviewer returns a Reviewer that works until ctx ends, with policies that it reads at its first call.
func NewReviewer(ctx context.Context, policies func() (*Policies, error)) Reviewer {
	return func(world *World, workers int, requests []Request) ([]Answer, error) {
		read, err := policies()
		if err != nil {
			return nil, err
		}
		return read.ReviewAll(ctx, world, workers, requests)
	}
}

// ReviewAll returns what the policies say of each request. It reviews them on as many goroutines as workers, 0 for GOMAXPROCS; a review of a
// ManagedCluster takes half a millisecond. The objects must not be changed meanwhile. The error is about the policies themselves.
func (p *Policies) ReviewAll(ctx context.Context, world *World, workers int, requests []Request) ([]Answer, error) {
	answers := make([]Answer, len(requests))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(cmp.Or(workers, goruntime.GOMAXPROCS(0)))
	for i := range requests {
		group.Go(func() (err error) {
			if err = ctx.Err(); err == nil {
				answers[i], err = p.review(ctx, world, requests[i])
			}
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, fmt.Errorf("evaluating the admission policies: %w", err)
	}
	return answers, nil
}

func (p *Policies) review(ctx context.Context, world *World, request Request) (Answer, error) {
	answer, attributes := &Answer{}, request.attributes()
	dispatcher := validating.NewDispatcher(
		authorizer.UnconditionalAuthorizer(authorizerfactory.NewAlwaysAllowAuthorizer()),
		generic.NewPolicyMatcher(matching.NewMatcher(world, nil)))
	err := dispatcher.Dispatch(warning.WithWarningRecorder(ctx, answer), attributes, interfaces, p.hooksFor(world, attributes, answer))
	if refused, is := errors.AsType[*apierrors.StatusError](err); is {
		answer.Refusal, err = refusalOf(refused), nil
	}
	slices.Sort(answer.Rights)
	slices.Sort(answer.Unread)
	return *answer, err
}

// refusalOf returns the text of a refusal, without the resource and the name that kubectl shows before it.
func refusalOf(refused *apierrors.StatusError) string {
	if _, text, found := strings.Cut(refused.ErrStatus.Message, " is forbidden: "); found {
		return text
	}
	return refused.ErrStatus.Message
}

// AddWarning implements warning.Recorder.
func (a *Answer) AddWarning(_, text string) { a.Warnings = append(a.Warnings, text) }

// Concern reports whether a policy is about creations or updates of the objects of a kind.
func (p *Policies) Concern(kind schema.GroupVersionKind) bool {
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(kind)
	created, updated := Request{Object: object}.attributes(), Request{Object: object, Old: object}.attributes()
	return slices.ContainsFunc(p.hooks, func(hook validating.PolicyHook) bool {
		return isAbout(hook.Policy, created) || isAbout(hook.Policy, updated)
	})
}

// isAbout reports whether a rule of a policy is about the operation and the resource of a request. The dispatcher would parse all selectors first.
func isAbout(policy *admissionregistrationv1.ValidatingAdmissionPolicy, attributes admission.Attributes) bool {
	return slices.ContainsFunc(policy.Spec.MatchConstraints.ResourceRules, func(rule admissionregistrationv1.NamedRuleWithOperations) bool {
		matcher := rules.Matcher{Rule: rule.RuleWithOperations, Attr: attributes}
		return matcher.Matches()
	})
}

// hooksFor returns the hooks about a request with the parameters of a World. They write to answer which policies ask for rights, and Unread.
func (p *Policies) hooksFor(world *World, attributes admission.Attributes, answer *Answer) []validating.PolicyHook {
	hooks := make([]validating.PolicyHook, 0, len(p.hooks))
	for _, hook := range p.hooks {
		switch {
		case !isAbout(hook.Policy, attributes):
			continue
		case !world.knows(attributes.GetNamespace()) && selectsNamespaces(&hook):
			answer.Unread = append(answer.Unread, hook.Policy.Name)
			continue
		case hook.Policy.Spec.ParamKind != nil:
			hook.ParamInformer, hook.ParamScope = parameters{world.configMaps, p.given}, meta.RESTScopeNamespace
		}
		hook.Evaluator = &rightsRecorder{Validator: hook.Evaluator, policy: hook.Policy.Name, answer: answer}
		hooks = append(hooks, hook)
	}
	return hooks
}

// selectsNamespaces reports whether a policy or one of its bindings has a namespaceSelector.
func selectsNamespaces(hook *validating.PolicyHook) bool {
	selects := func(resources *admissionregistrationv1.MatchResources) bool {
		return resources != nil && (len(resources.NamespaceSelector.MatchLabels) > 0 || len(resources.NamespaceSelector.MatchExpressions) > 0)
	}
	return selects(hook.Policy.Spec.MatchConstraints) ||
		slices.ContainsFunc(hook.Bindings, func(binding *admissionregistrationv1.ValidatingAdmissionPolicyBinding) bool {
			return selects(binding.Spec.MatchResources)
		})
}

// rightsRecorder is the Validator of a policy, which records in an Answer whether the policy asks its authorizer.
type rightsRecorder struct {
	validating.Validator

	policy string
	answer *Answer
}

// Validate implements validating.Validator.
func (r *rightsRecorder) Validate(
	ctx context.Context, resource schema.GroupVersionResource, attributes *admission.VersionedAttributes, params runtime.Object,
	namespace *corev1.Namespace, budget int64, authz authorizer.UnconditionalAuthorizer,
) validating.ValidateResult {
	asked := &askedAuthorizer{UnconditionalAuthorizer: authz}
	result := r.Validator.Validate(ctx, resource, attributes, params, namespace, budget, asked)
	if asked.is && !slices.Contains(r.answer.Rights, r.policy) {
		r.answer.Rights = append(r.answer.Rights, r.policy)
	}
	return result
}

// askedAuthorizer records that it was asked.
type askedAuthorizer struct {
	authorizer.UnconditionalAuthorizer

	is bool
}

// Authorize implements authorizer.UnconditionalAuthorizer.
func (a *askedAuthorizer) Authorize(ctx context.Context, attributes authorizer.Attributes) (authorizer.Decision, string, error) {
	a.is = true
	return a.UnconditionalAuthorizer.Authorize(ctx, attributes) //nolint:wrapcheck // The policy evaluates it.
}

// interfaces have no other versions of a kind, so that only the version of a request is matched.
var interfaces = admission.NewObjectInterfacesFromScheme(runtime.NewScheme())

// administrator may do everything.
var administrator = &user.DefaultInfo{Name: "kubernetes-admin", Groups: []string{user.SystemPrivilegedGroup, user.AllAuthenticated}}

func (r Request) attributes() admission.Attributes {
	kind := r.Object.GroupVersionKind()
	resource, _ := meta.UnsafeGuessKindToResource(kind)
	operation, old, options := admission.Create, runtime.Object(nil), runtime.Object(&metav1.CreateOptions{})
	if r.Old != nil {
		operation, old, options = admission.Update, r.Old, &metav1.UpdateOptions{}
	}
	return admission.NewAttributesRecord(
		r.Object, old, kind, r.Object.GetNamespace(), r.Object.GetName(), resource, "", operation, options, true, administrator)
}

// SPDX-License-Identifier: Apache-2.0

package preflight

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
	authorizationv1 "k8s.io/api/authorization/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/version"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"

	"github.com/placement-hub/placement-hub/cmd/placement/internal/election"
	"github.com/placement-hub/placement-hub/pkg/system"
)

// reviewsAtOnce bounds concurrent SelfSubjectAccessReviews.
const reviewsAtOnce = 8

// RequestTimeout bounds each request of a process, so that an address that swallows packets is reported and not waited for.
const RequestTimeout = 15 * time.Second

// Run reports, before anything starts, prerequisites whose lack would make the process hang: a server that does not respond, missing
// resources, missing rights of the selected controllers, a lease that cannot be created. It logs what a controller that is off has left.
func Run(ctx context.Context, config *rest.Config, controllers system.Options, lease election.Options) error {
	needed, err := controllersNeed(controllers, lease)
	if err != nil {
		return err
	}
	client, err := check(ctx, config, needed)
	if err != nil {
		return err
	}
	if !lease.Disable {
		if err := checkLeaseNamespace(ctx, client, lease); err != nil {
			return err
		}
	}
	logLeftWorks(ctx, config, client, controllers)
	return nil
}

// RunObserver is Run for a read-only process that serves authorized callers.
func RunObserver(ctx context.Context, config *rest.Config, controllers system.Options) error {
	needed, err := observerNeeds(controllers)
	if err != nil {
		return err
	}
	_, err = check(ctx, config, needed)
	return err
}

// check checks what a process needs.
func check(ctx context.Context, config *rest.Config, needed need) (kubernetes.Interface, error) {
	client, err := newClient(config, RequestTimeout)
	if err != nil {
		return nil, err
	}
	server, err := checkServer(client, config.Host)
	if err != nil {
		return nil, err
	}
	logVersion(ctx, server)
	if err := checkResources(ctx, client, needed.reads, needed.required); err != nil {
		return nil, err
	}
	added := make([][]right, len(needed.added))
	for i, kinds := range needed.added {
		if added[i], err = rightsOfAdded(ctx, client, kinds); err != nil {
			return nil, err
		}
	}
	if err := checkRights(ctx, client, needed.all(), roleHint); err != nil {
		return nil, err
	}
	for i, kinds := range needed.added {
		if err := checkRights(ctx, client, added[i], kinds.Hint); err != nil {
			return nil, err
		}
	}
	return client, nil
}

// Reach returns an error if the server does not respond within a time, 0 for any, or does not accept the credentials.
func Reach(config *rest.Config, timeout time.Duration) error {
	client, err := newClient(config, timeout)
	if err != nil {
		return err
	}
	_, err = checkServer(client, config.Host)
	return err
}

func newClient(config *rest.Config, timeout time.Duration) (kubernetes.Interface, error) {
	config = rest.CopyConfig(config)
	config.Timeout = timeout
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("making a client for %s: %w", config.Host, err)
	}
	return client, nil
}

// checkServer returns the version of the API server; nil if it cannot be read.
func checkServer(client kubernetes.Interface, host string) (*version.Info, error) {
	info, err := client.Discovery().ServerVersion()
	switch {
	case err == nil:
		return info, nil
	case apierrors.IsForbidden(err):
		return nil, nil
	case apierrors.IsUnauthorized(err):
		return nil, fmt.Errorf("the API server at %s does not accept the credentials: %w; renew them, or name another kubeconfig with --kubeconfig",
			host, err)
	default:
		return nil, fmt.Errorf("cannot reach the API server at %s: %w; check that it runs and that --kubeconfig names the right one", host, err)
	}
}

// checkResources returns an error that names the resources that placement needs and the hub does not serve. It logs those of opt-in systems,
// which are off until the resources are served, but for the required ones.
func checkResources(ctx context.Context, client kubernetes.Interface, reads, required []schema.GroupVersionResource) error {
	served := map[string]map[string]bool{}
	var missing, hints []string
	for _, r := range reads {
		version := r.GroupVersion().String()
		if served[version] == nil {
			resources, err := servedResources(client, version)
			if err != nil {
				return err
			}
			served[version] = resources
		}
		if served[version][r.Resource] {
			continue
		}
		if system.IsOptional(r) && !slices.Contains(required, r) {
			klog.FromContext(ctx).Info("The hub does not serve a resource of an opt-in system, which is off until it does",
				"resource", fmt.Sprintf("%s.%s/%s", r.Resource, r.Group, r.Version), "hint", system.Hint(r.Group))
			continue
		}
		missing = append(missing, fmt.Sprintf("%s.%s/%s", r.Resource, r.Group, r.Version))
		if hint := system.Hint(r.Group); !slices.Contains(hints, hint) {
			hints = append(hints, hint)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	return fmt.Errorf("the hub does not serve %s; %s, then start again", strings.Join(missing, ", "), strings.Join(hints, "; "))
}

func servedResources(client kubernetes.Interface, version string) (map[string]bool, error) {
	served := map[string]bool{}
	list, err := client.Discovery().ServerResourcesForGroupVersion(version)
	if apierrors.IsNotFound(err) {
		return served, nil
	}
	if err != nil {
		return nil, fmt.Errorf("asking the API server for its resources of %s: %w", version, err)
	}
	for _, resource := range list.APIResources {
		served[resource.Name] = true
	}
	return served, nil
}

// right is a right that the process needs.
type right struct{ verb, group, resource, subresource, name, namespace string }

func (r right) String() string {
	text := r.verb + " " + r.resource
	if r.subresource != "" {
		text += "/" + r.subresource
	}
	if r.group != "" {
		text += "." + r.group
	}
	if r.name != "" {
		text += " named " + r.name
	}
	if r.namespace != "" {
		text += " in namespace " + r.namespace
	}
	return text
}

// roleHint says where the rights of controllers come from.
const roleHint = "grant these rights to the account it runs as (manifests/rbac has roles for each controller, and their bindings), or leave " +
	"off the controllers that need them with --controllers"

// checkRights returns an error that lists the rights that are missing, and ends with the hint.
func checkRights(ctx context.Context, client kubernetes.Interface, rights []right, hint string) error {
	denied := make([]error, len(rights))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(reviewsAtOnce)
	for i, r := range rights {
		group.Go(func() error {
			allowed, err := mayDo(ctx, client, r)
			if err == nil && !allowed {
				denied[i] = errors.New("  " + r.String())
			}
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return err //nolint:wrapcheck // It says what was asked.
	}
	missing := slices.DeleteFunc(denied, func(err error) bool { return err == nil })
	if len(missing) == 0 {
		return nil
	}
	return fmt.Errorf("the hub does not allow this process to:\n%w\n%s; then start again", errors.Join(missing...), hint)
}

func mayDo(ctx context.Context, client kubernetes.Interface, r right) (bool, error) {
	review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{
		ResourceAttributes: &authorizationv1.ResourceAttributes{
			Verb: r.verb, Group: r.group, Resource: r.resource, Subresource: r.subresource, Name: r.name, Namespace: r.namespace,
		},
	}}
	response, err := client.AuthorizationV1().SelfSubjectAccessReviews().Create(ctx, review, metav1.CreateOptions{})
	if err != nil {
		return false, fmt.Errorf("asking the API server whether this process may %s: %w", r, err)
	}
	return response.Status.Allowed, nil
}

// checkLeaseNamespace creates the lease with a dry run: the elector would only log, for ever, that its namespace is missing.
func checkLeaseNamespace(ctx context.Context, client kubernetes.Interface, lease election.Options) error {
	trial := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: lease.Namespace, Name: lease.Name}}
	_, err := client.CoordinationV1().Leases(lease.Namespace).Create(ctx, trial, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
	switch {
	case err == nil, apierrors.IsAlreadyExists(err):
		return nil
	case apierrors.IsNotFound(err):
		return fmt.Errorf("namespace %s, where the leader election lease belongs, does not exist; create it, or name another with --namespace: %w",
			lease.Namespace, err)
	default:
		return fmt.Errorf("trying out the leader election lease %s/%s: %w", lease.Namespace, lease.Name, err)
	}
}

package preflight

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"

	"github.com/placement-hub/placement-hub/cmd/placement/internal/election"
	"github.com/placement-hub/placement-hub/pkg/controller"
)

// requestTimeout bounds each request, so that an address that swallows packets is reported and not waited for.
const requestTimeout = 15 * time.Second

// requiredResources are served by the hub's CustomResourceDefinitions; without one of them the caches would never sync.
var requiredResources = []metav1.GroupVersionResource{
	requiredResource(clusterv1.GroupVersion.Version, "managedclusters"),
	requiredResource(clusterv1beta2.GroupVersion.Version, "managedclustersets"),
	requiredResource(clusterv1beta2.GroupVersion.Version, "managedclustersetbindings"),
	requiredResource(clusterv1beta1.GroupVersion.Version, "placements"),
	requiredResource(clusterv1beta1.GroupVersion.Version, "placementdecisions"),
	requiredResource(clusterv1alpha1.GroupVersion.Version, "addonplacementscores"),
}

func requiredResource(version, resource string) metav1.GroupVersionResource {
	return metav1.GroupVersionResource{Group: clusterv1.GroupName, Version: version, Resource: resource}
}

// Run finds out, before anything starts, what would otherwise show as a process that hangs: a server that does not answer, missing
// resource definitions, missing rights of the selected controllers, a lease that cannot be made.
func Run(ctx context.Context, config *rest.Config, controllers controller.Options, lease election.Options) error {
	client, err := newClient(config)
	if err != nil {
		return err
	}
	if err := checkServer(client, config.Host); err != nil {
		return err
	}
	if err := checkResources(client); err != nil {
		return err
	}
	enabled, err := controllers.Enabled()
	if err != nil {
		return fmt.Errorf("--controllers: %w", err)
	}
	if err := checkRights(ctx, client, requiredRights(enabled, lease)); err != nil {
		return err
	}
	if lease.Disable {
		return nil
	}
	return checkLeaseNamespace(ctx, client, lease)
}

// Reach asks the server once, before anything is sent to it.
func Reach(config *rest.Config) error {
	client, err := newClient(config)
	if err != nil {
		return err
	}
	return checkServer(client, config.Host)
}

func newClient(config *rest.Config) (kubernetes.Interface, error) {
	config = rest.CopyConfig(config)
	config.Timeout = requestTimeout
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("making a client for %s: %w", config.Host, err)
	}
	return client, nil
}

func checkServer(client kubernetes.Interface, host string) error {
	_, err := client.Discovery().ServerVersion()
	switch {
	case err == nil, apierrors.IsForbidden(err):
		return nil
	case apierrors.IsUnauthorized(err):
		return fmt.Errorf("the API server at %s does not accept the credentials: %w; renew them, or name another kubeconfig with --kubeconfig",
			host, err)
	default:
		return fmt.Errorf("cannot reach the API server at %s: %w; check that it runs and that --kubeconfig names the right one", host, err)
	}
}

func checkResources(client kubernetes.Interface) error {
	served := map[metav1.GroupVersionResource]bool{}
	for _, version := range []string{"v1", "v1alpha1", "v1beta1", "v1beta2"} {
		list, err := client.Discovery().ServerResourcesForGroupVersion(clusterv1.GroupName + "/" + version)
		if apierrors.IsNotFound(err) {
			continue
		}
		if err != nil {
			return fmt.Errorf("asking the API server for its resources of %s/%s: %w", clusterv1.GroupName, version, err)
		}
		for _, resource := range list.APIResources {
			served[requiredResource(version, resource.Name)] = true
		}
	}
	var missing []string
	for _, r := range requiredResources {
		if !served[r] {
			missing = append(missing, fmt.Sprintf("%s.%s/%s", r.Resource, r.Group, r.Version))
		}
	}
	if len(missing) == 0 {
		return nil
	}
	return fmt.Errorf("the hub does not serve %s; apply the CustomResourceDefinitions in manifests/crds, "+
		"or those of Open Cluster Management v1.3, then start again",
		strings.Join(missing, ", "))
}

// right is one thing that the process must be allowed to do.
type right struct{ verb, group, resource, subresource, namespace string }

func (r right) String() string {
	text := r.verb + " " + r.resource
	if r.subresource != "" {
		text += "/" + r.subresource
	}
	if r.group != "" {
		text += "." + r.group
	}
	if r.namespace != "" {
		text += " in namespace " + r.namespace
	}
	return text
}

// patchStatus is the right to write the status of a resource.
func patchStatus(resource string) right {
	return right{verb: "patch", group: clusterv1.GroupName, resource: resource, subresource: "status"}
}

// writeRights are what each controller changes.
var writeRights = map[string][]right{
	"placement": {
		{verb: "create", group: clusterv1.GroupName, resource: "placementdecisions"},
		{verb: "patch", group: clusterv1.GroupName, resource: "placementdecisions"},
		{verb: "delete", group: clusterv1.GroupName, resource: "placementdecisions"},
		patchStatus("placementdecisions"), patchStatus("placements"),
	},
	"clusterset": {
		{verb: "create", group: clusterv1.GroupName, resource: "managedclustersets"},
		{verb: "update", group: clusterv1.GroupName, resource: "managedclustersets"},
		patchStatus("managedclustersets"),
	},
	"clustersetbinding": {patchStatus("managedclustersetbindings")},
}

// requiredRights are those without which the caches of the enabled controllers would never sync, no decision could be written, or
// the lease not be taken.
func requiredRights(enabled []string, lease election.Options) []right {
	var rights []right
	for _, verb := range []string{"list", "watch"} {
		for _, r := range requiredResources {
			rights = append(rights, right{verb: verb, group: r.Group, resource: r.Resource})
		}
	}
	for _, name := range enabled {
		rights = append(rights, writeRights[name]...)
	}
	if !lease.Disable {
		for _, verb := range []string{"get", "create", "update"} {
			rights = append(rights, right{verb: verb, group: "coordination.k8s.io", resource: "leases", namespace: lease.Namespace})
		}
	}
	return rights
}

func checkRights(ctx context.Context, client kubernetes.Interface, rights []right) error {
	var missing []error
	for _, r := range rights {
		review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{
			ResourceAttributes: &authorizationv1.ResourceAttributes{
				Verb: r.verb, Group: r.group, Resource: r.resource, Subresource: r.subresource, Namespace: r.namespace,
			},
		}}
		answer, err := client.AuthorizationV1().SelfSubjectAccessReviews().Create(ctx, review, metav1.CreateOptions{})
		if err != nil {
			return fmt.Errorf("asking the API server whether this process may %s: %w", r, err)
		}
		if !answer.Status.Allowed {
			missing = append(missing, errors.New("  "+r.String()))
		}
	}
	if len(missing) == 0 {
		return nil
	}
	return fmt.Errorf("the hub does not allow this process to:\n%w\ngrant these rights to the account it runs as "+
		"(bind it to the ClusterRole of the placement controller), then start again", errors.Join(missing...))
}

// checkLeaseNamespace asks for the lease without making it: the elector would only log, for ever, that its namespace is missing.
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

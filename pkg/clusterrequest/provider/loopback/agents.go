// SPDX-License-Identifier: Apache-2.0

package loopback

import (
	"context"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
	loopbackv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcploopback/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/clusterrequest"
	"github.com/placement-hub/placement-hub/pkg/clusterrequest/provider"
	"github.com/placement-hub/placement-hub/pkg/clusterrequest/provider/access"
	"github.com/placement-hub/placement-hub/pkg/hub/queue"
	"github.com/placement-hub/placement-hub/pkg/localplane/workagent"
)

// The annotations of the AccessRequests of work agents.
const (
	// ProviderAnnotation is the name of the ClusterProvider that made an AccessRequest.
	ProviderAnnotation = loopbackv1alpha1.GroupName + "/provider"
	// EnvironmentAnnotation is the environment of that provider.
	EnvironmentAnnotation = loopbackv1alpha1.GroupName + "/environment"
)

const (
	// agentInterval is how often a work agent is looked at, and how soon a start that has to wait is tried again.
	agentInterval = 5 * time.Second
)

// AgentSettings configure the work agents of the published Clusters of a Provider.
type AgentSettings struct {
	Queue queue.Settings
	// Binary is the path of the work agent.
	Binary string
	// Environment distinguishes providers of one name in this namespace.
	Environment string
	// Namespace has the AccessRequests of the agents. Their Secrets give wide rights in the clusters, so no tenant may read it.
	Namespace string
	// TokenLifetime is the lifetime of the tokens for the hub, which are renewed after 80 % of it.
	TokenLifetime time.Duration
}

// SetupAgents adds the controller that runs a work agent for each published Cluster of a Provider. Close of the Provider stops the agents.
func SetupAgents(mgr manager.Manager, p *Provider, settings AgentSettings) error {
	r := &agentReconciler{
		AgentSettings: settings, provider: p, cached: mgr.GetCache(), live: mgr.GetAPIReader(), hub: mgr.GetConfig(),
		writer: client.WithFieldOwner(mgr.GetClient(), provider.FieldManager(p.options.Name)),
	}
	clusterOf := func(_ context.Context, object client.Object) []reconcile.Request {
		request, is := object.(*openmcpv1alpha1.AccessRequest)
		if !is || request.Namespace != settings.Namespace || request.Spec.ClusterRef == nil {
			return nil
		}
		ref := request.Spec.ClusterRef
		return []reconcile.Request{{NamespacedName: types.NamespacedName{Namespace: ref.Namespace, Name: ref.Name}}}
	}

	err := builder.ControllerManagedBy(mgr).
		Named("work-agents-"+p.options.Name).
		For(&openmcpv1alpha1.Cluster{}).
		Watches(&openmcpv1alpha1.AccessRequest{}, handler.EnqueueRequestsFromMapFunc(clusterOf)).
		WithOptions(queue.Options[reconcile.Request](settings.Queue)).
		Complete(r)
	if err != nil {
		return fmt.Errorf("controller of the work agents of %s: %w", p.options.Name, err)
	}
	return nil
}

// agentReconciler runs the work agents.
type agentReconciler struct {
	AgentSettings

	provider *Provider
	cached   client.Reader
	live     client.Reader
	writer   client.Client
	hub      *rest.Config
}

// Reconcile runs the work agent of a Cluster while the hub's inventory holds the Cluster.
func (r *agentReconciler) Reconcile(ctx context.Context, key reconcile.Request) (reconcile.Result, error) {
	cluster := &openmcpv1alpha1.Cluster{}

	err := r.cached.Get(ctx, key.NamespacedName, cluster)
	if client.IgnoreNotFound(err) != nil {
		return reconcile.Result{}, fmt.Errorf("reading Cluster %s: %w", key, err)
	}
	own := err == nil && cluster.Spec.ClusterProviderRef.Name == r.provider.options.Name
	if !own || !slices.Contains(cluster.Finalizers, openmcpv1alpha1.InventoryFinalizer) {
		return reconcile.Result{}, r.end(ctx, key.NamespacedName)
	}

	if cluster.Status.ManagedCluster == "" {
		return reconcile.Result{}, nil // It is not published yet.
	}
	member, err := r.memberConfig(ctx, cluster)
	if err != nil || member == nil {
		return reconcile.Result{}, err // The AccessRequest is not granted yet.
	}
	return reconcile.Result{RequeueAfter: agentInterval}, r.keep(ctx, cluster, member)
}

// memberConfig returns the configuration for the API server of a Cluster that the AccessRequest of its agent was granted; nil while it is not.
func (r *agentReconciler) memberConfig(ctx context.Context, cluster *openmcpv1alpha1.Cluster) ([]byte, error) {
	request := &openmcpv1alpha1.AccessRequest{}
	key := types.NamespacedName{Namespace: r.Namespace, Name: cluster.Status.ManagedCluster}

	err := r.cached.Get(ctx, key, request)
	if apierrors.IsNotFound(err) {
		return nil, r.requestAccess(ctx, key, cluster)
	}
	if err != nil {
		return nil, fmt.Errorf("reading AccessRequest %s: %w", key, err)
	}
	if err := r.adopt(ctx, request, client.ObjectKeyFromObject(cluster), key.Name); err != nil {
		return nil, err
	}

	if request.Status.Status != openmcpv1alpha1.RequestGranted || request.Status.SecretRef == nil {
		return nil, nil
	}
	secret := &corev1.Secret{}
	if err := r.live.Get(ctx, types.NamespacedName{Namespace: r.Namespace, Name: request.Status.SecretRef.Name}, secret); err != nil {
		return nil, fmt.Errorf("reading the Secret of AccessRequest %s: %w", key, err)
	}
	return secret.Data[access.KubeconfigKey], nil
}

// owns reports whether an AccessRequest is that of the agent of a Cluster: it has the marks of this provider or, if it is older than these, none
// and the name that this provider gives.
func (r *agentReconciler) owns(request *openmcpv1alpha1.AccessRequest, cluster types.NamespacedName, name string) bool {
	ref := request.Spec.ClusterRef
	if ref == nil || ref.Namespace != cluster.Namespace || ref.Name != cluster.Name {
		return false
	}
	provider, isMarked := request.Annotations[ProviderAnnotation]
	environment, isPlaced := request.Annotations[EnvironmentAnnotation]
	if !isMarked && !isPlaced {
		return request.Name == name
	}
	return provider == r.provider.options.Name && environment == r.Environment
}

// mark writes the marks of this provider on an AccessRequest, and reports whether they are new.
func (r *agentReconciler) mark(request *openmcpv1alpha1.AccessRequest) bool {
	if request.Annotations[ProviderAnnotation] == r.provider.options.Name && request.Annotations[EnvironmentAnnotation] == r.Environment {
		return false
	}
	metav1.SetMetaDataAnnotation(&request.ObjectMeta, ProviderAnnotation, r.provider.options.Name)
	metav1.SetMetaDataAnnotation(&request.ObjectMeta, EnvironmentAnnotation, r.Environment)
	return true
}

// adopt marks an AccessRequest that this provider made before it had marks. It returns an error for one that others made.
func (r *agentReconciler) adopt(
	ctx context.Context, request *openmcpv1alpha1.AccessRequest, cluster types.NamespacedName, name string,
) error {
	key := client.ObjectKeyFromObject(request)
	if !r.owns(request, cluster, name) {
		return fmt.Errorf("AccessRequest %s is not that of the work agent of Cluster %s by ClusterProvider %s: delete or rename it",
			key, cluster, r.provider.options.Name)
	}
	if !r.mark(request) {
		return nil
	}

	if err := r.writer.Update(ctx, request); err != nil {
		return fmt.Errorf("mark AccessRequest %s: %w", key, err)
	}
	return nil
}

// requestAccess creates the AccessRequest of the agent of a Cluster, after the roles that it asks for.
func (r *agentReconciler) requestAccess(ctx context.Context, key types.NamespacedName, cluster *openmcpv1alpha1.Cluster) error {
	admin, err := r.provider.Admin(ctx, cluster)
	if err != nil {
		return err
	}
	if err := workagent.PrepareMember(ctx, admin); err != nil {
		return fmt.Errorf("prepare Cluster %s/%s: %w", cluster.Namespace, cluster.Name, err)
	}
	request := &openmcpv1alpha1.AccessRequest{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}}
	request.Spec.ClusterRef = &openmcpv1alpha1.ObjectReference{Namespace: cluster.Namespace, Name: cluster.Name}
	r.mark(request)

	for _, role := range workagent.MemberRoles() {
		request.Spec.RoleRefs = append(request.Spec.RoleRefs, openmcpv1alpha1.RoleReference{Kind: openmcpv1alpha1.KindClusterRole, Name: role})
	}
	err = r.writer.Create(ctx, request)
	if client.IgnoreAlreadyExists(err) != nil {
		return fmt.Errorf("creating AccessRequest %s: %w", key, err)
	}
	return nil
}

// keep starts the agent of a Cluster if none runs with this kubeconfig, and starts it again when its token for the hub is due.
func (r *agentReconciler) keep(ctx context.Context, cluster *openmcpv1alpha1.Cluster, kubeconfig []byte) error {
	key := client.ObjectKeyFromObject(cluster)

	current, err := r.provider.agents.prepare(key, kubeconfig, r.Queue.Clock.Now())
	if err != nil || current {
		return err
	}
	member, err := clientcmd.RESTConfigFromKubeConfig(kubeconfig)
	if err != nil {
		return fmt.Errorf("reading the kubeconfig for Cluster %s: %w", key, err)
	}

	hub, renewal, err := r.hubConfig(ctx, cluster.Status.ManagedCluster)
	if err != nil {
		return err
	}
	return r.provider.agents.start(ctx, key, kubeconfig, renewal, workagent.Options{
		Cluster: cluster.Status.ManagedCluster, Hub: hub, Member: member, Binary: r.Binary,
		Dir: r.provider.agentDirectory(key),
	})
}

// end stops the agent of a Cluster that is not published any more, and deletes its AccessRequest. Those of others stay.
func (r *agentReconciler) end(ctx context.Context, key types.NamespacedName) error {
	if err := r.provider.agents.stop(key); err != nil {
		return err
	}
	list := &openmcpv1alpha1.AccessRequestList{}
	if err := r.cached.List(ctx, list, client.InNamespace(r.Namespace)); err != nil {
		return fmt.Errorf("listing AccessRequests: %w", err)
	}

	for i := range list.Items {
		request := &list.Items[i]
		if request.DeletionTimestamp != nil || !r.owns(request, key, clusterrequest.ManagedClusterName(key)) {
			continue
		}
		err := r.writer.Delete(ctx, request, client.Preconditions{UID: &request.UID})
		if client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("deleting AccessRequest %s: %w", client.ObjectKeyFromObject(request), err)
		}
	}
	return nil
}

// SPDX-License-Identifier: Apache-2.0

package publish

import (
	"context"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/clusterrequest"
	"github.com/placement-hub/placement-hub/pkg/hub/objects"
)

// takenRetry is how often a Cluster tries again whose namespace is somebody else's, of which no event tells.
const takenRetry = time.Minute

// publish keeps the ManagedCluster of a Cluster that is not being deleted. It returns after which time to look again; zero for never.
func (r *reconciler) publish(ctx context.Context, c *cycle) (time.Duration, error) {
	if err := r.addFinalizer(ctx, c); err != nil {
		return 0, err
	}
	provider, err := r.provider(ctx, c.cluster)
	if err != nil {
		return 0, err
	}
	profile := profileOf(provider, c.cluster.Spec.ClusterProviderRef.Profile)
	claims := clusterrequest.Claims(c.cluster, profile)
	if profile == nil && c.managed != nil {
		served, err := definition(ctx, r.live, providerDefinition)
		if err != nil {
			return 0, err
		}
		if served.MayHaveTaken(c.managed) {
			c.providerLost = provider == nil
			claims = clusterrequest.KeepTraits(claims, c.managed)
		}
	}

	c.lease = r.lease(c, provider)
	if err := r.prepare(ctx, c, claims); err != nil {
		return 0, err
	}

	switch {
	case c.taken != "":
		return takenRetry, r.reportTaken(ctx, c)
	case c.namespace.DeletionTimestamp != nil || c.managed.DeletionTimestamp != nil:
		return 0, r.writeStatus(ctx, c, metav1.ConditionFalse, clusterrequest.ReasonTerminating,
			fmt.Sprintf("ManagedCluster %s or its namespace is being deleted, and is created again after that", c.name()))
	}

	again, err := r.describe(ctx, c, claims)
	if err != nil {
		return 0, err
	}
	return again, r.writeStatus(ctx, c, metav1.ConditionTrue, openmcpv1alpha1.ConditionPublished, "ManagedCluster "+c.name()+" exists")
}

// addFinalizer adds the finalizer to the Cluster. A Cluster that was made again is given the set of the ManagedCluster that it finds.
func (r *reconciler) addFinalizer(ctx context.Context, c *cycle) error {
	if slices.Contains(c.cluster.Finalizers, openmcpv1alpha1.InventoryFinalizer) {
		return nil
	}
	changed := c.cluster.DeepCopy()
	if c.managed != nil && c.cluster.Status.ManagedCluster == "" {
		changed = clusterrequest.KeepSet(changed, c.managed, r.defaultSet)
	}
	controllerutil.AddFinalizer(changed, openmcpv1alpha1.InventoryFinalizer)

	if err := objects.Patch(ctx, r.client, c.cluster, changed, counted(requestFinalizer)); err != nil {
		return fmt.Errorf("add the finalizer to Cluster %s: %w", c.Request, err)
	}
	c.cluster = changed
	return nil
}

// prepare creates what is missing: the namespace, the account of the work agent in it, and the ManagedCluster.
func (r *reconciler) prepare(ctx context.Context, c *cycle, claims map[string]string) error {
	if c.taken != "" {
		return nil
	}
	if c.namespace == nil {
		namespace := clusterrequest.ManagedClusterNamespace(c.cluster)
		if err := r.createOwn(ctx, c, namespace); err != nil || c.taken != "" {
			return err
		}
		c.namespace = &metav1.PartialObjectMetadata{ObjectMeta: namespace.ObjectMeta}
	}

	if c.namespace.DeletionTimestamp != nil {
		return nil
	}
	for _, object := range []client.Object{clusterrequest.WorkAgentAccount(c.cluster), clusterrequest.WorkAgentBinding(c.cluster)} {
		if err := r.createAgent(ctx, object); err != nil {
			return err
		}
	}

	if c.managed != nil {
		return nil
	}
	merged, err := clusterrequest.MergeClaims(nil, "", claims)
	if err != nil {
		return err
	}

	wanted, err := r.wanted(ctx, c)
	if err != nil {
		return err
	}
	wanted.Annotations[openmcpv1alpha1.ClaimsAnnotation] = merged.Before
	if err := r.createOwn(ctx, c, wanted); err != nil || c.taken != "" {
		return err
	}
	r.event(c, corev1.EventTypeNormal, openmcpv1alpha1.ConditionPublished, "ManagedCluster "+c.name()+" is created")
	c.managed = wanted
	return nil
}

// createOwn creates a ManagedCluster or a namespace. An object of its name that is not that of the Cluster is noted as taken.
func (r *reconciler) createOwn(ctx context.Context, c *cycle, object client.Object) error {
	kind := object.GetObjectKind().GroupVersionKind().Kind

	present, found, err := objects.LiveMetadata(ctx, r.live, object, types.NamespacedName{Name: c.name()})
	if err != nil {
		return err
	}
	if found && !clusterrequest.IsPublished(present, c.NamespacedName) {
		c.taken = kind
		return nil
	}

	if err := observe(requestCreate, r.client.Create(ctx, object)); err != nil {
		return fmt.Errorf("creating %s %s: %w", kind, c.name(), err)
	}
	return nil
}

// createAgent creates an object of the work agent where there is none. One that was not created by the hub stays as it is.
func (r *reconciler) createAgent(ctx context.Context, object client.Object) error {
	kind := object.GetObjectKind().GroupVersionKind().Kind
	key := client.ObjectKeyFromObject(object)

	err := r.objects.Get(ctx, key, metadataOf(kind))
	if err == nil || !apierrors.IsNotFound(err) {
		return err //nolint:wrapcheck // A cache fails only when it is stopping.
	}
	err = observe(requestCreate, r.client.Create(ctx, object))
	if client.IgnoreAlreadyExists(err) != nil {
		return fmt.Errorf("creating %s %s: %w", kind, key, err)
	}
	return nil
}

// describe writes the labels, the claims and the availability of the ManagedCluster where they have changed.
func (r *reconciler) describe(ctx context.Context, c *cycle, claims map[string]string) (time.Duration, error) {
	merged, err := clusterrequest.MergeClaims(c.managed.Status.ClusterClaims, c.managed.Annotations[openmcpv1alpha1.ClaimsAnnotation], claims)
	if err != nil {
		return 0, fmt.Errorf("ManagedCluster %s: %w", c.name(), err)
	}
	claimed := equality.Semantic.DeepEqual(c.managed.Status.ClusterClaims, merged.Claims)

	wanted, err := r.wanted(ctx, c)
	if err != nil {
		return 0, err
	}
	wanted = clusterrequest.Published(c.managed, wanted)
	wanted.Annotations[openmcpv1alpha1.ClaimsAnnotation] = merged.After
	if !claimed {
		wanted.Annotations[openmcpv1alpha1.ClaimsAnnotation] = merged.Before
	}

	if err := r.patch(ctx, c.managed, wanted, false); err != nil {
		return 0, err
	}
	c.managed = wanted
	wanted = c.managed.DeepCopy()
	wanted.Status.ClusterClaims = merged.Claims
	meta.RemoveStatusCondition(&wanted.Status.Conditions, clusterrequest.ConditionClusterGone)
	again := r.setAvailable(c, wanted)

	if err := r.patch(ctx, c.managed, wanted, true); err != nil {
		return 0, err
	}
	c.managed = wanted
	wanted = c.managed.DeepCopy()
	wanted.Annotations[openmcpv1alpha1.ClaimsAnnotation] = merged.After
	return again, r.patch(ctx, c.managed, wanted, false)
}

// wanted returns the fields of the ManagedCluster of a Cluster that the controller applies.
func (r *reconciler) wanted(ctx context.Context, c *cycle) (*clusterv1.ManagedCluster, error) {
	uid, err := r.served.read(ctx, r.live)
	if err != nil {
		return nil, err
	}
	wanted := clusterrequest.ManagedCluster(c.cluster, r.defaultSet)
	wanted.Annotations[openmcpv1alpha1.DefinitionAnnotation] = string(uid)
	return wanted, nil
}

// provider returns the ClusterProvider of a Cluster; nil if it does not exist.
func (r *reconciler) provider(ctx context.Context, cluster *openmcpv1alpha1.Cluster) (*openmcpv1alpha1.ClusterProvider, error) {
	ref := cluster.Spec.ClusterProviderRef
	provider := &openmcpv1alpha1.ClusterProvider{}
	err := r.client.Get(ctx, types.NamespacedName{Name: ref.Name}, provider)
	if apierrors.IsNotFound(err) {
		return nil, nil //nolint:nilnil // Absence is no error.
	}
	if err != nil {
		return nil, fmt.Errorf("reading ClusterProvider %s: %w", ref.Name, err)
	}
	return provider, nil
}

// profileOf returns a profile of a ClusterProvider; nil if it is not published.
func profileOf(provider *openmcpv1alpha1.ClusterProvider, name openmcpv1alpha1.ProfileName) *openmcpv1alpha1.Profile {
	if provider == nil {
		return nil
	}
	for i := range provider.Status.Profiles {
		if provider.Status.Profiles[i].Name == name {
			return &provider.Status.Profiles[i]
		}
	}
	return nil
}

// lease returns the Lease by which the provider of a Cluster proves that it lives. It stays where it was while the ClusterProvider is gone.
func (r *reconciler) lease(c *cycle, provider *openmcpv1alpha1.ClusterProvider) types.NamespacedName {
	if provider != nil {
		return clusterrequest.LeaseKey(c.cluster, provider.Spec.LeaseNamespace)
	}
	if last, found := r.heartbeats.lastFollowed(c.Request); found && last.Name == clusterrequest.LeaseName(c.cluster.UID) {
		return last
	}
	return clusterrequest.LeaseKey(c.cluster, "")
}

// setAvailable sets the condition ManagedClusterConditionAvailable, unless an agent does, and returns after which time it may change. The condition
// stays as it is while it is not known where the Lease is, because the ClusterProvider was lost with its definition.
func (r *reconciler) setAvailable(c *cycle, managed *clusterv1.ManagedCluster) time.Duration {
	now := r.clock.Now()
	ofAgent := types.NamespacedName{Namespace: c.name(), Name: clusterrequest.AgentLeaseName}
	r.heartbeats.subscribe(ofAgent, c.Request)
	agent := r.heartbeats.get(ofAgent)
	if c.providerLost && meta.FindStatusCondition(managed.Status.Conditions, clusterv1.ManagedClusterConditionAvailable) != nil {
		if _, followed := r.heartbeats.lastFollowed(c.Request); !followed {
			return 0
		}
	}

	r.heartbeats.follow(c.lease, c.Request)
	beat := r.heartbeats.get(c.lease)
	if until := clusterrequest.AgentReports(managed, agent); until.After(now) {
		return until.Sub(now)
	}
	condition, until := clusterrequest.Available(c.cluster, c.lease, managed.Status.Conditions, beat, now)
	condition.LastTransitionTime = metav1.NewTime(now)
	meta.SetStatusCondition(&managed.Status.Conditions, condition)
	return max(until.Sub(now), 0)
}

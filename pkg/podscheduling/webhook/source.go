// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	kupidv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/kupid/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/hub/objects"
	"github.com/placement-hub/placement-hub/pkg/podscheduling"
)

// syncTimeout is how long reviews wait for the first sync of the cache, counted from the first review. It leaves most of the timeout of an
// API server for reads without the cache.
const syncTimeout = 5 * time.Second

// Source has the policies of a hub, compiled, and the labels of its namespaces. It is safe for concurrent use.
type Source struct {
	// api reads from the API server.
	api client.Reader
	// synced report whether the initial lists of policies and namespaces have been handled.
	synced []toolscache.InformerSynced

	firstReview sync.Once
	syncBy      time.Time // set by firstReview

	mu         sync.Mutex
	policies   map[podscheduling.Reference]*podscheduling.Policy
	arranged   *podscheduling.Policies      // of policies; nil if they have changed since
	namespaces map[string]map[string]string // the labels of each, which are never changed in place
}

// NewSource returns a Source that follows the policies and namespaces of an informer cache, and reads the API server through api where the
// cache fails. It returns an error if the cache cannot watch a kind.
func NewSource(ctx context.Context, informers cache.Informers, api client.Reader) (*Source, error) {
	s := newSource(api)
	for _, kind := range []client.Object{
		&kupidv1alpha1.ClusterPodSchedulingPolicy{}, &kupidv1alpha1.PodSchedulingPolicy{}, &corev1.Namespace{},
	} {
		informer, err := informers.GetInformer(ctx, kind, cache.BlockUntilSynced(false))
		if err != nil {
			return nil, fmt.Errorf("watching %T: %w", kind, err)
		}
		handled, err := informer.AddEventHandler(s)
		if err != nil {
			return nil, fmt.Errorf("handling the events of %T: %w", kind, err)
		}
		s.synced = append(s.synced, handled.HasSynced)
	}

	return s, nil
}

func newSource(api client.Reader) *Source {
	return &Source{
		api: api, policies: map[podscheduling.Reference]*podscheduling.Policy{}, namespaces: map[string]map[string]string{},
	}
}

var _ toolscache.ResourceEventHandler = (*Source)(nil)

// OnAdd adds a policy or namespace.
func (s *Source) OnAdd(object any, _ bool) { s.set(object) }

// OnUpdate replaces a policy or namespace, unless the event is a resync.
func (s *Source) OnUpdate(before, after any) {
	old, isOld := before.(client.Object)
	updated, isNew := after.(client.Object)
	if isOld && isNew && old.GetResourceVersion() == updated.GetResourceVersion() {
		return
	}
	s.set(after)
}

// OnDelete removes a policy or namespace.
func (s *Source) OnDelete(object any) {
	removed, is := objects.Deleted[client.Object](object)
	if !is {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, is := removed.(*corev1.Namespace); is {
		delete(s.namespaces, removed.GetName())
		return
	}

	delete(s.policies, podscheduling.Reference{Namespace: removed.GetNamespace(), Name: removed.GetName()})
	s.arranged = nil
}

func (s *Source) set(object any) {
	policy := compile(object)
	s.mu.Lock()
	defer s.mu.Unlock()
	if namespace, is := object.(*corev1.Namespace); is {
		s.namespaces[namespace.Name] = namespace.Labels
	}
	if policy != nil {
		s.policies[policy.Reference] = policy
		s.arranged = nil
	}
}

// compile prepares a policy; nil for an object of another kind.
func compile(object any) *podscheduling.Policy {
	switch object := object.(type) {
	case *kupidv1alpha1.ClusterPodSchedulingPolicy:
		return podscheduling.NewClusterPolicy(object)
	case *kupidv1alpha1.PodSchedulingPolicy:
		return podscheduling.NewPolicy(object)
	default:
		return nil
	}
}

// hasSynced waits for the cache until ctx ends, but not longer than syncTimeout after the first review. It reports whether the cache has
// synced.
func (s *Source) hasSynced(ctx context.Context) bool {
	s.firstReview.Do(func() { s.syncBy = time.Now().Add(syncTimeout) })
	if !slices.ContainsFunc(s.synced, func(synced toolscache.InformerSynced) bool { return !synced() }) {
		return true
	}
	waiting, cancel := context.WithDeadline(ctx, s.syncBy)
	defer cancel()
	return toolscache.WaitForCacheSync(waiting.Done(), s.synced...)
}

// Policies returns all policies. It returns an error if they are neither cached nor can be listed.
func (s *Source) Policies(ctx context.Context) (*podscheduling.Policies, error) {
	if !s.hasSynced(ctx) {
		return s.list(ctx)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.arranged == nil {
		s.arranged = podscheduling.NewPolicies(slices.Collect(maps.Values(s.policies)))
	}
	return s.arranged, nil
}

// list reads all policies from the API server.
func (s *Source) list(ctx context.Context) (*podscheduling.Policies, error) {
	var (
		cluster    kupidv1alpha1.ClusterPodSchedulingPolicyList
		namespaced kupidv1alpha1.PodSchedulingPolicyList
		policies   []*podscheduling.Policy
	)
	for _, list := range []client.ObjectList{&cluster, &namespaced} {
		if err := s.api.List(ctx, list); err != nil {
			return nil, fmt.Errorf("reading pod scheduling policies: %w", err)
		}
	}

	for i := range cluster.Items {
		policies = append(policies, compile(&cluster.Items[i]))
	}
	for i := range namespaced.Items {
		policies = append(policies, compile(&namespaced.Items[i]))
	}
	return podscheduling.NewPolicies(policies), nil
}

// NamespaceLabels returns the labels of a namespace. The API server is asked where the cache fails, and for a namespace that is too new for
// the cache.
func (s *Source) NamespaceLabels(ctx context.Context, name string) (map[string]string, error) {
	if s.hasSynced(ctx) {
		if labels, found := s.cachedLabels(name); found {
			return labels, nil
		}
	}

	namespace := &corev1.Namespace{}
	if err := s.api.Get(ctx, client.ObjectKey{Name: name}, namespace); err != nil {
		if apierrors.IsNotFound(err) {
			return nil, fmt.Errorf("namespace %s does not exist: %w", name, err)
		}
		return nil, fmt.Errorf("reading the labels of namespace %s: %w", name, err)
	}
	return namespace.Labels, nil
}

func (s *Source) cachedLabels(namespace string) (labels map[string]string, found bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	labels, found = s.namespaces[namespace]
	return labels, found
}

// BeyondLimits returns why PodSchedulingPolicies of one namespace are beyond its limits, by their names, as podscheduling.BeyondLimits does.
func BeyondLimits(policies []kupidv1alpha1.PodSchedulingPolicy) map[string]string {
	compiled := make([]*podscheduling.Policy, len(policies))
	for i := range policies {
		compiled[i] = compile(&policies[i])
	}
	return podscheduling.BeyondLimits(compiled)
}

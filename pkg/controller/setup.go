package controller

import (
	"fmt"
	"runtime"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	apiruntime "k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"
	"k8s.io/utils/ptr"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	clusterinventory "sigs.k8s.io/cluster-inventory-api/apis/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrlcontroller "sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"

	placementv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/placement/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/decision/record"
)

// The names of the controllers, as --controllers takes them.
const (
	placementName         = "placement"
	placementV1alpha1Name = "placement-v1alpha1"
	clusterSetName        = "clusterset"
	clusterSetBindingName = "clustersetbinding"
	vocabularyName        = "vocabulary"
)

// firstRetry and longestRetry bound the time until something that failed is tried again.
const (
	firstRetry   = 5 * time.Millisecond
	longestRetry = time.Minute
)

// defaultPatience is how long one evaluation may take unless Options say otherwise.
const defaultPatience = time.Minute

// defaultNamespace is where the hub lives unless Options say otherwise.
const defaultNamespace = "open-cluster-management-hub"

// Names lists every controller of this hub.
func Names() []string {
	return []string{placementName, placementV1alpha1Name, clusterSetName, clusterSetBindingName, vocabularyName}
}

// Options say which controllers run and how.
type Options struct {
	// Controllers are patterns over Names: "*" all, "name" that one, "-name" not that one.
	Controllers []string
	// Namespace is where the ConfigMap of the vocabulary is kept; empty means open-cluster-management-hub.
	Namespace string
	// Workers is how many placements are evaluated at the same time; 0 means GOMAXPROCS.
	Workers int
	// ProfileDecisions writes the decisions of v1beta1 placements as PlacementDecisions of multicluster.x-k8s.io too.
	ProfileDecisions bool
	// Patience is how long one evaluation may take with all that it writes; 0 means a minute. A request that nobody answers holds its worker
	// no longer than that.
	Patience time.Duration
	// Clock is the time by which tolerations and scores expire; nil means the system's.
	Clock clock.PassiveClock
}

// Scheme knows every type the hub reads or writes.
func Scheme() *apiruntime.Scheme {
	scheme := apiruntime.NewScheme()
	for _, add := range []func(*apiruntime.Scheme) error{
		clientgoscheme.AddToScheme, clusterv1.Install, clusterv1alpha1.Install, clusterv1beta1.Install, clusterv1beta2.Install,
		placementv1alpha1.Install, clusterinventory.AddToScheme,
	} {
		utilruntime.Must(add(scheme))
	}

	return scheme
}

// CacheOptions are the informer settings that the controllers rely on. What the API server notes about field managers is not kept: it
// can be most of an object. Of all ConfigMaps only the vocabulary is listed and found.
func CacheOptions() cache.Options {
	return cache.Options{
		DefaultTransform: cache.TransformStripManagedFields(),
		ByObject: map[client.Object]cache.ByObject{
			&corev1.ConfigMap{}: {Field: fields.OneTermEqualSelector(metav1.ObjectNameField, VocabularyConfigMap)},
		},
	}
}

// Setup adds the selected controllers to the manager.
func Setup(mgr manager.Manager, o Options) error {
	enabled, err := o.Enabled()
	if err != nil {
		return err
	}

	if o.Workers <= 0 {
		o.Workers = runtime.GOMAXPROCS(0)
	}

	if o.Namespace == "" {
		o.Namespace = defaultNamespace
	}

	if o.Patience <= 0 {
		o.Patience = defaultPatience
	}

	if o.Clock == nil {
		o.Clock = clock.RealClock{}
	}

	var apis []record.API

	if slices.Contains(enabled, placementName) {
		apis = append(apis, record.V1beta1)
	}

	if slices.Contains(enabled, placementV1alpha1Name) {
		apis = append(apis, record.V1alpha1)
	}

	for _, controller := range []struct {
		name    string
		enabled bool
		setup   func(manager.Manager, Options) error
	}{
		{placementName, len(apis) > 0, outputs{apis: apis, profiles: o.ProfileDecisions && slices.Contains(enabled, placementName)}.setup},
		{clusterSetName, slices.Contains(enabled, clusterSetName), setupClusterSet},
		{clusterSetBindingName, slices.Contains(enabled, clusterSetBindingName), setupClusterSetBinding},
		{vocabularyName, slices.Contains(enabled, vocabularyName), setupVocabulary},
	} {
		if !controller.enabled {
			continue
		}

		if err := controller.setup(mgr, o); err != nil {
			return fmt.Errorf("setting up controller %s: %w", controller.name, err)
		}
	}

	return nil
}

// controllerOptions are common to all controllers: only the leader works, and a standby keeps its queue and caches warm.
func controllerOptions[request comparable](workers int, patience time.Duration) ctrlcontroller.TypedOptions[request] {
	return ctrlcontroller.TypedOptions[request]{
		MaxConcurrentReconciles: workers,
		ReconciliationTimeout:   patience,
		// What fails is tried again within a minute, so that what is due at a time is not late by more than that.
		RateLimiter:        workqueue.NewTypedItemExponentialFailureRateLimiter[request](firstRetry, longestRetry),
		NeedLeaderElection: ptr.To(true),
		EnableWarmup:       ptr.To(true),
		// A test may run several hubs in one process.
		SkipNameValidation: ptr.To(true),
	}
}

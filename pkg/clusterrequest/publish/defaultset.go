// SPDX-License-Identifier: Apache-2.0

package publish

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/types"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/placement-hub/placement-hub/pkg/clusterrequest"
	"github.com/placement-hub/placement-hub/pkg/hub/extracache"
	"github.com/placement-hub/placement-hub/pkg/metrics"
)

// SetConfigMap is the name of the ConfigMap in the namespace of the hub by which admission knows the ManagedClusterSet of Clusters that name none.
const SetConfigMap = "placement-hub-clusters-inventory"

// setKey is the key of the name of the set in SetConfigMap.
const setKey = "set"

// setCheck compares the ManagedClusterSet of Clusters that name none with the one in SetConfigMap, at the start and after each change. It runs on
// the leader. A difference is logged and has a metric; the hub goes on with its own set (docs/spec/cluster-request.md 4.6).
type setCheck struct {
	objects   cache.Cache
	configMap types.NamespacedName
	// set is that of --clusters-inventory-set.
	set string
	// reported is the difference that was logged last; empty for none.
	reported string
}

// addSetCheck adds a setCheck to the manager, with a cache of its own: the other watches do not wait for the right to read the ConfigMap.
func addSetCheck(mgr manager.Manager, namespace, set string) error {
	objects, err := extracache.Add(mgr, "ConfigMap "+SetConfigMap, cache.Options{
		ByObject: map[client.Object]cache.ByObject{&corev1.ConfigMap{}: {
			Namespaces: map[string]cache.Config{
				namespace: {FieldSelector: fields.OneTermEqualSelector(metav1.ObjectNameField, SetConfigMap)},
			},
		}},
	})
	if err != nil {
		return err
	}

	check := &setCheck{objects: objects, configMap: types.NamespacedName{Namespace: namespace, Name: SetConfigMap}, set: set}
	if err := mgr.Add(check); err != nil {
		return fmt.Errorf("adding the check of ConfigMap %s: %w", check.configMap, err)
	}
	return nil
}

// NeedLeaderElection returns true: only the leader compares.
func (*setCheck) NeedLeaderElection() bool { return true }

// Start compares until the context ends.
func (s *setCheck) Start(ctx context.Context) error {
	defer metrics.SetInventorySetDiffers(false)
	informer, err := s.objects.GetInformer(ctx, &corev1.ConfigMap{}, cache.BlockUntilSynced(false))
	if err != nil {
		return fmt.Errorf("watching ConfigMap %s: %w", s.configMap, err)
	}

	changed := make(chan struct{}, 1)
	notify := func() {
		select {
		case changed <- struct{}{}:
		default:
		}
	}

	registration, err := informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{
		AddFunc: func(any) { notify() }, UpdateFunc: func(_, _ any) { notify() }, DeleteFunc: func(any) { notify() },
	})
	if err != nil {
		return fmt.Errorf("watching ConfigMap %s: %w", s.configMap, err)
	}
	if !toolscache.WaitForCacheSync(ctx.Done(), registration.HasSynced) {
		return nil // The context has ended.
	}
	notify() // There may be no ConfigMap.

	for {
		select {
		case <-ctx.Done():
			return nil
		case <-changed:
			if err := s.compare(ctx); err != nil {
				return err
			}
		}
	}
}

// compare compares the sets, and reports what has changed since the last time.
func (s *setCheck) compare(ctx context.Context) error {
	found := &corev1.ConfigMap{}
	err := s.objects.Get(ctx, s.configMap, found)
	if apierrors.IsNotFound(err) {
		found, err = nil, nil
	}
	if err != nil {
		return fmt.Errorf("reading ConfigMap %s: %w", s.configMap, err)
	}
	s.report(ctx, setDifference(found, s.set))
	return nil
}

// report logs a difference unless it was logged last, and sets the metric. Nil says that there is none.
func (s *setCheck) report(ctx context.Context, difference error) {
	metrics.SetInventorySetDiffers(difference != nil)
	last := s.reported
	logger := klog.FromContext(ctx).WithValues("controller", Name, "configMap", s.configMap, "clusters-inventory-set", s.set)
	switch {
	case difference != nil:
		if s.reported = difference.Error(); s.reported != last {
			logger.Info("WARNING: admission and the hub differ about the ManagedClusterSet of Clusters that name none. Write the set of "+
				"--clusters-inventory-set into the key "+setKey+" of the ConfigMap, or start the hub with the set of the ConfigMap",
				"reason", s.reported)
		}
	case last != "":
		s.reported = ""
		logger.Info("Admission and the hub agree about the ManagedClusterSet of Clusters that name none")
	}
}

var errNoSetConfigMap = errors.New("the ConfigMap does not exist, so that no Cluster can be created or changed")

// setDifference returns an error if the ConfigMap, which may be nil, names another set than the hub. Without the key it names
// clusterrequest.DefaultClusterSet, as for the admission policy.
func setDifference(found *corev1.ConfigMap, set string) error {
	if found == nil {
		return errNoSetConfigMap
	}
	named, written := found.Data[setKey]
	if !written {
		named = clusterrequest.DefaultClusterSet
	}
	if named == set {
		return nil
	}
	return fmt.Errorf("a Cluster that names no set is published in %q, and users need the right to join %q to move it", set, named)
}

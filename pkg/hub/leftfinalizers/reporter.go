// SPDX-License-Identifier: Apache-2.0

package leftfinalizers

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/tools/events"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/placement-hub/placement-hub/pkg/hub/eventwriter"
	"github.com/placement-hub/placement-hub/pkg/hub/objects"
	"github.com/placement-hub/placement-hub/pkg/hub/systems"
)

const (
	// component is the reporter of the events.
	component = "placement-hub-left-finalizers"
	// reason is the reason of the events, and action what they are about.
	reason, action = "DeletionWaiting", "Delete"

	// interval is the time between two looks at all objects.
	interval = time.Minute
	// repetition is how long an event about an object is not repeated. API servers delete events after an hour.
	repetition = 55 * time.Minute
	// objectsPerLook is how many objects of a namespace have events after one look. Users create and delete them, and must not delay the events of
	// other namespaces. The other objects have theirs after the next look.
	objectsPerLook = 20
)

// reporter looks at the objects of systems that are off. It runs in the leader.
type reporter struct {
	off    []systems.Entry
	reader metadata.Interface
	mapper meta.RESTMapper
	events events.EventRecorder

	logged   map[string]string       // what was logged last, by system
	reported map[types.UID]time.Time // when an object had its last event
	written  map[string]int          // how many objects had events after this look, by namespace
}

var _ manager.LeaderElectionRunnable = (*reporter)(nil)

// Add adds a reporter for systems that are off to the manager.
func Add(mgr manager.Manager, off []systems.Entry) error {
	off = slices.DeleteFunc(slices.Clone(off), func(entry systems.Entry) bool { return len(resourcesOf(entry)) == 0 })
	if len(off) == 0 {
		return nil
	}
	reader, err := metadata.NewForConfigAndClient(mgr.GetConfig(), mgr.GetHTTPClient())
	if err != nil {
		return fmt.Errorf("making a client for metadata: %w", err)
	}

	recorder, err := eventwriter.Add(mgr, component, func() bool { return false })
	if err != nil {
		return err
	}
	return mgr.Add(&reporter{ //nolint:wrapcheck // Named by the caller.
		off: off, reader: reader, mapper: mgr.GetRESTMapper(), events: recorder,
		logged: map[string]string{}, reported: map[types.UID]time.Time{},
	})
}

// NeedLeaderElection returns true: one process reports.
func (*reporter) NeedLeaderElection() bool { return true }

// Start reports until ctx ends, and returns nil.
func (r *reporter) Start(ctx context.Context) error {
	for {
		r.look(ctx)
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(interval):
		}
	}
}

// look reports the objects of every system.
func (r *reporter) look(ctx context.Context) {
	deleted := map[types.UID]bool{}
	r.written = map[string]int{}
	for _, entry := range r.off {
		if err := r.lookAt(ctx, entry, deleted); err != nil {
			if ctx.Err() == nil {
				klog.FromContext(ctx).Error(err, "It is not known whether objects have finalizers of a system that is off", "system", entry.Name)
			}
			return // The others are not known either.
		}
	}

	maps.DeleteFunc(r.reported, func(uid types.UID, _ time.Time) bool { return !deleted[uid] })
}

// lookAt reports the objects of a system, and adds those that are being deleted.
func (r *reporter) lookAt(ctx context.Context, entry systems.Entry, deleted map[types.UID]bool) error {
	found, finalizers := 0, map[string]bool{}
	for _, resource := range resourcesOf(entry) {
		err := r.each(ctx, resource, func(object *metav1.PartialObjectMetadata) error {
			has := finalizersOf(entry, object)
			if len(has) == 0 {
				return nil
			}
			found++
			for _, finalizer := range has {
				finalizers[finalizer.String()] = true
			}

			if object.DeletionTimestamp == nil {
				return nil
			}
			kind, err := r.mapper.KindFor(resource)
			if err != nil {
				return fmt.Errorf("finding the kind: %w", err)
			}
			object.SetGroupVersionKind(kind)
			deleted[object.UID] = true
			r.report(entry, object, has)
			return nil
		})
		if err != nil {
			return err
		}
	}

	names := slices.Sorted(maps.Keys(finalizers))
	if now := strings.Join(names, " "); now != r.logged[entry.Name] {
		r.logged[entry.Name] = now
		if found > 0 {
			klog.FromContext(ctx).Info("The system is off, but objects have its finalizers, and cannot be deleted. Turn it on, or release them with "+
				"`placement uninstall --release-finalizers`: docs/uninstall.md", "system", entry.Name, "objects", found, "finalizers", names)
		}
	}
	return nil
}

// report writes an event about an object that is being deleted, unless there is one of late.
func (r *reporter) report(entry systems.Entry, object *metav1.PartialObjectMetadata, has []systems.Finalizer) {
	last, found := r.reported[object.UID]
	if found && time.Since(last) < repetition || r.written[object.Namespace] == objectsPerLook {
		return
	}
	r.written[object.Namespace]++
	r.reported[object.UID] = time.Now()

	for _, finalizer := range has {
		r.events.Eventf(object, nil, corev1.EventTypeWarning, reason, action,
			"The deletion waits for the finalizer %s, which stays %s. Nothing does that here, because the system %s is off. An administrator of "+
				"the hub turns it on, or releases the finalizer: placement uninstall --release-finalizers --system=%s",
			finalizer.String(), finalizer.Waits, entry.Name, entry.Name)
	}
}

// each calls a function with every object of a resource; with none if the process may not list them, or the API server does not serve them.
func (r *reporter) each(ctx context.Context, resource schema.GroupVersionResource, call func(*metav1.PartialObjectMetadata) error) error {
	list := func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
		return r.reader.Resource(resource).List(ctx, options)
	}
	err := objects.Each(ctx, list, metav1.ListOptions{}, call)
	if err != nil && !apierrors.IsForbidden(err) && !apierrors.IsNotFound(err) {
		return fmt.Errorf("listing %s: %w", resource.GroupResource(), err)
	}
	return nil
}

// resourcesOf returns the resources whose objects may have finalizers of a system, as far as they are known.
func resourcesOf(entry systems.Entry) []schema.GroupVersionResource {
	var resources []schema.GroupVersionResource
	for _, finalizer := range entry.Finalizers {
		if !finalizer.Resource.Empty() && !slices.Contains(resources, finalizer.Resource) {
			resources = append(resources, finalizer.Resource)
		}
	}
	return resources
}

// finalizersOf returns the finalizers of a system that an object has.
func finalizersOf(entry systems.Entry, object *metav1.PartialObjectMetadata) []systems.Finalizer {
	return slices.DeleteFunc(slices.Clone(entry.Finalizers), func(finalizer systems.Finalizer) bool {
		return len(finalizer.In(object.Finalizers)) == 0
	})
}

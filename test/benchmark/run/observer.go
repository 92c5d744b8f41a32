// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	workv1 "open-cluster-management.io/api/work/v1"
	clusterinventory "sigs.k8s.io/cluster-inventory-api/apis/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/clusterrequest"
)

// The kinds that observers watch.
const (
	decisionKind  = "PlacementDecision"
	placementKind = "Placement"
	workKind      = "ManifestWork"
	requestKind   = "ClusterRequest"
	grantKind     = "ClusterRequestGrant"
	clusterKind   = "Cluster"
	profileKind   = "ClusterProfile"
)

// groupOf returns the API of a kind that observers watch.
func groupOf(kind string) schema.GroupVersion {
	switch kind {
	case workKind:
		return schema.GroupVersion(workv1.GroupVersion)
	case requestKind, grantKind, clusterKind:
		return openmcpv1alpha1.GroupVersion
	case profileKind:
		return clusterinventory.GroupVersion
	default:
		return schema.GroupVersion(clusterv1beta1.GroupVersion)
	}
}

// change is one change of an object that a watch has reported.
type change struct {
	at        time.Time
	kind      string
	verb      watch.EventType
	key       types.NamespacedName
	placement types.NamespacedName
	// joined is the number of requests that a Cluster has got or, if it is negative, lost.
	joined int
}

// observer notes every change of the objects of some kinds, as any consumer sees it. It asks for metadata alone, which costs the API server
// little.
type observer struct {
	mu       sync.Mutex
	changes  []change
	requests map[types.NamespacedName]int // of the Clusters
	news     chan struct{}                // closed with the next change
	failed   error
}

// observe begins to watch some kinds, until ctx ends.
func observe(ctx context.Context, hub client.WithWatch, kinds ...string) (*observer, error) {
	o := &observer{news: make(chan struct{}), requests: map[types.NamespacedName]int{}}
	for _, kind := range kinds {
		list := &metav1.PartialObjectMetadataList{}
		list.SetGroupVersionKind(groupOf(kind).WithKind(kind + "List"))
		// What is there already is no change.
		if err := hub.List(ctx, list, client.Limit(1)); err != nil {
			return nil, fmt.Errorf("listing %s: %w", kind, err)
		}
		watcher, err := hub.Watch(ctx, list, &client.ListOptions{Raw: &metav1.ListOptions{ResourceVersion: list.ResourceVersion}})
		if err != nil {
			return nil, fmt.Errorf("watching %s: %w", kind, err)
		}
		go o.follow(ctx, hub, kind, watcher)
	}
	return o, nil
}

// follow notes the events of a watch, and takes it up again where it ended.
func (o *observer) follow(ctx context.Context, hub client.WithWatch, kind string, watcher watch.Interface) {
	version := ""
	for {
		for event := range watcher.ResultChan() {
			object, ok := event.Object.(*metav1.PartialObjectMetadata)
			if !ok {
				o.fail(fmt.Errorf("watching %s: %v", kind, event.Object))
				return
			}
			version = object.ResourceVersion
			o.note(kind, event.Type, object)
		}
		if ctx.Err() != nil {
			return
		}
		list := &metav1.PartialObjectMetadataList{}
		list.SetGroupVersionKind(groupOf(kind).WithKind(kind + "List"))
		var err error
		if watcher, err = hub.Watch(ctx, list, &client.ListOptions{Raw: &metav1.ListOptions{ResourceVersion: version}}); err != nil {
			o.fail(fmt.Errorf("watching %s again: %w", kind, err))
			return
		}
	}
}

func (o *observer) note(kind string, verb watch.EventType, object *metav1.PartialObjectMetadata) {
	key := types.NamespacedName{Namespace: object.Namespace, Name: object.Name}
	placement := key
	if kind == decisionKind {
		placement.Name = object.Labels[clusterv1beta1.PlacementLabel]
	}
	noted := change{at: time.Now(), kind: kind, verb: verb, key: key, placement: placement}
	o.mu.Lock()
	defer o.mu.Unlock()
	if kind == clusterKind {
		requests := len(clusterrequest.RequestUIDs(&openmcpv1alpha1.Cluster{ObjectMeta: object.ObjectMeta}))
		noted.joined, o.requests[key] = requests-o.requests[key], requests
	}
	o.changes = append(o.changes, noted)
	close(o.news)
	o.news = make(chan struct{})
}

func (o *observer) fail(err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.failed = err
	close(o.news)
	o.news = make(chan struct{})
}

// mark is the present moment, for since and await.
func (o *observer) mark() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.changes)
}

// since are the changes after a mark. What is returned must not be changed.
func (o *observer) since(mark int) []change {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.changes[mark:len(o.changes):len(o.changes)]
}

// await hands every change after a mark to a function, once and in order, until it is done.
func (o *observer) await(ctx context.Context, mark int, done func(change) bool) error {
	for {
		o.mu.Lock()
		fresh, news, err := o.changes[mark:], o.news, o.failed
		o.mu.Unlock()
		if err != nil {
			return err
		}
		if slices.ContainsFunc(fresh, done) {
			return nil
		}
		mark += len(fresh)
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-news:
		}
	}
}

// settle waits until a program is quiet, and returns since when: nothing that is watched was written from then on, and hardly anything
// computed.
func (o *observer) settle(ctx context.Context, p *process) (time.Time, error) {
	since, last := time.Now(), time.Duration(-1)
	seen := o.mark()
	looked := since
	working := false // at the last look
	err := poll(ctx, busyInterval, func() (bool, error) {
		spent, err := p.cpu()
		now := time.Now()
		if mark := o.mark(); mark > seen {
			seen, since = mark, now
		}
		works := last >= 0 && (spent-last).Seconds() > busy*now.Sub(looked).Seconds()
		if works && working {
			since = now
		}
		last, looked, working = spent, now, works
		return now.Sub(since) > calm, err
	})
	return since, err
}

// writes counts changes by kind and verb.
type writes map[string]int

// count names the changes as requests do, without those that are none of the hub's: Placements and ClusterRequests that are created or
// deleted, and changes of Clusters that concern no request.
func count(changes []change) writes {
	verbs := map[watch.EventType]string{watch.Added: "create", watch.Modified: "patch", watch.Deleted: "delete"}
	counts := writes{}
	for _, c := range changes {
		if c.byHub() {
			counts[verbs[c.verb]+" "+c.kind]++
		}
	}
	return counts
}

func (c change) byHub() bool {
	switch c.kind {
	case placementKind, requestKind:
		return c.verb == watch.Modified
	case clusterKind:
		return c.joined != 0
	default:
		return true
	}
}

func (w writes) total() int {
	total := 0
	for _, n := range w {
		total += n
	}
	return total
}

// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/placement-hub/placement-hub/pkg/argocdrefresh"
	"github.com/placement-hub/placement-hub/pkg/hub/objects"
	"github.com/placement-hub/placement-hub/pkg/metrics"
)

const (
	// ProofInterval is how often the process asks whether it has too many rights.
	ProofInterval = time.Hour
	// proofRetry is how long it waits after a question that was not answered.
	proofRetry = 10 * time.Second
	// DefaultInterval is the shortest time between two refreshes of one ApplicationSet, unless a flag says otherwise.
	DefaultInterval = 10 * time.Second
)

// NewPace returns the pace with the shortest time between two refreshes of one ApplicationSet.
func NewPace(interval time.Duration) argocdrefresh.Pace {
	return argocdrefresh.Pace{
		Gather: 500 * time.Millisecond, Interval: interval, Spacing: 100 * time.Millisecond, Retry: time.Second, MaxRetry: 5 * time.Minute,
	}
}

// Settings configure the controller.
type Settings struct {
	// Namespace is that of Argo CD.
	Namespace string
	// Pace says how often ApplicationSets are refreshed.
	Pace argocdrefresh.Pace
	// Clock is the time.
	Clock clock.Clock
}

// controller follows one namespace.
type controller struct {
	Settings

	cache  cache.Cache
	reader client.Reader
	writer client.Client
	// changed has an item when the refresher may have something due.
	changed chan struct{}

	mu        sync.Mutex
	refresher *argocdrefresh.Refresher
	// names are the ApplicationSets of the namespace.
	names map[string]bool
	// isProven is the answer to the last question whether the process has too many rights, and askAt is when it asks again.
	isProven bool
	askAt    time.Time
}

// Setup adds the controller to a manager whose cache has the namespace alone.
func Setup(mgr manager.Manager, settings Settings) error {
	c := &controller{
		Settings: settings, cache: mgr.GetCache(), reader: mgr.GetAPIReader(), writer: mgr.GetClient(), changed: make(chan struct{}, 1),
		refresher: argocdrefresh.New(settings.Pace), names: map[string]bool{},
	}
	if err := mgr.Add(c); err != nil {
		return fmt.Errorf("adding the controller of refreshes: %w", err)
	}
	return nil
}

// Start follows the objects until ctx ends. It returns an error that is ErrTooManyRights if the account of the process has too many rights.
func (c *controller) Start(ctx context.Context) error {
	decisions, err := c.cache.GetInformer(ctx, &clusterv1beta1.PlacementDecision{}, cache.BlockUntilSynced(false))
	if err != nil {
		return fmt.Errorf("watching PlacementDecisions in %s: %w", c.Namespace, err)
	}
	decisionsHandled, err := decisions.AddEventHandler(objects.On(c.decisionChanged, c.decisionDeleted))
	if err != nil {
		return fmt.Errorf("listening to PlacementDecisions: %w", err)
	}
	sets, err := c.cache.GetInformer(ctx, emptyApplicationSet("", ""), cache.BlockUntilSynced(false))
	if err != nil {
		return fmt.Errorf("watching ApplicationSets in %s: %w", c.Namespace, err)
	}
	setsHandled, err := sets.AddEventHandler(objects.On(c.setChanged, c.setDeleted))
	if err != nil {
		return fmt.Errorf("listening to ApplicationSets: %w", err)
	}
	if toolscache.WaitForCacheSync(ctx.Done(), decisionsHandled.HasSynced, setsHandled.HasSynced) {
		klog.FromContext(ctx).Info("Following ApplicationSets and PlacementDecisions", "namespace", c.Namespace)
	}
	for ctx.Err() == nil {
		wait, err := c.work(ctx)
		if err != nil {
			return err
		}
		c.sleep(ctx, wait)
	}
	return nil
}

// sleep waits for a change, for a time unless it is 0, or for the end of ctx.
func (c *controller) sleep(ctx context.Context, wait time.Duration) {
	var after <-chan time.Time
	if wait > 0 {
		timer := c.Clock.NewTimer(wait)
		defer timer.Stop()
		after = timer.C()
	}
	select {
	case <-ctx.Done():
	case <-c.changed:
	case <-after:
	}
}

// update changes the state, and wakes the loop.
func (c *controller) update(change func(now time.Time)) {
	c.mu.Lock()
	change(c.Clock.Now())
	metrics.ArgoCDRefreshHeld.Set(float64(c.refresher.Held()))
	c.mu.Unlock()
	select {
	case c.changed <- struct{}{}:
	default:
	}
}

func (c *controller) decisionChanged(_, after *clusterv1beta1.PlacementDecision, initial bool) {
	c.update(func(now time.Time) {
		if initial {
			c.refresher.Base(decisionOf(after))
			return
		}
		c.refresher.SetDecision(decisionOf(after), now)
	})
}

func (c *controller) decisionDeleted(last *clusterv1beta1.PlacementDecision) {
	c.update(func(now time.Time) { c.refresher.DeleteDecision(last.Name, now) })
}

func (c *controller) setChanged(_, after *unstructured.Unstructured, _ bool) {
	c.update(func(now time.Time) {
		c.names[after.GetName()] = true
		c.refresher.SetApplicationSet(argocdrefresh.Read(after), now)
	})
}

func (c *controller) setDeleted(last *unstructured.Unstructured) {
	c.update(func(time.Time) {
		delete(c.names, last.GetName())
		c.refresher.DeleteApplicationSet(last.GetName())
	})
}

// work proves the rights if that is due, carries out one refresh if one is due, and returns how long nothing is due, 0 for until a change.
func (c *controller) work(ctx context.Context) (time.Duration, error) {
	wait, isProven, err := c.proveWhenDue(ctx)
	if err != nil || !isProven {
		return wait, err
	}
	c.mu.Lock()
	refresh, at, due := c.refresher.Next(c.Clock.Now())
	c.mu.Unlock()
	if !due {
		if !at.IsZero() {
			wait = min(wait, at.Sub(c.Clock.Now()))
		}
		return max(wait, time.Millisecond), nil
	}
	outcome, err := c.refresh(ctx, refresh)
	if err != nil {
		klog.FromContext(ctx).Error(err, "The refresh of an ApplicationSet failed and is tried again",
			"applicationSet", klog.KRef(c.Namespace, refresh.Name))
	}
	c.update(func(now time.Time) { c.refresher.Done(refresh, outcome, now) })
	return time.Millisecond, nil
}

// refresh carries out one refresh.
func (c *controller) refresh(ctx context.Context, refresh argocdrefresh.Refresh) (argocdrefresh.Outcome, error) {
	isConcerned, err := c.isConcerned(ctx, refresh)
	if err == nil && !isConcerned {
		return argocdrefresh.NotConcerned, nil
	}
	if err == nil {
		err = c.annotate(ctx, refresh)
	}
	switch {
	case apierrors.IsConflict(err):
		metrics.ArgoCDRefreshOutdated.Inc()
		return argocdrefresh.Failed, nil
	case err != nil:
		metrics.ArgoCDRefreshError.Inc()
		return argocdrefresh.Failed, err
	}
	metrics.ArgoCDRefreshOK.Inc()
	klog.FromContext(ctx).V(2).Info("Refreshed an ApplicationSet", "applicationSet", klog.KRef(c.Namespace, refresh.Name))
	return argocdrefresh.Refreshed, nil
}

// proveWhenDue proves the rights if ProofInterval has passed, and returns how long the proof holds, and whether there is one. Without an
// ApplicationSet there is nothing to prove it by, and nothing to refresh.
func (c *controller) proveWhenDue(ctx context.Context) (time.Duration, bool, error) {
	c.mu.Lock()
	now, name := c.Clock.Now(), ""
	for candidate := range c.names {
		if name == "" || candidate < name {
			name = candidate
		}
	}
	c.mu.Unlock()
	if name == "" {
		return 0, false, nil
	}
	if left := c.askAt.Sub(now); left > 0 {
		return left, c.isProven, nil
	}
	err := c.prove(ctx, name)
	c.isProven = err == nil
	switch {
	case errors.Is(err, ErrTooManyRights):
		return 0, false, err
	case err != nil:
		klog.FromContext(ctx).Error(err, "No ApplicationSet is refreshed until the API server answers", "askedAgainIn", proofRetry)
		c.askAt = now.Add(proofRetry)
		return proofRetry, false, nil
	}
	klog.FromContext(ctx).Info("The API server refuses this process to write spec of ApplicationSets, as it should",
		"applicationSet", klog.KRef(c.Namespace, name), "askedAgainIn", ProofInterval)
	c.askAt = now.Add(ProofInterval)
	return ProofInterval, true, nil
}

// SPDX-License-Identifier: Apache-2.0

package recorder

import (
	"context"
	"fmt"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/placement-hub/placement-hub/pkg/history"
	"github.com/placement-hub/placement-hub/pkg/history/archive"
	"github.com/placement-hub/placement-hub/pkg/history/changes"
	"github.com/placement-hub/placement-hub/pkg/hub/objects"
	"github.com/placement-hub/placement-hub/pkg/hub/sharedinventory"
	"github.com/placement-hub/placement-hub/pkg/inventory"
	"github.com/placement-hub/placement-hub/pkg/placement/api"
)

// restoreTimeout bounds the time before the informers are listened to.
const restoreTimeout = 10 * time.Second

// Recorder records the history of the decisions of a hub. A nil Recorder records nothing. It is safe for concurrent use.
type Recorder struct {
	rows    *history.Ring
	changes *changes.Log
	fields  *fields

	// archive keeps rows in the namespace configMaps, in at most archiveBytes of memory; nil if nothing does.
	archive      *archive.Archive
	configMaps   string
	archiveBytes int

	namespaces *namespaces
	shared     *sharedinventory.Shared
	informers  client.Reader
	elected    <-chan struct{}

	mu sync.Mutex
	// pages are the PlacementDecisions of each Placement by name, as the caches have them, and the works of each delivered object by cluster.
	pages  map[inventory.Key]map[string]part
	rounds map[inventory.Key]*round
	// wake receives a value when a round has begun or ended, so that the loop looks at the rounds.
	wake chan struct{}
}

// New returns a Recorder that takes at most a number of bytes; nil if it is 0. With a namespace its rows are in ConfigMaps there, too.
func New(bytes int, configMaps string) *Recorder {
	if bytes <= 0 {
		return nil
	}
	r := &Recorder{
		pages: map[inventory.Key]map[string]part{}, rounds: map[inventory.Key]*round{}, wake: make(chan struct{}, 1), configMaps: configMaps,
	}
	if configMaps != "" {
		r.archiveBytes = min(archive.MaxBytes, bytes/4)
	}
	r.rows, r.changes, r.fields = shareOf(bytes - r.archiveBytes)
	return r
}

// Find returns the rows that a Query selects, oldest first, and whether the limit has left some out.
func (r *Recorder) Find(query history.Query) ([]*history.Move, bool) { return r.rows.Find(query) }

// Leads reports whether this process evaluates.
func (r *Recorder) Leads() bool {
	select {
	case <-r.elected:
		return true
	default:
		return false
	}
}

// Transform returns a transform of caches that takes the managedFields of the kinds that decisions depend on aside before next drops them. The caches
// must be those of the manager of Setup.
func (r *Recorder) Transform(next toolscache.TransformFunc) toolscache.TransformFunc {
	if r == nil {
		return next
	}
	return func(in any) (any, error) {
		if object, is := in.(metav1.Object); is && changes.Known(object) && len(object.GetManagedFields()) > 0 {
			r.fields.put(object)
		}
		return next(in)
	}
}

// Setup has the manager record the decisions of Placements of some APIs, on every replica, with the inventory of the controllers.
func (r *Recorder) Setup(mgr manager.Manager, shared *sharedinventory.Shared, served []api.Adapter) error {
	if r == nil || len(served) == 0 {
		return nil
	}
	live, err := objects.NewLiveClient(mgr)
	if err != nil {
		return err
	}
	r.namespaces, r.shared, r.informers, r.elected = newNamespaces(live), shared, mgr.GetCache(), mgr.Elected()
	if err := mgr.Add(&recording{r, mgr.GetCache(), served}); err != nil {
		return fmt.Errorf("adding the history: %w", err)
	}
	if r.configMaps == "" {
		return nil
	}
	r.archive = archive.New(live, r.configMaps, r.archiveBytes)
	if err := mgr.Add(manager.RunnableFunc(r.archiveRows)); err != nil { // It runs on the leader alone.
		return fmt.Errorf("adding the history in ConfigMaps: %w", err)
	}
	return nil
}

// archiveRows writes rows to ConfigMaps until ctx ends.
func (r *Recorder) archiveRows(ctx context.Context) error {
	r.archive.Run(ctx, func(stored []*history.Move) {
		for _, missing := range r.merge(stored) {
			r.archiveRow(ctx, missing)
		}
	})
	return nil
}

// archiveRow has a row written to a ConfigMap.
func (r *Recorder) archiveRow(ctx context.Context, row *history.Move) {
	if r.archive == nil || !r.Leads() {
		return
	}
	if err := r.archive.Add(row); err != nil {
		klog.FromContext(ctx).Error(err, "A row of the history is not kept in a ConfigMap")
	}
}

// merge adds rows that were stored, and returns those that were not.
func (r *Recorder) merge(stored []*history.Move) (missing []*history.Move) {
	r.rows.Replace(func(own []*history.Move) (all []*history.Move) {
		all, missing = archive.Merge(stored, own)
		return all
	})
	return missing
}

// restore adds the rows that were stored before this process started.
func (r *Recorder) restore(ctx context.Context) {
	if r.archive == nil {
		return
	}
	reading, cancel := context.WithTimeout(ctx, restoreTimeout)
	defer cancel()
	stored, err := r.archive.Load(reading)
	if err != nil {
		klog.FromContext(ctx).Error(err, "The history begins without what is in ConfigMaps until this process leads")
		return
	}
	r.merge(stored)
}

// recording records while a manager runs.
type recording struct {
	*Recorder

	cache  cache.Cache
	served []api.Adapter
}

var _ manager.LeaderElectionRunnable = (*recording)(nil)

// NeedLeaderElection returns false: it runs on every replica.
func (*recording) NeedLeaderElection() bool { return false }

// Start registers the event handlers, and turns rounds into rows until ctx ends. What was stored is read after that: decisions that are made
// meanwhile would count as those that were there before.
func (r *recording) Start(ctx context.Context) error {
	for _, kind := range inventory.Kinds() {
		if object, is := kind.New().(client.Object); is {
			if err := r.listen(ctx, object, r.changesOf()); err != nil {
				return err
			}
		}
	}
	for _, adapter := range r.served {
		if err := r.listen(ctx, adapter.Empty(), r.changesOf()); err != nil {
			return err
		}
		if err := r.listen(ctx, adapter.Codec().Empty(), r.decisionsOf(adapter)); err != nil {
			return err
		}
	}
	r.restore(ctx)
	r.loop(ctx)
	return nil
}

func (r *recording) listen(ctx context.Context, object client.Object, handler toolscache.ResourceEventHandler) error {
	informer, err := r.cache.GetInformer(ctx, object, cache.BlockUntilSynced(false))
	if err != nil {
		return fmt.Errorf("watching %T for the history: %w", object, err)
	}
	if _, err := informer.AddEventHandler(handler); err != nil {
		return fmt.Errorf("listening to %T for the history: %w", object, err)
	}
	return nil
}

// changesOf returns the event handler of a kind that decisions depend on.
func (r *Recorder) changesOf() toolscache.ResourceEventHandler {
	return objects.On(func(before, after client.Object, initial bool) { r.observe(before, after, initial, time.Now) },
		func(last client.Object) {
			r.fields.forget(last.GetUID())
			r.note(changes.Between(last, nil), time.Now())
		})
}

// observe notes the changes of an object.
func (r *Recorder) observe(before, after client.Object, initial bool, now func() time.Time) {
	entries, last := r.fields.take(after)
	if initial {
		return
	}
	var found []changes.Change
	if before == nil {
		found = changes.Between(nil, after)
	} else {
		found = changes.Between(before, after)
	}
	if len(found) == 0 {
		return
	}
	changes.SetManagers(found, entries, last)
	r.note(found, now())
}

func (r *Recorder) note(found []changes.Change, now time.Time) {
	for i := range found {
		found[i].Time = now
	}
	r.changes.Add(found)
}

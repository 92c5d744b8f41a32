// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/clusterrequest"
	"github.com/placement-hub/placement-hub/pkg/hub/consistency"
	"github.com/placement-hub/placement-hub/pkg/hub/objects"
)

// maxTries is how often the choices of a Cluster are sent while writes of others conflict with them.
const maxTries = 5

// ledger has the Catalog with the choices that are not written yet. It is safe for concurrent use.
type ledger struct {
	live   client.Reader
	writer client.Client

	mu      sync.Mutex // guards the fields below, and is never held while a request is sent
	catalog *clusterrequest.Catalog
	entries map[types.NamespacedName]*entry
	refused map[types.NamespacedName]bool // requests that a change of other objects may help
}

// entry is a Cluster in the ledger.
type entry struct {
	// stored is the latest state of the API server that is known. Nil if there is none.
	stored *openmcpv1alpha1.Cluster
	// wanted is stored with the choices and releases that are not written yet. It is the same pointer if there are none.
	wanted *openmcpv1alpha1.Cluster

	writing sync.Mutex // held during a write of the Cluster; locked before the ledger
}

func newLedger(live client.Reader, writer client.Client, options clusterrequest.Options) *ledger {
	return &ledger{
		live: live, writer: writer, catalog: clusterrequest.NewCatalog(options), entries: map[types.NamespacedName]*entry{},
		refused: map[types.NamespacedName]bool{},
	}
}

// change changes the Catalog in a way that helps no refused request.
func (l *ledger) change(change func(*clusterrequest.Catalog)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	change(l.catalog)
}

// update changes the Catalog, and returns the requests that the change may help.
func (l *ledger) update(change func(*clusterrequest.Catalog)) []types.NamespacedName {
	l.mu.Lock()
	defer l.mu.Unlock()
	change(l.catalog)
	return slices.Collect(maps.Keys(l.refused))
}

// setCluster takes a state of a Cluster, and reports whether it is news.
func (l *ledger) setCluster(cluster *openmcpv1alpha1.Cluster) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	e := l.entry(client.ObjectKeyFromObject(cluster))
	if e.stored != nil && !consistency.Later(cluster, e.stored, true) {
		return false
	}
	l.rebase(e, cluster, e.stored)
	return true
}

// deleteCluster takes that a Cluster is gone, unless there is another one of its name.
func (l *ledger) deleteCluster(key types.NamespacedName, uid types.UID) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if e, found := l.entries[key]; found && e.stored != nil && e.stored.UID == uid {
		e.stored = nil
		l.takeBack(key, e)
	}
}

// decide decides on a request, and counts what it chooses. A choice is counted only if the caller has verified that the API server has no
// Grant: the decision says what would be chosen otherwise.
func (l *ledger) decide(request *openmcpv1alpha1.ClusterRequest, now metav1.Time, verified bool) clusterrequest.Decision {
	l.mu.Lock()
	defer l.mu.Unlock()
	decision := l.catalog.Decide(request, now)
	key := client.ObjectKeyFromObject(request)
	if decision.Outcome == clusterrequest.OutcomeRefused {
		l.refused[key] = true
	} else {
		delete(l.refused, key)
	}

	if decision.Cluster != nil && (verified || decision.Outcome != clusterrequest.OutcomeChosen) {
		l.want(decision.Cluster)
	}
	return decision
}

// waits notes that a change of other objects may help a request.
func (l *ledger) waits(request types.NamespacedName) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.refused[request] = true
}

// forget drops a request that is gone or being deleted.
func (l *ledger) forget(request types.NamespacedName) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.refused, request)
}

// release returns what is to be done for a request that is being deleted.
func (l *ledger) release(request *openmcpv1alpha1.ClusterRequest) clusterrequest.Release {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.catalog.Release(request)
}

// grantsOn returns the requests whose Grants name a Cluster.
func (l *ledger) grantsOn(cluster types.NamespacedName) []types.NamespacedName {
	l.mu.Lock()
	defer l.mu.Unlock()
	return keysOf(l.catalog.GrantsOn(cluster))
}

// keysOf returns the keys of objects, in their order.
func keysOf[T client.Object](objects []T) []types.NamespacedName {
	keys := make([]types.NamespacedName, len(objects))
	for i, object := range objects {
		keys[i] = client.ObjectKeyFromObject(object)
	}
	return keys
}

// cluster returns a Cluster with what is not written yet; nil if there is none.
func (l *ledger) cluster(key types.NamespacedName) *openmcpv1alpha1.Cluster {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.catalog.Cluster(key)
}

// write sends the choices and releases of a Cluster that are not written yet, and returns its state. If it fails, all of them are taken
// back, and the latest state is read. A conflict with a write that changed nothing that choices depend on, such as one of the provider, is no
// failure: the choices are sent again over the latest state.
func (l *ledger) write(ctx context.Context, key types.NamespacedName) (*openmcpv1alpha1.Cluster, error) {
	l.mu.Lock()
	e := l.entry(key)
	l.mu.Unlock()

	e.writing.Lock()
	defer e.writing.Unlock()
	for tries := 1; ; tries++ {
		l.mu.Lock()
		stored, wanted := e.stored, e.wanted
		l.mu.Unlock()
		if wanted == nil || wanted == stored {
			return stored, nil
		}

		written, err := l.send(ctx, stored, wanted)
		if err == nil {
			l.confirm(key, e, written, wanted)
			return written, nil
		}
		if apierrors.IsConflict(err) && tries < maxTries && l.read(ctx, key) == nil && l.holds(key, e, stored) {
			continue
		}

		l.mu.Lock()
		if l.entries[key] == e {
			l.takeBack(key, e)
		}
		l.mu.Unlock()
		if readErr := l.read(ctx, key); readErr != nil {
			return nil, readErr
		}
		return nil, err
	}
}

// confirm takes the response to a write. The watch may have been faster, with this state, a later one, or the end of the Cluster.
func (l *ledger) confirm(key types.NamespacedName, e *entry, written, wanted *openmcpv1alpha1.Cluster) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.entries[key] == e && (e.stored == nil || consistency.Later(written, e.stored, true)) {
		l.rebase(e, written, wanted)
	}
}

// holds reports whether choices of a Cluster in a former state hold in the present one: it is the same Cluster with the same spec and the same
// requests, and is not being deleted. So a choice never takes a slot that another write has taken.
func (l *ledger) holds(key types.NamespacedName, e *entry, former *openmcpv1alpha1.Cluster) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := e.stored
	if l.entries[key] != e || now == nil || former == nil {
		return false
	}
	return now.UID == former.UID && now.DeletionTimestamp.Equal(former.DeletionTimestamp) && equality.Semantic.DeepEqual(now.Spec, former.Spec) &&
		slices.Equal(clusterrequest.RequestUIDs(now), clusterrequest.RequestUIDs(former)) &&
		now.Annotations[openmcpv1alpha1.PrefixesAnnotation] == former.Annotations[openmcpv1alpha1.PrefixesAnnotation]
}

// send creates or patches a Cluster, and returns the new state.
func (l *ledger) send(ctx context.Context, stored, wanted *openmcpv1alpha1.Cluster) (*openmcpv1alpha1.Cluster, error) {
	written := wanted.DeepCopy()
	if stored == nil {
		err := l.writer.Create(ctx, written)
		switch {
		case apierrors.IsNotFound(err):
			return nil, fmt.Errorf("creating Cluster %s: %w: create the namespace, or name another one in --shared-clusters-namespace or in "+
				"spec.clusterTemplate.namespace of the Purpose", client.ObjectKeyFromObject(wanted), err)
		case err != nil:
			return nil, fmt.Errorf("creating Cluster %s: %w", client.ObjectKeyFromObject(wanted), err)
		}
		return written, nil
	}

	if err := objects.Patch(ctx, l.writer, stored, written); err != nil {
		return nil, fmt.Errorf("writing the requests of Cluster %s: %w", client.ObjectKeyFromObject(wanted), err)
	}
	return written, nil
}

// leave removes the finalizers of requests from a Cluster.
func (l *ledger) leave(ctx context.Context, key types.NamespacedName, requests ...types.UID) error {
	l.mu.Lock()
	if cluster := l.catalog.Cluster(key); cluster != nil {
		l.want(clusterrequest.Leave(cluster, requests...))
	}
	l.mu.Unlock()
	_, err := l.write(ctx, key)
	return err
}

// remove deletes a Cluster unless it is another one meanwhile or has changed, and reads what has become of it.
func (l *ledger) remove(ctx context.Context, cluster *openmcpv1alpha1.Cluster) error {
	key := client.ObjectKeyFromObject(cluster)
	preconditions := client.Preconditions{UID: &cluster.UID, ResourceVersion: &cluster.ResourceVersion}
	err := l.writer.Delete(ctx, cluster, preconditions)
	if readErr := l.read(ctx, key); readErr != nil {
		return readErr
	}
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("deleting Cluster %s: %w", key, err)
	}
	return nil
}

// read takes the state of a Cluster that the API server has.
func (l *ledger) read(ctx context.Context, key types.NamespacedName) error {
	cluster := &openmcpv1alpha1.Cluster{}

	err := l.live.Get(ctx, key, cluster)
	if apierrors.IsNotFound(err) {
		l.mu.Lock()
		defer l.mu.Unlock()
		if e, found := l.entries[key]; found {
			e.stored = nil
			l.takeBack(key, e)
		}
		return nil
	}

	if err != nil {
		return fmt.Errorf("reading Cluster %s: %w", key, err)
	}
	l.setCluster(cluster)
	return nil
}

// entry returns the entry of a Cluster, and makes it where there is none.
func (l *ledger) entry(key types.NamespacedName) *entry {
	e, found := l.entries[key]
	if !found {
		e = &entry{}
		l.entries[key] = e
	}
	return e
}

// want counts a change of the requests of a Cluster.
func (l *ledger) want(cluster *openmcpv1alpha1.Cluster) {
	e := l.entry(client.ObjectKeyFromObject(cluster))
	if e.wanted != nil && sameRequests(e.wanted, cluster) {
		return
	}
	e.wanted = cluster
	l.catalog.SetCluster(cluster)
}

// rebase takes a new state of a Cluster, and keeps what is wanted beyond a former state.
func (l *ledger) rebase(e *entry, cluster, former *openmcpv1alpha1.Cluster) {
	wanted := cluster
	if e.wanted != nil && e.wanted != former {
		if wanted = clusterrequest.Rebase(cluster, former, e.wanted); sameRequests(wanted, cluster) {
			wanted = cluster
		}
	}
	e.stored, e.wanted = cluster, wanted
	l.catalog.SetCluster(wanted)
}

// takeBack drops what is wanted beyond the stored state.
func (l *ledger) takeBack(key types.NamespacedName, e *entry) {
	e.wanted = e.stored
	if e.stored != nil {
		l.catalog.SetCluster(e.stored)
		return
	}
	l.catalog.DeleteCluster(key)
	delete(l.entries, key)
}

// sameRequests reports whether two states of a Cluster have the same finalizers and prefixes.
func sameRequests(a, b *openmcpv1alpha1.Cluster) bool {
	return slices.Equal(a.Finalizers, b.Finalizers) &&
		a.Annotations[openmcpv1alpha1.PrefixesAnnotation] == b.Annotations[openmcpv1alpha1.PrefixesAnnotation]
}

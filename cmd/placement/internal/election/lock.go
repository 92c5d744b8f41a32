// SPDX-License-Identifier: Apache-2.0

package election

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/uuid"
	coordinationv1client "k8s.io/client-go/kubernetes/typed/coordination/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"sigs.k8s.io/controller-runtime/pkg/manager"
)

const (
	// acquirePeriod is how often a standby looks at the lease. client-go adds up to 120 % of jitter, so a released lease is
	// taken within 2.2 s, and that of a dead leader as soon as it has expired.
	acquirePeriod = time.Second
	// renewalOverdue is how long a leader may outlive its lease before its liveness probe fails, as in kube-controller-manager.
	renewalOverdue = 20 * time.Second
	// leaseRequestTimeout keeps one hung request from eating the renew deadline.
	leaseRequestTimeout = 10 * time.Second
)

// Lock separates two actions that client-go's elector does once per retry period: a standby reads the lease and the leader renews it. The
// elector runs with the short acquirePeriod; this lock sends the renewals of the leader only once per period
// (--leader-election-retry-period) and drops the others, which would only move the renewal time.
//
// That is as safe as the elector alone. A renewal is dropped only while our own last write is younger than period, exactly the time for
// which the plain elector would sleep; the first due renewal that fails starts the renew deadline. So we may believe to lead at most until
// period + acquirePeriod + renew deadline after the last write that others saw. Reads are never served from memory, and a write with any
// other change, such as the release, is always sent.
//
// The elector of controller-runtime's manager is client-go's without such a lock. With the retry period of two seconds a standby takes a
// released lease after up to 4.4 s, and with acquirePeriod the leader would write the lease every second.
type Lock struct {
	resourcelock.Interface
	period        time.Duration
	leaseDuration time.Duration
	// overdueAfter is how long after its last renewal a lease counts as overdue.
	overdueAfter time.Duration
	attempted    chan struct{}
	// process is the context of the process. After a signal to stop it is done, and the lock acquires no lease.
	process  context.Context //nolint:containedctx // The contexts of the elector outlive it.
	recorder *lateRecorder   // nil for a lock without events

	mu        sync.Mutex
	firstTry  sync.Once
	holding   bool
	lastWrite time.Time
	// former is the time of the last renewal that a read of the lease has shown while another process, or none, held it.
	former time.Time
	// renewal is the last one that is known, by any process, and overdueLogged whether the log has that it is overdue.
	renewal       renewal
	overdueLogged bool
}

func newLock(process context.Context, inner resourcelock.Interface, o Options) *Lock {
	return &Lock{
		process: process, Interface: inner, period: o.renewalPeriod(), leaseDuration: o.LeaseDuration, overdueAfter: o.overdueAfter(),
		attempted: make(chan struct{}),
	}
}

// newLeaseLock makes the lock for the Lease namespace/name.
func newLeaseLock(process context.Context, config *rest.Config, o Options) (*Lock, error) {
	hostname, err := os.Hostname()
	if err != nil {
		return nil, fmt.Errorf("naming this process in the lease: %w", err)
	}
	// The timeout is for the lease alone: in the shared config it would end every watch.
	config = rest.AddUserAgent(rest.CopyConfig(config), "leader-election")
	config.Timeout = min(leaseRequestTimeout, o.RenewDeadline)
	leases, err := coordinationv1client.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("making the client for lease %s/%s: %w", o.Namespace, o.Name, err)
	}
	recorder := &lateRecorder{}
	lock := newLock(process, &resourcelock.LeaseLock{
		LeaseMeta: metav1.ObjectMeta{Namespace: o.Namespace, Name: o.Name},
		Client:    leases,
		LockConfig: resourcelock.ResourceLockConfig{
			Identity:      hostname + "_" + string(uuid.NewUUID()),
			EventRecorder: recorder,
		},
	}, o)
	lock.recorder = recorder
	return lock, nil
}

// RecordThrough sends events about the lease through the manager, which is made after the lock and started after this call. A nil lock has
// no events.
func (l *Lock) RecordThrough(mgr manager.Manager) {
	if l != nil {
		l.recorder.manager = mgr
	}
}

// Attempted returns a channel that is closed by the first read of the lease: the manager has then started all runnables of a standby.
func (l *Lock) Attempted() <-chan struct{} { return l.attempted }

// Get reads the lease. The first call closes the channel of Attempted.
func (l *Lock) Get(ctx context.Context) (*resourcelock.LeaderElectionRecord, []byte, error) {
	l.firstTry.Do(func() { close(l.attempted) })
	record, raw, err := l.Interface.Get(ctx)
	if err != nil {
		return nil, nil, fmt.Errorf("reading lease %s: %w", l.Describe(), err)
	}
	if record.HolderIdentity != l.Identity() {
		l.wrote(time.Time{}, false)
		l.sawRenewal(record.RenewTime.Time)
		l.observe(record, time.Now())
	}
	return record, raw, nil
}

// Create creates the lease.
func (l *Lock) Create(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	at := time.Now()
	ctx, err := l.acquiring(ctx)
	if err != nil {
		return fmt.Errorf("creating lease %s: %w", l.Describe(), err)
	}
	if err := l.Interface.Create(ctx, record); err != nil {
		return fmt.Errorf("creating lease %s: %w", l.Describe(), err)
	}
	l.wrote(at, true)
	return nil
}

// Update writes the lease, unless the record merely renews it and renewing is not due.
func (l *Lock) Update(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	mine := record.HolderIdentity == l.Identity()
	at := time.Now()
	if mine && l.renewed(at) {
		return nil
	}
	if mine && !l.holds() {
		var err error
		if ctx, err = l.acquiring(ctx); err != nil {
			return fmt.Errorf("acquiring lease %s: %w", l.Describe(), err)
		}
	}
	if err := l.Interface.Update(ctx, record); err != nil {
		return fmt.Errorf("updating lease %s: %w", l.Describe(), err)
	}
	l.wrote(at, mine)
	return nil
}

// acquiring returns the context of a write that acquires the lease; an error if ctx or the process is ending. The write itself does not end
// with ctx: a process that does not wait for the response does not know whether it holds the lease, and would not release it. The timeout of
// the client bounds it.
func (l *Lock) acquiring(ctx context.Context) (context.Context, error) {
	for _, ending := range []context.Context{ctx, l.process} {
		if err := ending.Err(); err != nil {
			return nil, err
		}
	}
	return context.WithoutCancel(ctx), nil
}

func (l *Lock) holds() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.holding
}

func (l *Lock) renewed(now time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.holding && now.Sub(l.lastWrite) < l.period
}

// wrote records the time before the request was sent: no other process can have seen the lease earlier.
func (l *Lock) wrote(at time.Time, holding bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lastWrite, l.holding = at, holding
	if holding {
		l.renewedHere(at)
	}
}

func (l *Lock) sawRenewal(at time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.former = at
}

// FormerRenewal returns when the lease was renewed last before this process has acquired it, or released; zero if it did not exist. A nil lock
// knows of no former leader.
func (l *Lock) FormerRenewal() time.Time {
	if l == nil {
		return time.Time{}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.former
}

// CheckRenewal is a liveness check: it fails for a leader that neither renews nor ends, and never for a standby.
func (l *Lock) CheckRenewal(*http.Request) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if age := time.Since(l.lastWrite); l.holding && age > l.leaseDuration+renewalOverdue {
		return fmt.Errorf("lease %s was last renewed %v ago", l.Describe(), age.Round(time.Second))
	}
	return nil
}

// lateRecorder lets the lock, which must exist before the manager, record events through the manager.
type lateRecorder struct{ manager manager.Manager }

// Eventf records an event about the lease.
func (r *lateRecorder) Eventf(object runtime.Object, eventType, reason, message string, args ...any) {
	r.manager.GetEventRecorder("placement-controller").Eventf(object, nil, eventType, reason, "LeaderElection", message, args...)
}

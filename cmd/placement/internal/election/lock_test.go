// SPDX-License-Identifier: Apache-2.0

package election

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"

	"github.com/placement-hub/placement-hub/test/expect"
)

// contestant is one process that takes part in an election with the default timing.
type contestant struct {
	lock     *Lock
	stop     context.CancelFunc
	leadFrom chan time.Time
	leadTo   chan time.Time
}

func newContestant(t *testing.T, client *fake.Clientset, name string, changes ...func(*Lock)) *contestant {
	t.Helper()
	o := Defaults()
	ctx, cancel := context.WithCancel(t.Context())
	c := &contestant{
		lock: newLock(ctx, &resourcelock.LeaseLock{
			LeaseMeta:  metav1.ObjectMeta{Namespace: "hub", Name: o.Name},
			Client:     client.CoordinationV1(),
			LockConfig: resourcelock.ResourceLockConfig{Identity: name},
		}, o),
		stop:     cancel,
		leadFrom: make(chan time.Time, 1),
		leadTo:   make(chan time.Time, 1),
	}
	for _, change := range changes {
		change(c.lock)
	}
	elector, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Lock:            c.lock,
		LeaseDuration:   o.LeaseDuration,
		RenewDeadline:   o.RenewDeadline,
		RetryPeriod:     o.electorPeriod(),
		ReleaseOnCancel: true,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(context.Context) { c.leadFrom <- time.Now() },
			OnStoppedLeading: func() { c.leadTo <- time.Now() },
		},
	})
	expect.NoError(t, err)
	go elector.Run(ctx)
	return c
}

// hub is an API server that keeps one lease, counts what is written, and can be cut off from one client.
type hub struct {
	store  *fake.Clientset
	writes atomic.Int32
}

func newHub() *hub { return &hub{store: fake.NewClientset()} }

// client returns a client of the hub whose requests fail while cut is true.
func (h *hub) client(cut *atomic.Bool) *fake.Clientset {
	client := &fake.Clientset{}
	client.AddReactor("*", "leases", func(action clienttesting.Action) (bool, runtime.Object, error) {
		if cut.Load() {
			return true, nil, errors.New("connection lost")
		}
		if action.GetVerb() != "get" {
			h.writes.Add(1)
		}
		object, err := h.store.Invokes(action, nil)
		return true, object, err
	})
	return client
}

func TestReleasedLeaseIsTakenQuickly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHub()
		leader := newContestant(t, h.client(&atomic.Bool{}), "leader")
		<-leader.leadFrom
		standby := newContestant(t, h.client(&atomic.Bool{}), "standby")
		defer standby.stop()
		time.Sleep(10 * time.Minute)
		if len(standby.leadFrom) > 0 {
			t.Fatal("the standby leads beside a healthy leader")
		}

		leader.stop()
		released := <-leader.leadTo
		if wait := (<-standby.leadFrom).Sub(released); wait > 2200*time.Millisecond {
			t.Errorf("the standby took the released lease after %v, want at most 2.2 s", wait)
		}
	})
}

// slowCreation is a lock whose lease is created at once, and whose response to that takes a second.
type slowCreation struct{ resourcelock.Interface }

// Create creates the lease.
func (s slowCreation) Create(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	if err := s.Interface.Create(context.WithoutCancel(ctx), record); err != nil {
		return err
	}
	select {
	case <-time.After(time.Second):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func TestStopWhileTheLeaseIsAcquiredReleasesIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHub()
		leader := newContestant(t, h.client(&atomic.Bool{}), "leader", func(l *Lock) { l.Interface = slowCreation{l.Interface} })
		time.Sleep(time.Second / 2)
		leader.stop()
		<-leader.leadTo
		record, _, err := leader.lock.Get(t.Context())
		expect.NoError(t, err)
		if record.HolderIdentity != "" {
			t.Errorf("%s has stopped and holds the lease", record.HolderIdentity)
		}
	})
}

func TestLeaseIsNotAcquiredAfterTheStop(t *testing.T) {
	h := newHub()
	process, stop := context.WithCancel(t.Context())
	lock := newLock(process, &resourcelock.LeaseLock{
		LeaseMeta: metav1.ObjectMeta{Namespace: "hub", Name: "lock"}, Client: h.client(&atomic.Bool{}).CoordinationV1(),
		LockConfig: resourcelock.ResourceLockConfig{Identity: "late"},
	}, Defaults())
	mine, released := resourcelock.LeaderElectionRecord{HolderIdentity: "late"}, resourcelock.LeaderElectionRecord{}
	expect.NoError(t, lock.Create(t.Context(), mine))
	stop()
	expect.NoError(t, lock.Update(t.Context(), released)) // What it holds can be released.
	for verb, acquire := range map[string]func(context.Context, resourcelock.LeaderElectionRecord) error{
		"create": lock.Create, "update": lock.Update,
	} {
		if err := acquire(t.Context(), mine); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: error %v, want that of the end of the process", verb, err)
		}
	}
	if writes := h.writes.Load(); writes != 2 {
		t.Errorf("the lease was written %d times, want 2", writes)
	}
}

func TestLeaderRenewsOncePerRetryPeriod(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHub()
		leader := newContestant(t, h.client(&atomic.Bool{}), "leader")
		defer leader.stop()
		<-leader.leadFrom
		before := h.writes.Load()
		time.Sleep(26 * time.Minute)
		if writes := h.writes.Load() - before; writes < 56 || writes > 60 {
			t.Errorf("the leader wrote the lease %d times in 26 minutes, want about 60", writes)
		}
		expect.NoError(t, leader.lock.CheckRenewal(nil))
	})
}

func TestCutOffLeaderStopsBeforeTheNextStarts(t *testing.T) {
	// The loss may fall anywhere between two renewals.
	for phase := time.Duration(0); phase < 27*time.Second; phase += 3 * time.Second {
		t.Run(phase.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { cutOffLeader(t, 10*time.Minute+phase) })
		})
	}
}

func cutOffLeader(t *testing.T, after time.Duration) {
	t.Helper()
	h := newHub()
	var cut atomic.Bool
	leader := newContestant(t, h.client(&cut), "leader")
	defer leader.stop()
	<-leader.leadFrom
	standby := newContestant(t, h.client(&atomic.Bool{}), "standby")
	defer standby.stop()
	time.Sleep(after)
	cut.Store(true)
	lost := time.Now()

	stopped, started := <-leader.leadTo, <-standby.leadFrom
	if !stopped.Before(started) {
		t.Errorf("two leaders: the old one stopped %v after the loss, the new one started after %v", stopped.Sub(lost), started.Sub(lost))
	}
	// The standby sees the last renewal up to 2.2 s late, and its end as late again.
	if wait := started.Sub(lost); wait > 142*time.Second {
		t.Errorf("the standby took the lease of a dead leader after %v, want the lease duration of 137 s and little more", wait)
	}
}

func TestLeaseTakenByForceIsNoticed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHub()
		leader := newContestant(t, h.client(&atomic.Bool{}), "leader")
		defer leader.stop()
		<-leader.leadFrom
		// Somebody edits the lease; the leader's optimistic write is then refused, and it must not go on from memory.
		refused := errors.New("the object has been modified")
		h.store.PrependReactor("update", "leases", func(clienttesting.Action) (bool, runtime.Object, error) { return true, nil, refused })
		lease, err := h.store.CoordinationV1().Leases("hub").Get(t.Context(), "placement-lock", metav1.GetOptions{})
		expect.NoError(t, err)
		thief := "thief"
		lease.Spec.HolderIdentity = &thief
		expect.NoError(t, h.store.Tracker().Update(coordinationv1.SchemeGroupVersion.WithResource("leases"), lease, "hub"))

		start := time.Now()
		if held := (<-leader.leadTo).Sub(start); held > 26*time.Second+107*time.Second+2*time.Second {
			t.Errorf("the leader went on for %v, want at most retry period and renew deadline", held)
		}
	})
}

func TestStuckLeaderFailsItsLivenessProbe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := newHub().client(&atomic.Bool{})
		o := Defaults()
		lock := newLock(t.Context(), &resourcelock.LeaseLock{
			LeaseMeta:  metav1.ObjectMeta{Namespace: "hub", Name: o.Name},
			Client:     client.CoordinationV1(),
			LockConfig: resourcelock.ResourceLockConfig{Identity: "stuck"},
		}, o)
		expect.NoError(t, lock.CheckRenewal(nil))
		expect.NoError(t, lock.Create(t.Context(), resourcelock.LeaderElectionRecord{HolderIdentity: "stuck"}))
		time.Sleep(o.LeaseDuration + renewalOverdue)
		expect.NoError(t, lock.CheckRenewal(nil))
		time.Sleep(time.Second)
		if err := lock.CheckRenewal(nil); err == nil {
			t.Error("a leader that stopped renewing still passes its liveness check")
		}
		expect.NoError(t, lock.Update(t.Context(), resourcelock.LeaderElectionRecord{HolderIdentity: ""}))
		expect.NoError(t, lock.CheckRenewal(nil))
	})
}

func TestFirstAttemptReportsTheStandby(t *testing.T) {
	lock := newLock(t.Context(), &resourcelock.LeaseLock{Client: newHub().client(&atomic.Bool{}).CoordinationV1()}, Options{})
	select {
	case <-lock.Attempted():
		t.Error("attempted before the election began")
	default:
	}
	for range 2 {
		if _, _, err := lock.Get(t.Context()); err == nil {
			t.Error("there is no lease, but Get found one")
		}
	}
	select {
	case <-lock.Attempted():
	default:
		t.Error("nobody is told of the first attempt")
	}
}

// T16: a new leader knows when the former one has renewed the lease last, or released it, whether that has stopped or was cut off.
func TestFormerRenewal(t *testing.T) {
	var none *Lock
	if !none.FormerRenewal().IsZero() {
		t.Error("without a lock there is a former leader")
	}

	for _, stops := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			h, cut := newHub(), &atomic.Bool{}
			leader := newContestant(t, h.client(cut), "leader")
			<-leader.leadFrom
			standby := newContestant(t, h.client(&atomic.Bool{}), "standby")
			defer standby.stop()
			time.Sleep(10 * time.Minute)
			if !leader.lock.FormerRenewal().IsZero() {
				t.Errorf("the first leader has a former one at %v", leader.lock.FormerRenewal())
			}

			ended := time.Now()
			if stops {
				leader.stop()
				ended = <-leader.leadTo
			} else {
				cut.Store(true)
			}
			began := <-standby.leadFrom
			time.Sleep(10 * time.Minute) // Its own renewals do not count.
			former := standby.lock.FormerRenewal()
			if period := Defaults().RetryPeriod; former.After(began) || former.Before(ended.Add(-period)) || former.After(ended.Add(time.Second)) {
				t.Errorf("the former leader, ended at %v, has renewed the lease at %v", ended, former)
			}
			leader.stop()
		})
	}
}

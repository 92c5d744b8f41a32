// SPDX-License-Identifier: Apache-2.0

package election

import (
	"fmt"
	"time"

	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/klog/v2"

	"github.com/placement-hub/placement-hub/pkg/metrics"
)

// renewal is the last renewal of the lease that a read or a write has shown.
type renewal struct {
	holder string
	at     time.Time
}

// observe keeps a record of the lease that another process holds or has released, and logs once when its renewal is overdue, and once when it
// is renewed again.
func (l *Lock) observe(record *resourcelock.LeaderElectionRecord, now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.renewal = renewal{holder: record.HolderIdentity, at: record.RenewTime.Time}
	metrics.LeaseRenewed.Set(seconds(l.renewal.at))

	overdue, logger := l.overdue(now), klog.FromContext(l.process).WithValues("lease", l.Describe(), "holder", record.HolderIdentity)
	switch {
	case overdue && !l.overdueLogged:
		logger.Info("The leader has not renewed the lease; a standby takes the lease over when it expires",
			"since", l.renewal.at.UTC().Format(time.RFC3339))
	case !overdue && l.overdueLogged:
		logger.Info("The lease is renewed again")
	}
	l.overdueLogged = overdue
}

// renewedHere records the time of a renewal by this process. The caller holds the mutex.
func (l *Lock) renewedHere(at time.Time) {
	l.renewal = renewal{holder: l.Identity(), at: at}
	metrics.LeaseRenewed.Set(seconds(at))
}

// overdue reports whether a process holds the lease that has not renewed it for longer than overdueAfter. The caller holds the mutex.
func (l *Lock) overdue(now time.Time) bool {
	return l.renewal.holder != "" && now.Sub(l.renewal.at) > l.overdueAfter
}

// Overdue returns when the lease was renewed last, if another process holds it and has not renewed it for twice the time between two
// renewals; otherwise zero. The clocks of the two processes have to agree. The renewal of a nil lock is never overdue.
func (l *Lock) Overdue() time.Time {
	if l == nil {
		return time.Time{}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.holding || !l.overdue(time.Now()) {
		return time.Time{}
	}
	return l.renewal.at
}

// State describes the lease for /readyz?verbose. It names no process, because everybody may read it.
func (l *Lock) State() string {
	since := l.Overdue()
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.holding:
		return "this process holds " + l.Describe()
	case !since.IsZero():
		return fmt.Sprintf("the process that holds %s has not renewed it since %s", l.Describe(), since.UTC().Format(time.RFC3339))
	case l.renewal.holder == "":
		return "no process holds " + l.Describe()
	default:
		return "another process holds " + l.Describe()
	}
}

// seconds returns a time in seconds since 1970; 0 for the zero time.
func seconds(at time.Time) float64 {
	if at.IsZero() {
		return 0
	}
	return float64(at.UnixMilli()) / 1000
}

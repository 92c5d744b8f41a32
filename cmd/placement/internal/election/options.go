// SPDX-License-Identifier: Apache-2.0

package election

import (
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
)

// Options configure the leader election.
type Options struct {
	// Disable runs without a lease. The other fields mean nothing then.
	Disable bool
	// Namespace and Name are those of the Lease.
	Namespace, Name string
	// LeaseDuration is how long a standby waits after the last renewal it saw, in whole seconds. RenewDeadline, which is shorter, is how
	// long the leader tries to renew before it gives up. RetryPeriod is the time between two renewals.
	LeaseDuration, RenewDeadline, RetryPeriod time.Duration
}

// Defaults returns the lease name and timing of upstream. The caller sets the namespace.
func Defaults() Options {
	return Options{
		Name:          "placement-lock",
		LeaseDuration: 137 * time.Second,
		RenewDeadline: 107 * time.Second,
		RetryPeriod:   26 * time.Second,
	}
}

// Validate returns all errors at once, by the flags of `placement controller`.
func (o *Options) Validate() error {
	if o.Disable {
		return nil
	}
	var errs []error
	if o.LeaseDuration < time.Second || o.LeaseDuration%time.Second != 0 {
		errs = append(errs, fmt.Errorf("--leader-election-lease-duration: %v is not a whole number of seconds above 0", o.LeaseDuration))
	}
	if o.LeaseDuration <= o.RenewDeadline {
		errs = append(errs, fmt.Errorf("--leader-election-renew-deadline: %v must be shorter than --leader-election-lease-duration (%v)",
			o.RenewDeadline, o.LeaseDuration))
	}
	if o.RetryPeriod <= 0 {
		errs = append(errs, fmt.Errorf("--leader-election-retry-period: %v must be above 0", o.RetryPeriod))
	}
	if float64(o.RenewDeadline) <= leaderelection.JitterFactor*float64(o.RetryPeriod) {
		errs = append(errs, fmt.Errorf("--leader-election-retry-period: %v is too long; %v times it must be shorter than "+
			"--leader-election-renew-deadline (%v)", o.RetryPeriod, leaderelection.JitterFactor, o.RenewDeadline))
	}
	return errors.Join(errs...)
}

// Apply configures leader election in the options of the manager. The lock is nil if it is disabled. The lease is not acquired after ctx has
// ended.
func (o *Options) Apply(ctx context.Context, options *ctrl.Options, config *rest.Config) (*Lock, error) {
	if o.Disable {
		return nil, nil
	}
	lock, err := newLeaseLock(ctx, config, *o)
	if err != nil {
		return nil, err
	}
	options.LeaderElection = true
	options.LeaderElectionID = o.Name
	options.LeaderElectionResourceLockInterface = lock
	options.LeaderElectionReleaseOnCancel = true
	options.LeaseDuration = &o.LeaseDuration
	options.RenewDeadline = &o.RenewDeadline
	options.RetryPeriod = ptr.To(o.electorPeriod())
	return lock, nil
}

// renewalPeriod returns the time between renewals: the leader believes to lead this much longer than the renew deadline, which must end
// before the lease does.
func (o *Options) renewalPeriod() time.Duration {
	return max(0, min(o.RetryPeriod, o.LeaseDuration-o.RenewDeadline-2*o.electorPeriod()))
}

// overdueAfter returns how long after its last renewal the lease of a leader counts as overdue: it has missed two, or the lease has expired.
func (o *Options) overdueAfter() time.Duration { return min(2*o.RetryPeriod, o.LeaseDuration) }

// electorPeriod returns the retry period of the elector.
func (o *Options) electorPeriod() time.Duration { return min(acquirePeriod, o.RetryPeriod) }

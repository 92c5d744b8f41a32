// SPDX-License-Identifier: Apache-2.0

package election

import (
	"testing"
	"time"

	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/placement-hub/placement-hub/test/expect"
)

func TestElectorPeriod(t *testing.T) {
	for period, want := range map[time.Duration]time.Duration{26 * time.Second: time.Second, 200 * time.Millisecond: 200 * time.Millisecond} {
		o := Options{RetryPeriod: period}
		if got := o.electorPeriod(); got != want {
			t.Errorf("with a retry period of %v the elector looks every %v, want %v", period, got, want)
		}
	}
}

// Two processes must not believe to lead at the same time, however the three periods are set.
func TestRenewalPeriodKeepsWithinTheLease(t *testing.T) {
	for _, tc := range []struct{ lease, deadline, retry, want time.Duration }{
		{137 * time.Second, 107 * time.Second, 26 * time.Second, 26 * time.Second},
		{60 * time.Second, 40 * time.Second, 26 * time.Second, 18 * time.Second},
		{15 * time.Second, 10 * time.Second, 2 * time.Second, 2 * time.Second},
		{3 * time.Second, 2 * time.Second, time.Second, 0},
	} {
		o := Options{LeaseDuration: tc.lease, RenewDeadline: tc.deadline, RetryPeriod: tc.retry}
		if got := o.renewalPeriod(); got != tc.want {
			t.Errorf("lease %v, deadline %v, retry %v: renews every %v, want %v", tc.lease, tc.deadline, tc.retry, got, tc.want)
		}
	}
}

// The lease has a timeout of its own. Watches, which are made from the same configuration, must not end with it.
func TestElectionLeavesTheConfigurationAlone(t *testing.T) {
	config := &rest.Config{Host: "https://127.0.0.1:1", UserAgent: "placement"}
	o := Defaults()
	o.Namespace = "hub"
	_, err := o.Apply(t.Context(), &ctrl.Options{}, config)
	expect.NoError(t, err)
	if config.Timeout != 0 || config.UserAgent != "placement" {
		t.Errorf("everybody has timeout %v and user agent %q", config.Timeout, config.UserAgent)
	}
}

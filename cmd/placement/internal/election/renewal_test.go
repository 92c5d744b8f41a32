// SPDX-License-Identifier: Apache-2.0

package election

import (
	"bytes"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	dto "github.com/prometheus/client_model/go"
	"k8s.io/klog/v2"
	"k8s.io/klog/v2/textlogger"

	"github.com/placement-hub/placement-hub/pkg/metrics"
)

// T2: a dead leader is visible on the standby, in its log once, its state and its metric, until the standby leads.
func TestOverdueRenewal(t *testing.T) {
	var none *Lock
	if !none.Overdue().IsZero() {
		t.Error("the renewal of no lock is overdue")
	}
	log := &safeBuffer{}
	klog.SetLogger(textlogger.NewLogger(textlogger.NewConfig(textlogger.Output(log))))
	t.Cleanup(klog.ClearLogger)

	synctest.Test(t, func(t *testing.T) {
		h, cut := newHub(), &atomic.Bool{}
		leader := newContestant(t, h.client(cut), "leader")
		<-leader.leadFrom
		standby := newContestant(t, h.client(&atomic.Bool{}), "standby")
		defer standby.stop()
		time.Sleep(10 * time.Minute)
		if at := standby.lock.Overdue(); !at.IsZero() || strings.Contains(log.String(), "has not renewed") {
			t.Errorf("the renewal at %v of a leader at work is overdue; the log:\n%s", at, log)
		}

		const states = "this process holds hub/placement-lock, another process holds hub/placement-lock"
		if is := leader.lock.State() + ", " + standby.lock.State(); is != states {
			t.Errorf("states: %s", is)
		}
		ended := time.Now()
		cut.Store(true)
		time.Sleep(2*Defaults().RetryPeriod + 5*time.Second)

		since := standby.lock.Overdue()
		if since.After(ended) || since.Before(ended.Add(-Defaults().RetryPeriod-acquirePeriod*3)) {
			t.Errorf("the leader, ended at %v, has not renewed since %v", ended, since)
		}
		want := "the process that holds hub/placement-lock has not renewed it since " + since.UTC().Format(time.RFC3339)
		if is := standby.lock.State(); is != want {
			t.Errorf("state: %s, want %s", is, want)
		}

		metric := &dto.Metric{}
		if err := metrics.LeaseRenewed.Write(metric); err != nil || metric.GetGauge().GetValue() != seconds(since) {
			t.Errorf("metric: %v, want %v; %v", metric, seconds(since), err)
		}
		<-standby.leadFrom
		time.Sleep(time.Minute)
		if at := standby.lock.Overdue(); !at.IsZero() || standby.lock.State() != "this process holds hub/placement-lock" {
			t.Errorf("the renewal at %v of the new leader is overdue; state: %s", at, standby.lock.State())
		}

		const line = `"The leader has not renewed the lease; a standby takes the lease over when it expires" ` +
			`lease="hub/placement-lock" holder="leader" since=`
		if lines := strings.Count(log.String(), line); lines != 1 {
			t.Errorf("the log has %d lines of the dead leader:\n%s", lines, log)
		}
		leader.stop()
	})
}

// safeBuffer is a buffer that loggers of several goroutines write to.
type safeBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *safeBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *safeBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

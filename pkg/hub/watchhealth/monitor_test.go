// SPDX-License-Identifier: Apache-2.0

package watchhealth_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	toolscache "k8s.io/client-go/tools/cache"
	clusterv1 "open-cluster-management.io/api/cluster/v1"

	"github.com/placement-hub/placement-hub/pkg/hub/watchhealth"
)

// source lists nothing and opens watches until it is broken.
type source struct {
	broken atomic.Bool
	open   atomic.Pointer[watch.FakeWatcher]
}

// listing is a ListerWatcher that does not support watches with initial events.
type listing struct{ *toolscache.ListWatch }

func (listing) IsWatchListSemanticsUnSupported() bool { return true }

func (s *source) listerWatcher() toolscache.ListerWatcher {
	return listing{&toolscache.ListWatch{
		ListWithContextFunc: func(context.Context, metav1.ListOptions) (runtime.Object, error) {
			return &clusterv1.ManagedClusterList{ListMeta: metav1.ListMeta{ResourceVersion: "1"}}, nil
		},
		WatchFuncWithContext: func(context.Context, metav1.ListOptions) (watch.Interface, error) {
			if s.broken.Load() {
				return nil, errors.New("the connection is broken")
			}
			opened := watch.NewFake()
			s.open.Store(opened)
			return opened, nil
		},
	}}
}

// A watch that ends and is opened again is healthy; one that cannot be opened is broken after a minute, and may recover.
func TestAWatchThatStaysBroken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, m := &source{}, watchhealth.New()
		informer := m.NewInformer(s.listerWatcher(), &clusterv1.ManagedCluster{}, 0, toolscache.Indexers{})
		// The default handler of errors compares the fake clock with the start time of the process.
		if err := informer.SetWatchErrorHandlerWithContext(func(context.Context, *toolscache.Reflector, error) {}); err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() {
			defer close(done)
			informer.RunWithContext(ctx)
		}()

		expect := func(reason string, after time.Duration, want string) {
			t.Helper()
			time.Sleep(after)
			synctest.Wait()
			got := ""
			if err := m.Check(t.Context()); err != nil {
				got = err.Error()
			}
			if got != want {
				t.Errorf("%s: got %q, want %q", reason, got, want)
			}
		}

		expect("at the start", 0, "")
		expect("much later", time.Hour, "")
		s.open.Load().Stop()
		expect("opened again", 2*time.Minute, "")

		s.broken.Store(true)
		s.open.Load().Stop()
		expect("just broken", 59*time.Second, "")
		expect("broken for long", 3*time.Second, "the watches of the API server have been broken: v1.ManagedCluster for 1m2s")

		s.broken.Store(false)

		expect("healed", 2*time.Minute, "")
		stop()
		<-done
	})
}

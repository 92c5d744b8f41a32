// SPDX-License-Identifier: Apache-2.0

package loopback

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	"k8s.io/utils/ptr"

	"github.com/placement-hub/placement-hub/pkg/clusterrequest"
	"github.com/placement-hub/placement-hub/pkg/localplane/workagent"
)

// renewalPercent is the part of the life of a token after which it is renewed.
const renewalPercent = 80

// agents are the work agents that run. They are safe for concurrent use for different Clusters.
type agents struct {
	mu      sync.Mutex // guards the field below
	running map[types.NamespacedName]*agent
}

// agent is a work agent that was started.
type agent struct {
	*workagent.Agent

	kubeconfig []byte        // for the member
	renewal    time.Time     // when the token for the hub is due
	ended      chan struct{} // closed when the process has ended
}

// prepare reports whether the agent of a Cluster runs with this kubeconfig and a token for the hub that is not due. It stops one that does not.
func (a *agents) prepare(key types.NamespacedName, kubeconfig []byte, now time.Time) (running bool, err error) {
	a.mu.Lock()
	current := a.running[key]
	a.mu.Unlock()
	if current == nil {
		return false, nil
	}

	select {
	case <-current.ended:
	default:
		if bytes.Equal(current.kubeconfig, kubeconfig) && now.Before(current.renewal) {
			return true, nil
		}
	}
	return false, a.stop(key)
}

// start starts the agent of a Cluster.
func (a *agents) start(ctx context.Context, key types.NamespacedName, kubeconfig []byte, renewal time.Time, o workagent.Options) error {
	started, err := workagent.Start(ctx, o)
	if err != nil {
		return fmt.Errorf("cluster %s: %w", key, err)
	}
	running := &agent{Agent: started, kubeconfig: kubeconfig, renewal: renewal, ended: make(chan struct{})}

	go func() { //nolint:gosec,contextcheck // The agent outlives the reconcile that starts it.
		defer close(running.ended)
		if err := started.Wait(context.Background()); err != nil { // It ends with Stop.
			klog.Background().Error(err, "A work agent ended, and is started again", "cluster", key)
		}
	}()
	a.mu.Lock()
	defer a.mu.Unlock()
	a.running[key] = running
	return nil
}

// stop stops the agent of a Cluster if one runs.
func (a *agents) stop(key types.NamespacedName) error {
	a.mu.Lock()
	current := a.running[key]
	delete(a.running, key)
	a.mu.Unlock()
	if current == nil {
		return nil
	}
	if err := current.Stop(); err != nil {
		return fmt.Errorf("stop the work agent of Cluster %s: %w", key, err)
	}
	return nil
}

// close stops all agents.
func (a *agents) close() error {
	a.mu.Lock()
	keys := slices.Collect(maps.Keys(a.running))
	a.mu.Unlock()
	errs := make([]error, 0, len(keys))
	for _, key := range keys {
		errs = append(errs, a.stop(key))
	}
	return errors.Join(errs...)
}

// hubConfig returns a configuration for the hub with a new token of the ServiceAccount clusterrequest.WorkAgent of a ManagedCluster, and when
// the token is to be renewed.
func (r *agentReconciler) hubConfig(ctx context.Context, managedCluster string) (*rest.Config, time.Time, error) {
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: managedCluster, Name: clusterrequest.WorkAgent}}
	token := &authenticationv1.TokenRequest{
		Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: ptr.To(int64(r.TokenLifetime.Seconds()))},
	}
	if err := r.writer.SubResource("token").Create(ctx, account, token); err != nil {
		return nil, time.Time{}, fmt.Errorf("request a token of the ServiceAccount %s/%s: %w", managedCluster, clusterrequest.WorkAgent, err)
	}
	config := rest.AnonymousClientConfig(r.hub)
	config.BearerToken = token.Status.Token

	now := r.Queue.Clock.Now()
	life := token.Status.ExpirationTimestamp.Sub(now)
	return config, now.Add(life / 100 * renewalPercent), nil
}

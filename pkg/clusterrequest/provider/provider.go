// SPDX-License-Identifier: Apache-2.0

package provider

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
)

// Provider is what differs between providers. Its methods are called concurrently, but never for one Cluster at the same time, and may be
// repeated at any time.
type Provider interface {
	// Profiles returns the kinds of clusters that the provider offers, from objects that it reads from hub. Without any the ClusterProvider is
	// not ready. An error leaves what is published as it is.
	Profiles(ctx context.Context, hub client.Reader) ([]openmcpv1alpha1.Profile, error)
	// Ensure starts the real cluster of a Cluster if it does not run, and returns its state. It does not wait for a start: State.Again says when
	// to look again. An error means that the state is not known.
	Ensure(ctx context.Context, cluster *openmcpv1alpha1.Cluster) (State, error)
	// TearDown deletes the real cluster with its data. The Cluster is being deleted and has no other finalizers.
	TearDown(ctx context.Context, cluster *openmcpv1alpha1.Cluster) error
	// Forget is called when a Cluster does not exist any more, with or without TearDown. It may stop processes, but must keep the data for
	// a Cluster of that name that is created again.
	Forget(ctx context.Context, cluster types.NamespacedName) error
}

// State is the state of a real cluster.
type State struct {
	// Healthy becomes the condition ClusterHealthy, with Reason and Message.
	Healthy bool
	// Failed means that a start failed and not only takes long. A healthy cluster has not failed.
	Failed bool
	// Reason is a word in CamelCase.
	Reason string
	// Message describes the state for users and, if the cluster is not healthy, what to do next. It must not contain times or counters,
	// because every change of it is written.
	Message string
	// Endpoints are the URLs of the API server, sorted by name.
	Endpoints []openmcpv1alpha1.Endpoint
	// Again is when Ensure is to be called again; 0 means when the Cluster changes.
	Again time.Duration
}

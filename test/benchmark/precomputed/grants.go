// SPDX-License-Identifier: Apache-2.0

package precomputed

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/clusterrequest/controller"
	"github.com/placement-hub/placement-hub/pkg/system"
)

// Granted is what is written for a ClusterRequest when it has its finalizer on a Cluster.
type Granted struct {
	// Grant has the name of the request, its Cluster and its prefix.
	Grant openmcpv1alpha1.ClusterRequestGrant `json:"grant"`
	// Statuses of the request are written one after the other.
	Statuses []openmcpv1alpha1.ClusterRequestStatus `json:"statuses"`
}

// GrantedCluster is a new Cluster with the requests that get it.
type GrantedCluster struct {
	// States are the Cluster after each of its writes. The first one creates it.
	States []openmcpv1alpha1.Cluster
	// Requests are in the order in which they get the Cluster.
	Requests []Granted
}

// GrantScript has what the ideal controller of ClusterRequests writes for each of them. The owner of a Grant has the UID of the request only
// when it is written.
type GrantScript struct {
	Grants []Granted `json:"grants"`
}

// WriteFile writes the script to a file.
func (s *GrantScript) WriteFile(path string) error {
	content, err := json.Marshal(s)
	if err != nil {
		return fmt.Errorf("encoding ClusterRequestGrants: %w", err)
	}
	return os.WriteFile(path, content, 0o600)
}

// ReadGrantFile reads what GrantScript.WriteFile wrote.
func ReadGrantFile(path string) (*GrantScript, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	script := &GrantScript{}
	if err := json.Unmarshal(content, script); err != nil {
		return nil, fmt.Errorf("reading ClusterRequestGrants from %s: %w", path, err)
	}
	return script, nil
}

// GrantWriter sends Clusters, ClusterRequestGrants, and the finalizers and statuses of ClusterRequests with the requests of the hub, and asks
// for as little of the responses. It remembers the versions of ClusterRequests that come back. It is safe for concurrent use.
type GrantWriter struct {
	client   client.Client
	versions sync.Map // string by types.NamespacedName of the ClusterRequest
}

// NewGrantWriter returns a writer that sends by a client.
func NewGrantWriter(c client.Client) *GrantWriter {
	return &GrantWriter{client: client.WithFieldOwner(c, controller.FieldManager)}
}

// Write grants requests that have nothing yet, as many at a time as the hub has workers: the finalizers of the requests first, then the
// Clusters, and then the Grants and statuses. The requests are as the API server has them.
func (w *GrantWriter) Write(ctx context.Context, requests []openmcpv1alpha1.ClusterRequest, clusters []GrantedCluster) error {
	err := concurrently(ctx, len(requests), func(ctx context.Context, i int) error { return w.AddFinalizer(ctx, &requests[i]) })
	if err != nil {
		return err
	}
	err = concurrently(ctx, len(clusters), func(ctx context.Context, i int) error { return w.writeCluster(ctx, clusters[i].States) })
	if err != nil {
		return err
	}
	var all []*Granted
	for i := range clusters {
		for k := range clusters[i].Requests {
			all = append(all, &clusters[i].Requests[k])
		}
	}
	return concurrently(ctx, len(all), func(ctx context.Context, i int) error { return w.Grant(ctx, all[i]) })
}

// concurrently calls task for 0 to n-1, as many at a time as the hub has workers.
func concurrently(ctx context.Context, n int, task func(context.Context, int) error) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(system.DefaultWorkers())
	for i := range n {
		group.Go(func() error { return task(ctx, i) })
	}
	return group.Wait() //nolint:wrapcheck // The tasks name what they do.
}

// AddFinalizer adds the finalizer to a request without finalizers.
func (w *GrantWriter) AddFinalizer(ctx context.Context, request *openmcpv1alpha1.ClusterRequest) error {
	key := client.ObjectKeyFromObject(request)
	written := metadataOfKind("ClusterRequest", key)
	err := w.patch(ctx, written, map[string]any{"metadata": map[string]any{
		"finalizers": []string{openmcpv1alpha1.RequestFinalizer}, "resourceVersion": request.ResourceVersion,
	}})
	if err != nil {
		return fmt.Errorf("adding the finalizer to ClusterRequest %s: %w", key, err)
	}
	w.versions.Store(key, written.ResourceVersion)
	return nil
}

// writeCluster creates a Cluster and writes its further states.
func (w *GrantWriter) writeCluster(ctx context.Context, states []openmcpv1alpha1.Cluster) error {
	created := states[0].DeepCopy()
	if err := w.client.Create(ctx, created); err != nil {
		return fmt.Errorf("creating Cluster %s: %w", client.ObjectKeyFromObject(created), err)
	}
	stored := metadataOfKind("Cluster", client.ObjectKeyFromObject(created))
	stored.ResourceVersion, stored.Finalizers = created.ResourceVersion, created.Finalizers
	for i := range states[1:] {
		if err := w.Join(ctx, stored, &states[i+1]); err != nil {
			return err
		}
	}
	return nil
}

// Join gives a Cluster the finalizers and prefixes of a wanted state, on condition of the version of the stored one, which the response
// replaces. After a conflict with the provider it reads the Cluster and tries again.
func (w *GrantWriter) Join(ctx context.Context, stored *metav1.PartialObjectMetadata, wanted *openmcpv1alpha1.Cluster) error {
	key := client.ObjectKeyFromObject(stored)
	for {
		finalizers := slices.Clone(stored.Finalizers)
		for _, finalizer := range wanted.Finalizers {
			if !slices.Contains(finalizers, finalizer) {
				finalizers = append(finalizers, finalizer)
			}
		}
		err := w.patch(ctx, stored, map[string]any{"metadata": map[string]any{
			"annotations": map[string]string{
				openmcpv1alpha1.PrefixesAnnotation: wanted.Annotations[openmcpv1alpha1.PrefixesAnnotation],
			},
			"finalizers": finalizers, "resourceVersion": stored.ResourceVersion,
		}})
		if apierrors.IsConflict(err) {
			if err = w.client.Get(ctx, key, stored); err == nil {
				continue
			}
		}
		if err != nil {
			return fmt.Errorf("writing the requests of Cluster %s: %w", key, err)
		}
		return nil
	}
}

// Grant creates the Grant of a request that AddFinalizer was called for, and writes its statuses.
func (w *GrantWriter) Grant(ctx context.Context, granted *Granted) error {
	key := client.ObjectKeyFromObject(&granted.Grant)
	if err := w.client.Create(ctx, granted.Grant.DeepCopy()); err != nil {
		return fmt.Errorf("creating ClusterRequestGrant %s: %w", key, err)
	}
	version, found := w.versions.Load(key)
	if !found {
		return fmt.Errorf("writing the status of ClusterRequest %s: %w", key, errors.New("it has no finalizer yet"))
	}
	for i := range granted.Statuses {
		body, err := json.Marshal(map[string]any{"metadata": map[string]any{"resourceVersion": version}, "status": granted.Statuses[i]})
		if err != nil {
			return fmt.Errorf("encoding the status of ClusterRequest %s: %w", key, err)
		}
		written := metadataOfKind("ClusterRequest", key)
		if err := w.client.Status().Patch(ctx, written, client.RawPatch(types.MergePatchType, body)); err != nil {
			return fmt.Errorf("writing the status of ClusterRequest %s: %w", key, err)
		}
		version = written.ResourceVersion
	}
	return nil
}

func (w *GrantWriter) patch(ctx context.Context, written *metav1.PartialObjectMetadata, body any) error {
	content, err := json.Marshal(body)
	if err != nil {
		return fmt.Errorf("encoding a patch: %w", err)
	}
	return w.client.Patch(ctx, written, client.RawPatch(types.MergePatchType, content)) //nolint:wrapcheck // The callers name the object.
}

func metadataOfKind(kind string, key types.NamespacedName) *metav1.PartialObjectMetadata {
	metadata := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}}
	metadata.SetGroupVersionKind(openmcpv1alpha1.GroupVersion.WithKind(kind))
	return metadata
}

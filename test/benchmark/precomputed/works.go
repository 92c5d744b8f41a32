// SPDX-License-Identifier: Apache-2.0

package precomputed

import (
	"context"
	"encoding/json"
	"fmt"
	"os"

	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	workv1 "open-cluster-management.io/api/work/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/pkg/system"
)

// Works are the ManifestWorks that are written when a label of a cluster gets a value.
type Works struct {
	Apply  []workv1.ManifestWork  `json:"apply,omitempty"`
	Delete []types.NamespacedName `json:"delete,omitempty"`
}

// WorkScript has the ManifestWorks that the ideal controller of deliveries writes when the label of the cluster gets one of the values.
type WorkScript struct {
	Cluster string           `json:"cluster"`
	Label   string           `json:"label"`
	ByValue map[string]Works `json:"works"`
}

// WriteFile writes the script to a file.
func (s *WorkScript) WriteFile(path string) error {
	content, err := json.Marshal(s)
	if err != nil {
		return fmt.Errorf("encoding ManifestWorks: %w", err)
	}
	return os.WriteFile(path, content, 0o600)
}

// ReadWorkFile reads what WorkScript.WriteFile wrote.
func ReadWorkFile(path string) (*WorkScript, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	script := &WorkScript{}
	if err := json.Unmarshal(content, script); err != nil {
		return nil, fmt.Errorf("reading ManifestWorks from %s: %w", path, err)
	}
	return script, nil
}

// Applied returns what a client sends to apply a work that an API server has stored.
func Applied(work *workv1.ManifestWork) workv1.ManifestWork {
	return workv1.ManifestWork{
		TypeMeta: metav1.TypeMeta{APIVersion: workv1.GroupVersion.String(), Kind: workKind},
		ObjectMeta: metav1.ObjectMeta{
			Namespace: work.Namespace, Name: work.Name, Labels: work.Labels, Annotations: work.Annotations,
		},
		Spec: work.Spec,
	}
}

const (
	workKind = "ManifestWork"
	// workManager is the field manager of the hub.
	workManager = "placement-hub"
)

// WorkWriter sends ManifestWorks with the requests of the hub, and asks for as little of the response.
type WorkWriter struct{ client client.Client }

// NewWorkWriter returns a writer that sends by a client.
func NewWorkWriter(c client.Client) *WorkWriter { return &WorkWriter{client: c} }

// Write sends works, as many at a time as the hub has workers.
func (w *WorkWriter) Write(ctx context.Context, works Works) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(system.DefaultWorkers())
	for i := range works.Apply {
		group.Go(func() error { return w.apply(ctx, &works.Apply[i]) })
	}
	for _, key := range works.Delete {
		group.Go(func() error {
			if err := w.client.Delete(ctx, metadataOf(key)); err != nil {
				return fmt.Errorf("deleting ManifestWork %s: %w", key, err)
			}
			return nil
		})
	}
	return group.Wait() //nolint:wrapcheck // The tasks name what they do.
}

func (w *WorkWriter) apply(ctx context.Context, work *workv1.ManifestWork) error {
	body, err := json.Marshal(work)
	if err != nil {
		return fmt.Errorf("encoding ManifestWork %s/%s: %w", work.Namespace, work.Name, err)
	}
	written := metadataOf(client.ObjectKeyFromObject(work))
	err = w.client.Patch(ctx, written, client.RawPatch(types.ApplyPatchType, body), client.ForceOwnership, client.FieldOwner(workManager))
	if err != nil {
		return fmt.Errorf("applying ManifestWork %s/%s: %w", work.Namespace, work.Name, err)
	}
	return nil
}

func metadataOf(key types.NamespacedName) *metav1.PartialObjectMetadata {
	metadata := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}}
	metadata.SetGroupVersionKind(schema.GroupVersion(workv1.GroupVersion).WithKind(workKind))
	return metadata
}

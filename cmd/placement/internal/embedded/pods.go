// SPDX-License-Identifier: Apache-2.0

package embedded

import (
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/cmd/placement/internal/live"
	"github.com/placement-hub/placement-hub/deploy/samples"
	"github.com/placement-hub/placement-hub/manifests"
	"github.com/placement-hub/placement-hub/pkg/apis/scheme"
	"github.com/placement-hub/placement-hub/pkg/explain"
	"github.com/placement-hub/placement-hub/pkg/explain/document"
	"github.com/placement-hub/placement-hub/pkg/explain/hubstate"
	pods "github.com/placement-hub/placement-hub/pkg/podscheduling/explain"
)

// preparePods installs the two systems, whose webhook configurations refer to the listener of this run, and the definitions of a platform
// that the controllers watch.
func (h *Hub) preparePods(ctx context.Context, progress *live.Progress) error {
	if err := h.listen(ctx); err != nil {
		return err
	}
	if err := h.connect(); err != nil {
		return err
	}
	rendered, err := sampleWorkloads()
	if err != nil {
		return err
	}
	h.podsTable = podsTable{hub: h.client, rendered: rendered}
	h.board = board{read: h.podsTable.read, concern: explain.OfPods}
	admin := h.environment.AdminConfig()
	return progress.Do("installing the systems podscheduling and affinityclass", func() error {
		all, err := manifests.Objects()
		if err != nil {
			return err
		}
		// Of what every hub needs, placements need the rest.
		account := slices.DeleteFunc(all, func(object *unstructured.Unstructured) bool {
			return object.GetKind() != "Namespace" && object.GetKind() != "ServiceAccount"
		})
		if err := manifests.Apply(ctx, admin, account); err != nil {
			return err
		}
		if err := h.installSystems(ctx); err != nil {
			return err
		}
		definitions, err := sampleObjects(samples.Others(), samples.PodsDefinitions)
		if err != nil {
			return err
		}
		return manifests.Apply(ctx, admin, definitions)
	})
}

// sampleWorkloads returns the workloads of the sample of Pods as their charts render them, before anything is injected.
func sampleWorkloads() ([]*unstructured.Unstructured, error) {
	return sampleObjects(samples.Others(), samples.PodsWorkloads)
}

// connect makes the client with all rights, which prints no warnings: the table shows what is skipped.
func (h *Hub) connect() error {
	config := h.environment.AdminConfig()
	config.WarningHandler = rest.NoWarnings{}
	api, err := client.New(config, client.Options{Scheme: scheme.New()})
	if err != nil {
		return fmt.Errorf("making a client for %s: %w", config.Host, err)
	}
	h.client = api
	return nil
}

// fluxLabel is the label by which Flux marks the objects of a release.
const fluxLabel = "helm.toolkit.fluxcd.io/name"

// podsTable reads what the table of the sample shows.
type podsTable struct {
	hub client.Client
	// rendered are the workloads as they were written, before anything was injected, and refused says what admission has refused, a sentence each.
	rendered []*unstructured.Unstructured
	refused  []string
}

func (t *podsTable) read(ctx context.Context) (*document.Board, error) {
	objects, err := hubstate.AllPodsFromCluster(ctx, t.hub, "")
	if err != nil {
		return nil, err
	}
	return pods.NewBoard(objects, t.rendered, t.refused)
}

// podsSample applies the sample of Pods.
type podsSample struct {
	hub    *Hub
	config *rest.Config
	client client.Client
	table  *podsTable
}

// applyPods applies the sample of Pods as a platform would: the workloads follow when their classes are resolved. It records what admission
// answers to the objects that it has to refuse.
func (h *Hub) applyPods(ctx context.Context, progress *live.Progress) error {
	s := &podsSample{hub: h, config: h.environment.AdminConfig(), client: h.client, table: &h.podsTable}
	for _, step := range []struct {
		name string
		run  func(context.Context) error
	}{
		{"applying six Nodes, and the classes, tenant, policies and applications", s.applyPlatform},
		{"resolving the classes of the applications", s.awaitClasses},
		{"applying the workloads", s.applyWorkloads},
		{"applying what has to be refused", s.applyRefused},
	} {
		if err := progress.Do(step.name, func() error { return step.run(ctx) }); err != nil {
			return err
		}
	}
	return nil
}

// applyPlatform applies everything before the workloads. A Node of an earlier run stays as it is.
func (s *podsSample) applyPlatform(ctx context.Context) error {
	nodes, err := sampleObjects(samples.Others(), samples.PodsNodes)
	if err != nil {
		return err
	}
	for _, object := range nodes {
		node := &corev1.Node{}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, node); err != nil {
			return fmt.Errorf("reading the sample node %s: %w", object.GetName(), err)
		}
		if err := s.hub.environment.CreateNode(ctx, node); err != nil && !apierrors.IsAlreadyExists(err) {
			return err
		}
	}
	return s.apply(ctx, samples.PodsPlatform, samples.PodsApplications)
}

// apply applies files in this order. It repeats that while the API server knows a webhook configuration and not its certificate yet.
func (s *podsSample) apply(ctx context.Context, patterns ...string) error {
	var objects []*unstructured.Unstructured
	for _, pattern := range patterns {
		found, err := sampleObjects(samples.Others(), pattern)
		if err != nil {
			return err
		}
		objects = append(objects, found...)
	}
	return awaitInForce(ctx, func(ctx context.Context) (pending, err error) {
		err = manifests.Apply(ctx, s.config, objects)
		if apierrors.IsInternalError(err) {
			return err, nil
		}
		return nil, err
	})
}

// awaitInForce calls a function until it returns neither error; the first one says what it still waits for.
func awaitInForce(ctx context.Context, try func(context.Context) (pending, err error)) error {
	var last error
	err := wait.PollUntilContextTimeout(ctx, inForceInterval, inForceTimeout, true, func(ctx context.Context) (bool, error) {
		pending, err := try(ctx)
		if pending != nil && ctx.Err() == nil {
			last = pending
		}
		return pending == nil, err
	})
	if wait.Interrupted(err) && ctx.Err() == nil {
		return fmt.Errorf("waiting for the webhooks: %w", last)
	}
	return err //nolint:wrapcheck // Named by try, or that of the context.
}

// awaitClasses waits until admission verifies the Pods of every application: until its class is in its HelmRelease.
func (s *podsSample) awaitClasses(ctx context.Context) error {
	applications, err := sampleObjects(samples.Others(), samples.PodsApplications)
	if err != nil {
		return err
	}
	for _, application := range applications {
		release := strings.ToLower(application.GetKind()) + "-" + application.GetName()
		trial := &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{
				Namespace: application.GetNamespace(), GenerateName: "placement-hub-trial-", Labels: map[string]string{fluxLabel: release},
			},
			Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "trial", Image: "trial"}}},
		}
		err := awaitInForce(ctx, func(ctx context.Context) (pending, err error) {
			err = s.client.Create(ctx, trial.DeepCopy(), client.DryRunAll)
			switch {
			case err == nil:
				return fmt.Errorf("a Pod of HelmRelease %s is not verified yet", release), nil
			case apierrors.IsForbidden(err) && strings.Contains(err.Error(), "AffinityClass"):
				return nil, nil
			default: // Its ServiceAccount is not there yet, or the webhook is not trusted yet.
				return fmt.Errorf("creating a Pod of HelmRelease %s: %w", release, err), nil
			}
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// applyWorkloads applies the workloads once every policy that matches them is injected.
func (s *podsSample) applyWorkloads(ctx context.Context) error {
	for _, workload := range s.table.rendered {
		if err := awaitInForce(ctx, func(ctx context.Context) (pending, err error) { return s.tryInjection(ctx, workload) }); err != nil {
			return err
		}
	}
	return s.apply(ctx, samples.PodsWorkloads)
}

// tryInjection creates a workload with a dry run. The first error names a policy that is not injected yet.
func (s *podsSample) tryInjection(ctx context.Context, workload *unstructured.Unstructured) (pending, err error) {
	trial := workload.DeepCopy()
	err = s.client.Create(ctx, trial, client.DryRunAll)
	if apierrors.IsAlreadyExists(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("trying out %s %s: %w", workload.GetKind(), client.ObjectKeyFromObject(workload), err)
	}
	objects, err := hubstate.AllPodsFromCluster(ctx, s.client, "")
	if err != nil {
		return nil, fmt.Errorf("reading the policies: %w", err)
	}
	report, err := pods.NewEvaluator(objects).Explain(trial, true)
	if err != nil {
		return nil, fmt.Errorf("trying out a workload: %w", err)
	}
	for _, policy := range report.Policies {
		if len(policy.Adds) > 0 {
			return fmt.Errorf("%s is not injected into %s %s yet", policy.Policy, report.Kind, client.ObjectKeyFromObject(workload)), nil
		}
	}
	return nil, nil
}

// applyRefused creates the objects that admission has to refuse, with a dry run, and records what it answers.
func (s *podsSample) applyRefused(ctx context.Context) error {
	objects, err := sampleObjects(samples.Others(), samples.PodsRefused)
	if err != nil {
		return err
	}
	for _, object := range objects {
		err := awaitInForce(ctx, func(ctx context.Context) (pending, err error) {
			err = s.client.Create(ctx, object.DeepCopy(), client.DryRunAll)
			if err == nil {
				return fmt.Errorf("%s %s is not refused yet", object.GetKind(), client.ObjectKeyFromObject(object)), nil
			}
			_, response, denied := strings.Cut(err.Error(), "denied the request: ")
			if !denied {
				return fmt.Errorf("creating %s %s: %w", object.GetKind(), client.ObjectKeyFromObject(object), err), nil
			}
			s.table.refused = append(s.table.refused, fmt.Sprintf("%s %s: %s", object.GetKind(), client.ObjectKeyFromObject(object), response))
			return nil, nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

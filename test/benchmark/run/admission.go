// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/manifests"
	"github.com/placement-hub/placement-hub/pkg/localplane"
	"github.com/placement-hub/placement-hub/pkg/system"
	"github.com/placement-hub/placement-hub/test/benchmark/admission"
	"github.com/placement-hub/placement-hub/test/benchmark/report"
	"github.com/placement-hub/placement-hub/test/env/loopback"
)

// admissionScenario has a control plane of its own, with policies instead of clusters and placements.
const admissionScenario = "admission"

// reviews is a control plane with pod scheduling policies, the webhook of the hub and the floor, and what is measured on it.
type reviews struct {
	programs    programs
	directory   string
	environment *localplane.ControlPlane
	api         client.Client
	webhook     string // the address of the hub's webhook
	hub         *hub
	floor       *process
	pods        int // to be created for the measurement of memory
	run         *report.Run
	log         io.Writer
}

// measureAdmission runs the scenario admission. What was measured is returned with an error, too.
func measureAdmission(ctx context.Context, o *options, tools programs, directory string, log io.Writer) (_ *report.Run, err error) {
	ctx, cancel := context.WithTimeout(ctx, longest)
	defer cancel()
	r := &reviews{programs: tools, directory: directory, pods: o.pods, run: &report.Run{}, log: log}
	// Without a controller manager no namespace has the ServiceAccount that a Pod needs.
	r.environment, err = localplane.Start(ctx, localplane.Options{APIServerArgs: []string{"--disable-admission-plugins=ServiceAccount"}})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.close()) }()
	for _, step := range []struct {
		name string
		run  func(context.Context) error
	}{
		{"policies", r.furnish}, {floorName, r.startFloor}, {"hub", r.startHub}, {"latencies", r.latencies}, {"memory", r.memory},
	} {
		if err := step.run(ctx); err != nil {
			return r.run, fmt.Errorf("%s: %w", step.name, err)
		}
	}
	return r.run, nil
}

func (r *reviews) close() error {
	if r.hub != nil {
		r.hub.kill()
	}
	if r.floor != nil {
		r.floor.kill()
	}
	return r.environment.Stop()
}

func (r *reviews) logf(format string, args ...any) {
	fmt.Fprintf(r.log, "%s %s: %s\n", time.Now().Format(time.TimeOnly), admissionScenario, fmt.Sprintf(format, args...))
}

// furnish installs the system of policies, and creates the namespaces and policies.
func (r *reviews) furnish(ctx context.Context) error {
	admin := r.environment.AdminConfig()
	if err := manifests.Install(ctx, admin); err != nil {
		return err
	}
	var err error
	if r.webhook, err = loopback.FreeAddress(ctx); err != nil {
		return err
	}
	if err := manifests.InstallSystem(ctx, admin, manifests.PodScheduling, "https://"+r.webhook); err != nil {
		return err
	}
	if r.api, err = newClient(admin); err != nil {
		return err
	}
	for _, side := range []string{admission.HubSide, admission.FloorSide} {
		if err := r.createAll(ctx, admission.Namespaces, func(i int) client.Object { return admission.Namespace(side, i) }); err != nil {
			return err
		}
	}
	// The webhook of policies refuses none that it cannot review: its failure policy is Ignore.
	if err := r.createAll(ctx, admission.ClusterPolicies, func(i int) client.Object { return admission.ClusterPolicy(i) }); err != nil {
		return err
	}
	err = r.createAll(ctx, admission.Policies, func(i int) client.Object { return admission.Policy(i) })
	r.logf("made %d policies in %d namespaces", admission.ClusterPolicies+admission.Policies, admission.Namespaces)
	return err
}

// newClient returns a client that sends as many requests as it is asked to.
func newClient(config *rest.Config) (client.Client, error) {
	config.WarningHandler = rest.NoWarnings{}
	api, err := client.New(config, client.Options{Scheme: system.Scheme()})
	if err != nil {
		return nil, fmt.Errorf("making a client: %w", err)
	}
	return api, nil
}

// createAll creates objects 0 to n-1.
func (r *reviews) createAll(ctx context.Context, n int, object func(int) client.Object) error {
	return each(ctx, n, func(ctx context.Context, i int) error {
		created := object(i)
		if err := r.api.Create(ctx, created); err != nil {
			return fmt.Errorf("creating %T %s/%s: %w", created, created.GetNamespace(), created.GetName(), err)
		}
		return nil
	})
}

// startFloor starts the webhook that allows everything, and has the API server call it.
func (r *reviews) startFloor(ctx context.Context) error {
	var err error
	if r.floor, err = startProcess(ctx, r.programs.allow); err != nil {
		return err
	}
	var address admission.Address
	err = r.floor.awaitOutput(ctx, func(text string) bool {
		line, _, whole := strings.Cut(text, "\n")
		return whole && json.Unmarshal([]byte(line), &address) == nil
	})
	if err != nil {
		return err
	}
	if err := r.api.Create(ctx, admission.FloorConfiguration(address)); err != nil {
		return fmt.Errorf("creating the configuration of the floor: %w", err)
	}
	return nil
}

// startHub starts the hub with the webhook of policies alone, and waits until the API server calls it.
func (r *reviews) startHub(ctx context.Context) error {
	account, err := r.environment.ServiceAccountConfig(ctx, manifests.Namespace, manifests.ServiceAccount)
	if err != nil {
		return err
	}
	content, err := localplane.Kubeconfig(account)
	if err != nil {
		return err
	}
	kubeconfig := filepath.Join(r.directory, "kubeconfig-"+admissionScenario)
	if err := os.WriteFile(kubeconfig, content, 0o600); err != nil {
		return err
	}
	r.hub, err = startHub(ctx, r.programs.hub, r.directory, kubeconfig, manifests.PodScheduling+"/*", "--webhook-listen="+r.webhook)
	if err != nil {
		return err
	}
	if err := r.hub.awaitReady(ctx); err != nil {
		return err
	}
	return poll(ctx, 20*time.Millisecond, func() (bool, error) {
		injected, err := r.create(ctx, admission.HubSide, 0)
		return injected, errors.Join(err, r.hub.ended())
	})
}

// create creates a Deployment with a dry run, and reports whether all policies that match it were injected.
func (r *reviews) create(ctx context.Context, side string, i int) (injected bool, err error) {
	deployment := admission.Deployment(side, i)
	if err := r.api.Create(ctx, deployment, client.DryRunAll); err != nil {
		return false, fmt.Errorf("creating Deployment %s/%s: %w", deployment.Namespace, deployment.Name, err)
	}
	spec := &deployment.Spec.Template.Spec
	return len(spec.NodeSelector) > 0 && len(spec.Tolerations) > 0 && spec.Affinity != nil &&
		spec.Affinity.NodeAffinity != nil && spec.Affinity.PodAntiAffinity != nil, nil
}

// memory compares the memory of a hub that starts without Pods and has reviewed, with that of one that starts among many of them.
func (r *reviews) memory(ctx context.Context) error {
	without, err := r.hub.memory()
	if err != nil {
		return err
	}
	r.run.Add(admissionScenario, "memory-without-pods", report.Bytes, float64(without))
	if err := r.hub.stop(); err != nil {
		return err
	}
	begin := time.Now()
	if err := r.createAll(ctx, r.pods, func(i int) client.Object { return admission.Pod(i) }); err != nil {
		return err
	}
	r.logf("made %d pods in %.0f s", r.pods, time.Since(begin).Seconds())
	if err := r.startHub(ctx); err != nil {
		return err
	}
	if _, err := r.load(ctx, admission.HubSide, clientsOfLoad, warmUp+rounds*(samplesAlone+samplesOfLoad)); err != nil {
		return err
	}
	with, err := r.hub.memory()
	if err != nil {
		return err
	}
	r.run.Add(admissionScenario, "pods", report.Count, float64(r.pods))
	r.run.Add(admissionScenario, "memory-with-pods", report.Bytes, float64(with))
	r.run.Add(admissionScenario, "bytes-per-pod", report.Count, max(float64(with-without), 0)/float64(r.pods))
	r.logf("memory without pods %d MiB, with them %d MiB", without>>20, with>>20)
	return nil
}

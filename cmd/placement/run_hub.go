package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/placement-hub/placement-hub/deploy/samples"
	"github.com/placement-hub/placement-hub/manifests"
	"github.com/placement-hub/placement-hub/test/env"
)

// logFile is the log of the controllers in the data directory.
const logFile = "placement.log"

// hubUser is the user name of the ServiceAccount of the manifests.
const hubUser = "system:serviceaccount:" + manifests.Namespace + ":" + manifests.ServiceAccount

// runHub is an API server that has what the controllers need.
type runHub struct {
	config   *rest.Config // of the controllers
	election electionOptions
	access   []string // how a person reaches it

	environment *env.Environment // nil for an existing cluster
	kubeconfig  *kubeconfigFile  // to be removed; nil if there is none or if it is kept
	log         *runLog
}

// startHub starts a control plane and sets it up. The hub it returns is to be closed even when there is an error; nil needs no close.
func (o *runOptions) startHub(ctx context.Context, steps *startSteps) (*runHub, error) {
	assets, err := env.FindAssets()
	if err != nil {
		return nil, err
	}
	isNew := true
	if o.dataDir != "" {
		if isNew, err = claimDataDir(o.dataDir); err != nil {
			return nil, err
		}
	}
	if !o.once && !o.ownsKubeconfigs {
		if err := checkKubeconfigPath(ctx, o.kubeconfigFile); err != nil {
			return nil, err
		}
	}
	hub := &runHub{election: electionOptions{disable: true}}
	err = steps.do("starting etcd, kube-apiserver and kube-controller-manager", func() (err error) {
		hub.environment, err = env.Start(ctx, env.Options{DataDir: o.dataDir, ControllerManager: true, Assets: &assets})
		return err
	})
	if err != nil {
		return nil, err
	}
	if err := o.prepareStarted(ctx, hub, steps, isNew); err != nil {
		return hub, err
	}
	if o.once {
		return hub, nil
	}
	kubeconfig, err := writeKubeconfig(o.kubeconfigFile, hub.environment.AdminConfig())
	if err != nil {
		return hub, err
	}
	if o.dataDir == "" {
		hub.kubeconfig = kubeconfig
	}
	hub.access = append(hub.access, exportLine(o.kubeconfigFile))
	if assets.Kubectl != "" {
		hub.access = append(hub.access, "kubectl: "+assets.Kubectl)
	}
	return hub, nil
}

// prepareStarted fills a control plane that was just started, and finds the identity of the controllers.
func (o *runOptions) prepareStarted(ctx context.Context, hub *runHub, steps *startSteps, isNew bool) (err error) {
	if hub.log, err = openRunLog(filepath.Join(hub.environment.DataDir(), logFile)); err != nil {
		return err
	}
	if !o.once || o.dataDir != "" {
		if err := steps.say("data and logs are in %s", hub.environment.DataDir()); err != nil {
			return err
		}
	}
	admin := hub.environment.AdminConfig()
	if err := install(ctx, admin, steps); err != nil {
		return err
	}
	switch {
	case o.samples, isNew && !o.samplesAsked:
		if err := applySamples(ctx, admin, steps); err != nil {
			return err
		}
	case !isNew:
		if err := steps.say("keeping the objects of the last run as they are; --samples applies the samples again"); err != nil {
			return err
		}
	}
	if o.dataDir != "" && isNew {
		if err := markPrepared(o.dataDir); err != nil {
			return err
		}
	}
	// A certificate for the ServiceAccount's user name has the rights of the ServiceAccount, and unlike a token outlives a long run.
	hub.config, err = hub.environment.UserConfig(hubUser, "system:serviceaccounts", "system:serviceaccounts:"+manifests.Namespace)
	return err
}

// connectHub prepares an existing cluster.
func (o *runOptions) connectHub(ctx context.Context, steps *startSteps) (*runHub, error) {
	settings := newControllerOptions()
	settings.kubeconfig = o.kubeconfig
	settings.controllers = allControllers()
	if err := settings.complete(func(string) bool { return false }, processSurroundings()); err != nil {
		return nil, err
	}
	config, err := settings.restConfig()
	if err != nil {
		return nil, err
	}
	hub := &runHub{config: config, election: settings.election}
	if hub.log, err = openRunLog(""); err != nil {
		return hub, err
	}
	err = steps.do("connecting to "+config.Host, func() error { return checkReachable(config) })
	if err == nil && !o.noInstall {
		err = install(ctx, config, steps)
	}
	if err == nil && o.samples {
		err = applySamples(ctx, config, steps)
	}
	if err == nil {
		err = steps.do("checking rights", func() error { return preflight(ctx, config, settings) })
	}
	return hub, err
}

// checkReachable asks the server once, before anything is sent to it.
func checkReachable(config *rest.Config) error {
	config = rest.CopyConfig(config)
	config.Timeout = preflightTimeout
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("making a client for %s: %w", config.Host, err)
	}
	return checkServer(client, config.Host)
}

func install(ctx context.Context, config *rest.Config, steps *startSteps) error {
	return steps.do("installing CustomResourceDefinitions and RBAC", func() error { return manifests.Install(ctx, config) })
}

func applySamples(ctx context.Context, config *rest.Config, steps *startSteps) error {
	objects, err := sampleObjects()
	if err != nil {
		return err
	}
	what := fmt.Sprintf("applying the sample world (%d objects)", len(objects))
	return steps.do(what, func() error { return manifests.Apply(ctx, config, objects) })
}

// sampleObjects are the objects of the sample world in the order in which they are applied.
func sampleObjects() ([]*unstructured.Unstructured, error) {
	entries, err := fs.ReadDir(samples.Files(), ".")
	if err != nil {
		return nil, fmt.Errorf("reading the samples: %w", err)
	}
	var objects []*unstructured.Unstructured
	for _, entry := range entries {
		content, err := fs.ReadFile(samples.Files(), entry.Name())
		if err != nil {
			return nil, fmt.Errorf("reading the samples: %w", err)
		}
		decoded, err := manifests.Decode(bytes.NewReader(content), entry.Name())
		if err != nil {
			return nil, err
		}
		objects = append(objects, decoded...)
	}
	return objects, nil
}

// close takes down what was started; the data directory and its kubeconfig stay when the user named one.
func (h *runHub) close(steps *startSteps) error {
	var errs []error
	if h.kubeconfig != nil {
		errs = append(errs, h.kubeconfig.remove())
	}
	if h.environment != nil {
		errs = append(errs, steps.do("stopping the control plane", h.environment.Stop))
	}
	if h.log != nil {
		errs = append(errs, h.log.close())
	}
	return errors.Join(errs...)
}

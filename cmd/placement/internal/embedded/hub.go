// SPDX-License-Identifier: Apache-2.0

package embedded

import (
	"context"
	"errors"
	"fmt"
	"net"
	"path/filepath"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/cmd/placement/internal/live"
	"github.com/placement-hub/placement-hub/manifests"
	"github.com/placement-hub/placement-hub/pkg/explain"
	"github.com/placement-hub/placement-hub/pkg/explain/document"
	"github.com/placement-hub/placement-hub/pkg/explain/hubstate"
	"github.com/placement-hub/placement-hub/pkg/hub/systems"
	"github.com/placement-hub/placement-hub/pkg/localplane"
	"github.com/placement-hub/placement-hub/pkg/localplane/binaries"
)

// logFile is the log of the controllers in the data directory.
const logFile = "placement.log"

// Options configure the hub.
type Options struct {
	// Sample is one of system.Samples.
	Sample systems.Sample
	// DataDir keeps the objects from one hub to the next, as an absolute path; "" is a temporary directory.
	DataDir string
	// Kubeconfig is the absolute path of the kubeconfig to write for users. OwnsKubeconfig reports that it is in DataDir, where no other
	// process writes.
	Kubeconfig     string
	OwnsKubeconfig bool
	// Samples applies the objects of the sample; nil applies them to a new hub. Most of them need the webhooks: see Ready.
	Samples *bool
	// Once is for a hub that ends after one result: no kubeconfig is written.
	Once bool
	// Multicluster installs the definitions of multicluster.x-k8s.io too.
	Multicluster bool
}

// needsControllerManager reports whether the hub needs kube-controller-manager. Placements do not, and one result of the sample fleet in a
// temporary directory leaves it no object to collect, to count or to aggregate.
func (o Options) needsControllerManager() bool {
	return o.Sample.Name != sampleFleet || !o.Once || o.DataDir != ""
}

// checkKubeconfigPaths returns an error if a kubeconfig would overwrite a file that this command has not written.
func (o Options) checkKubeconfigPaths(ctx context.Context) error {
	if o.Once || o.OwnsKubeconfig {
		return nil
	}
	return errors.Join(checkKubeconfigPath(ctx, o.Kubeconfig), checkKubeconfigPath(ctx, o.Kubeconfig+tenantSuffix))
}

// Hub is a control plane with the prerequisites of the controllers.
type Hub struct {
	config      *rest.Config
	access      []string
	assets      binaries.Assets
	environment *localplane.ControlPlane
	kubeconfig  *kubeconfigFile // to be removed; nil if there is none or if it is kept
	tenant      *kubeconfigFile // likewise, beside it
	webhook     net.Listener    // called by the API server; nil for none
	log         *live.Log
	options     Options
	isNew       bool          // no earlier run has set it up
	client      client.Client // with all rights; nil for the sample fleet
	board       board         // what the table shows; it reads nothing for Placements
	podsTable   podsTable     // of the sample of Pods
	members     []*member
	providers   *clusterProviders
}

// Start starts a control plane and sets it up. The returned Hub must be closed even when there is an error, unless it is nil.
func Start(ctx context.Context, o Options, progress *live.Progress) (*Hub, error) {
	assets, err := binaries.FindStored()
	if err != nil {
		return nil, err
	}
	if o.Sample.WorkAgent {
		if _, err := binaries.FindOCM(binaries.WorkAgent); err != nil {
			return nil, err
		}
	}
	h := &Hub{options: o, assets: assets, isNew: true}
	if o.DataDir != "" {
		if h.isNew, err = claimDataDir(o.DataDir, o.Sample.Name); err != nil {
			return nil, err
		}
	}
	if err := o.checkKubeconfigPaths(ctx); err != nil {
		return nil, err
	}
	programs := "etcd, kube-apiserver and kube-controller-manager"
	switch {
	case o.Sample.Scheduler:
		programs = "etcd, kube-apiserver, kube-controller-manager and kube-scheduler"
	case !o.needsControllerManager():
		programs = "etcd and kube-apiserver"
	}
	err = progress.Do("starting "+programs, func() (err error) {
		manager := o.needsControllerManager()
		h.environment, err = localplane.Start(ctx, localplane.Options{
			DataDir: o.DataDir, ControllerManager: manager, Quota: manager, Workloads: o.Sample.Scheduler, Assets: &assets,
		})
		return err
	})
	if err != nil {
		return nil, err
	}
	if err := h.prepare(ctx, progress); err != nil {
		return h, err
	}
	if o.Once {
		return h, nil
	}
	err = h.writeAccess(assets.Kubectl)
	if err == nil {
		err = h.writeTenant(ctx)
	}
	return h, err
}

// writeAccess writes the kubeconfig for users and prints the kubectl commands that use it. kubectl is the path of the program; empty for none.
func (h *Hub) writeAccess(kubectl string) error {
	kubeconfig, err := writeKubeconfig(h.options.Kubeconfig, h.environment.AdminConfig())
	if err != nil {
		return err
	}
	if h.options.DataDir == "" {
		h.kubeconfig = kubeconfig
	}
	h.access = append(h.access, exportLine(h.options.Kubeconfig))
	if kubectl != "" {
		h.access = append(h.access, "kubectl: "+kubectl)
	}
	for _, m := range h.members {
		h.access = append(h.access, fmt.Sprintf("member %s: kubectl --kubeconfig=%s", m.name, m.kubeconfig()))
	}
	return nil
}

// prepare installs the objects into a new control plane, and creates the credentials of the controllers.
func (h *Hub) prepare(ctx context.Context, progress *live.Progress) (err error) {
	o := h.options
	if h.log, err = live.OpenLog(filepath.Join(h.environment.DataDir(), logFile)); err != nil {
		return err
	}
	if !o.Once || o.DataDir != "" {
		if err := progress.Printf("data and logs are in %s", h.environment.DataDir()); err != nil {
			return err
		}
	}
	if err := stepsOf(o.Sample).prepare(h, ctx, progress); err != nil {
		return err
	}
	h.config, err = h.accountConfig(manifests.Namespace, manifests.ServiceAccount)
	return err
}

// accountConfig returns a configuration with the rights of a ServiceAccount. Its certificate has the user name of the account, and unlike a
// token outlives a long run.
func (h *Hub) accountConfig(namespace, name string) (*rest.Config, error) {
	return h.environment.UserConfig("system:serviceaccount:"+namespace+":"+name, "system:serviceaccounts", "system:serviceaccounts:"+namespace)
}

// prepareFleet installs what placements need, and applies the samples.
func (h *Hub) prepareFleet(ctx context.Context, progress *live.Progress) error {
	admin := h.environment.AdminConfig()
	if err := Install(ctx, admin, progress, h.options.Multicluster); err != nil {
		return err
	}
	if err := h.prepareWebhook(ctx); err != nil {
		return err
	}
	if h.wantsSamples() {
		if err := ApplySamples(ctx, admin, progress); err != nil {
			return err
		}
	}
	return h.finishSamples(progress)
}

// wantsSamples reports whether the samples are to be applied.
func (h *Hub) wantsSamples() bool { return ptr.Deref(h.options.Samples, h.isNew) }

// finishSamples records that the samples need not be applied again, or says that they were not.
func (h *Hub) finishSamples(progress *live.Progress) error {
	if !h.wantsSamples() && !h.isNew {
		return progress.Printf("keeping the objects of the last run as they are; --samples applies the samples again")
	}
	if h.options.DataDir != "" && h.isNew {
		return markPrepared(h.options.DataDir, h.options.Sample.Name)
	}
	return nil
}

// Ready completes the hub, as steps, when the controllers serve their webhooks. It applies the objects of the sample that need them, or puts the
// webhook of ManagedClusters in force.
func (h *Hub) Ready(ctx context.Context, progress *live.Progress) error {
	switch apply := stepsOf(h.options.Sample).apply; {
	case apply != nil:
		if h.wantsSamples() {
			if err := apply(h, ctx, progress); err != nil {
				return err
			}
		}
		return h.finishSamples(progress)
	case h.webhook != nil:
		return h.installWebhook(ctx, progress)
	default:
		return nil
	}
}

// board reads what the table of a sample shows, and says of what it depends.
type board struct {
	read    func(ctx context.Context) (*document.Board, error)
	concern explain.Concern
	others  []schema.GroupVersionKind
}

// Source returns what the table of the sample shows, complete after Ready, and follows it until ctx ends; false for Placements.
func (h *Hub) Source(ctx context.Context) (source live.Source, found bool, err error) {
	if h.board.read == nil {
		return live.Source{}, false, nil
	}
	watcher, err := hubstate.Follow(ctx, h.environment.AdminConfig(), h.client.RESTMapper(), h.board.concern, h.board.others...)
	if err != nil {
		return live.Source{}, false, fmt.Errorf("following what the table shows: %w", err)
	}
	return live.Source{Read: h.board.read, Changed: watcher.Changed}, true, nil
}

// AdminConfig returns the connection of an administrator, who has all rights.
func (h *Hub) AdminConfig() *rest.Config { return h.environment.AdminConfig() }

// Config returns the connection of the controllers, with the rights of their ServiceAccount.
func (h *Hub) Config() *rest.Config { return h.config }

// Access returns lines with the address and the credentials of the hub.
func (h *Hub) Access() []string { return h.access }

// Run runs the providers of clusters of the sample. It returns nil when ctx ends or the hub is closed, and an error as soon as a provider, or a
// process of the control plane or of a member, has ended by itself.
func (h *Hub) Run(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return h.environment.Wait(ctx) })
	group.Go(func() error { return h.waitMembers(ctx) })
	if h.providers != nil {
		group.Go(func() error { return h.providers.run(ctx) })
	}
	return group.Wait() //nolint:wrapcheck // It names the program.
}

// Close stops the control plane; the data directory and its kubeconfig stay when the user named them.
func (h *Hub) Close(progress *live.Progress) error {
	var errs []error
	for _, file := range []*kubeconfigFile{h.tenant, h.kubeconfig} { // The directory goes with the last one.
		if file != nil {
			errs = append(errs, file.remove())
		}
	}
	if h.webhook != nil { // The controllers close it, too, once they serve.
		if err := h.webhook.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
			errs = append(errs, fmt.Errorf("closing the listener of the webhook: %w", err))
		}
	}
	errs = append(errs, h.stopMembers(), progress.Do("stopping the control plane", h.environment.Stop))
	if h.log != nil {
		errs = append(errs, h.log.Close())
	}
	return errors.Join(errs...)
}

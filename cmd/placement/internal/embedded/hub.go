package embedded

import (
	"context"
	"errors"
	"fmt"
	"net"
	"path/filepath"

	"golang.org/x/sync/errgroup"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"

	"github.com/placement-hub/placement-hub/cmd/placement/internal/live"
	"github.com/placement-hub/placement-hub/manifests"
	"github.com/placement-hub/placement-hub/pkg/localplane"
	"github.com/placement-hub/placement-hub/pkg/localplane/binaries"
)

// logFile is the log of the controllers in the data directory.
const logFile = "placement.log"

// Sample names sample objects, and with them the parts of the hub that they need.
type Sample string

const (
	// Fleet has clusters and placements. The hub has no webhook with Options.Once.
	Fleet Sample = "fleet"
	// Pods has Nodes, policies, classes and workloads, which kube-scheduler binds. The hub has none of the kinds of placements.
	Pods Sample = "pods"
	// Federation has three clusters with an API server and a work agent each, and objects that are delivered to them.
	Federation Sample = "federation"
	// Clusters has ClusterRequests, and two providers that make clusters for them. With the binary of the work agent, objects are delivered
	// to these clusters.
	Clusters Sample = "clusters"
)

// Samples returns the names of all samples.
func Samples() []Sample { return []Sample{Fleet, Pods, Federation, Clusters} }

// Options configure the hub.
type Options struct {
	// Sample is one of Samples.
	Sample Sample
	// DataDir keeps the objects from one hub to the next, as an absolute path; "" is a temporary directory.
	DataDir string
	// Kubeconfig is the absolute path of the kubeconfig to write for users. OwnsKubeconfig reports that it is in DataDir, where no other
	// process writes.
	Kubeconfig     string
	OwnsKubeconfig bool
	// Samples applies the sample objects of Fleet; nil applies them to a new hub. Those of the other samples need the webhooks: see Ready.
	Samples *bool
	// Once is for a hub that ends after one result: no kubeconfig is written.
	Once bool
	// Multicluster installs the definitions of multicluster.x-k8s.io too.
	Multicluster bool
}

// needsControllerManager reports whether the hub needs kube-controller-manager. Placements do not, and one result of the sample Fleet in a
// temporary directory leaves it no object to collect, to count or to aggregate.
func (o Options) needsControllerManager() bool {
	return o.Sample != Fleet || !o.Once || o.DataDir != ""
}

// Hub is a control plane with the prerequisites of the controllers.
type Hub struct {
	config      *rest.Config
	access      []string
	assets      binaries.Assets
	environment *localplane.ControlPlane
	kubeconfig  *kubeconfigFile // to be removed; nil if there is none or if it is kept
	webhook     net.Listener    // called by the API server; nil for none
	log         *live.Log
	options     Options
	isNew       bool       // no earlier run has set it up
	pods        *live.Pods // what a table of Pods shows; nil for other samples
	federated   *live.Federated
	members     []*member // of the sample Federation
	clusters    *live.Clusters
	providers   *clusterProviders // of the sample Clusters
}

// Start starts a control plane and sets it up. The returned Hub must be closed even when there is an error, unless it is nil.
func Start(ctx context.Context, o Options, progress *live.Progress) (*Hub, error) {
	assets, err := binaries.Find()
	if err != nil {
		return nil, err
	}
	if o.Sample == Federation {
		if _, err := binaries.FindOCM(binaries.WorkAgent); err != nil {
			return nil, err
		}
	}
	h := &Hub{options: o, assets: assets, isNew: true}
	if o.DataDir != "" {
		if h.isNew, err = claimDataDir(o.DataDir, o.Sample); err != nil {
			return nil, err
		}
	}
	if !o.Once && !o.OwnsKubeconfig {
		if err := checkKubeconfigPath(ctx, o.Kubeconfig); err != nil {
			return nil, err
		}
	}
	programs := "etcd, kube-apiserver and kube-controller-manager"
	switch {
	case o.Sample == Pods:
		programs = "etcd, kube-apiserver, kube-controller-manager and kube-scheduler"
	case !o.needsControllerManager():
		programs = "etcd and kube-apiserver"
	}
	err = progress.Do("starting "+programs, func() (err error) {
		manager := o.needsControllerManager()
		h.environment, err = localplane.Start(ctx, localplane.Options{
			DataDir: o.DataDir, ControllerManager: manager, Quota: manager, Workloads: o.Sample == Pods, Assets: &assets,
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
	prepareSample := map[Sample]func(context.Context, *live.Progress) error{
		Fleet: h.prepareFleet, Pods: h.preparePods, Federation: h.prepareFederation, Clusters: h.prepareClusters,
	}[o.Sample]
	if err := prepareSample(ctx, progress); err != nil {
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
		return markPrepared(h.options.DataDir, h.options.Sample)
	}
	return nil
}

// Ready completes the hub, as steps, when the controllers serve their webhooks. It puts the webhook of ManagedClusters in force, or applies
// the samples of Pods, Federation or Clusters.
func (h *Hub) Ready(ctx context.Context, progress *live.Progress) error {
	apply, isApplied := map[Sample]func(context.Context, *live.Progress) error{
		Pods: h.applyPods, Federation: h.applyFederation, Clusters: h.applyClusters,
	}[h.options.Sample]
	switch {
	case isApplied:
		if h.wantsSamples() {
			if err := apply(ctx, progress); err != nil {
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

// Pods returns what a table of Pods shows; nil unless Options.Sample is Pods. It is complete after Ready.
func (h *Hub) Pods() *live.Pods { return h.pods }

// Config returns the connection of the controllers, with the rights of their ServiceAccount.
func (h *Hub) Config() *rest.Config { return h.config }

// Access returns lines with the address and the credentials of the hub.
func (h *Hub) Access() []string { return h.access }

// Run runs the providers of the sample Clusters. It returns nil when ctx ends or the hub is closed, and an error as soon as a provider, or a
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
	if h.kubeconfig != nil {
		errs = append(errs, h.kubeconfig.remove())
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

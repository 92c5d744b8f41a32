// SPDX-License-Identifier: Apache-2.0

package suite

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	"github.com/onsi/ginkgo/v2/types"
	. "github.com/onsi/gomega"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/manifests"
	"github.com/placement-hub/placement-hub/pkg/localplane"
	"github.com/placement-hub/placement-hub/pkg/system"
	"github.com/placement-hub/placement-hub/test/env/planes"
)

const (
	// Timeout bounds the time that a change takes to reach the decisions on a loaded machine.
	Timeout = 30 * time.Second
	// CollectTimeout bounds the time of the garbage collector, which discovers new kinds twice a minute.
	CollectTimeout = 90 * time.Second
	// SettleTimeout bounds the time in which the hub comes to rest after many changes on a loaded machine.
	SettleTimeout = 2 * time.Minute
	// QuietPeriod is the time without a change after which specs conclude that there will be none.
	QuietPeriod = 2 * time.Second
)

// HubUser is the user name of the ServiceAccount that the controllers run as.
const HubUser = "system:serviceaccount:" + manifests.Namespace + ":" + manifests.ServiceAccount

var (
	// ControlPlane is the control plane that the specs work on.
	ControlPlane *localplane.ControlPlane
	// Client has all rights on ControlPlane and reads from the API server, not from a cache.
	Client client.Client
	// StopHub ends the controllers that run now and waits for their end; further calls do nothing. Whoever starts others replaces it.
	StopHub func()
)

var (
	// configure changes the options of every hub before the settings of StartHub do.
	configure = func(*system.Options) {}
	// deleteNamespaces, deleteFederated and workloads report whether Run has the settings DeletingNamespaces, DeletingFederated and
	// WithWorkloads.
	deleteNamespaces, deleteFederated, workloads bool
)

// Options are what a package of specs says of its control plane and of its hub.
type Options struct {
	// Plane, if not nil, is a control plane that no other package has; by default it is that of planes.Take.
	Plane *localplane.Options
	// Bare leaves the manifests of the hub and the hub itself to BeforeHub.
	Bare bool
	// BeforeHub, if not nil, prepares the API server before the hub starts; its cleanup is that of the suite.
	BeforeHub func(ctx SpecContext)
	// Start starts the hub, which StopHub ends. Run starts all controllers but for those that StartHub names.
	Start func(ctx context.Context)
}

// Setting changes Options.
type Setting func(*Options)

// WithWorkloads runs kube-scheduler and the controllers of workloads too, so that pods are made and bound to the Nodes of Fixture.Node.
func WithWorkloads(o *Options) {
	o.Plane = &localplane.Options{Workloads: true, AuditLog: true, Log: GinkgoWriter}
	workloads, deleteNamespaces = true, true
}

// OwnPlane starts a control plane whose programs the specs can kill.
func OwnPlane(o *Options) {
	o.Plane = &localplane.Options{ControllerManager: true, AuditLog: true, Log: GinkgoWriter}
}

// DeletingNamespaces deletes the namespaces of fixtures, for systems that act by objects of other kinds than Placements in them.
func DeletingNamespaces(*Options) { deleteNamespaces = true }

// DeletingFederated deletes the objects of the federated kinds in the namespaces of fixtures.
func DeletingFederated(*Options) { deleteFederated = true }

// OnlyAPIServer starts etcd and an API server without an audit log, and neither manifests nor a hub: specs of one system bring what it needs.
func OnlyAPIServer(o *Options) {
	o.Plane = &localplane.Options{Log: GinkgoWriter}
	o.Bare, o.Start = true, nil
}

// BeforeHub prepares the API server before the hub starts, for systems beside placement.
func BeforeHub(prepare func(ctx SpecContext)) Setting {
	return func(o *Options) { o.BeforeHub = prepare }
}

// ConfigureHub changes the options of every hub before the settings of StartHub do.
func ConfigureHub(change func(*system.Options)) Setting {
	return func(*Options) { configure = change }
}

// StartedBy starts the hub with a function that sets StopHub.
func StartedBy(start func(ctx context.Context)) Setting { return func(o *Options) { o.Start = start } }

// Run runs the specs of the calling package against a control plane and a hub of their own, as the settings have them. After the last spec it
// demands that no write of the hub has enqueued a placement.
func Run(t *testing.T, description string, settings ...Setting) {
	t.Helper()
	RegisterFailHandler(Fail)
	SetDefaultEventuallyPollingInterval(50 * time.Millisecond)
	SetDefaultConsistentlyPollingInterval(50 * time.Millisecond)
	options := Options{
		Start: func(ctx context.Context) { StopHub = StartHub(HubConfig(ctx, ControlPlane)) }, //nolint:contextcheck // It runs until StopHub.
	}
	for _, set := range settings {
		set(&options)
	}

	BeforeSuite(func(ctx SpecContext) { start(ctx, options) })
	AfterEach(endInterval)
	ReportAfterSuite("every spec has a place in its package", expectPlaces)
	if options.Plane == nil || options.Plane.AuditLog {
		AfterSuite(expectOwnWritesEnqueueNothing)
	}
	RunSpecs(t, description)
}

// expectPlaces demands that each spec, or a container of it, is declared outside this package. When many packages share a program, test/run
// selects the specs of a package by the files that declare them.
func expectPlaces(report Report) {
	const here = "/test/integration/suite/"
	for _, spec := range report.SpecReports {
		places := append(slices.Clone(spec.ContainerHierarchyLocations), spec.LeafNodeLocation)
		isElsewhere := func(place types.CodeLocation) bool { return !strings.Contains(place.FileName, here) }
		Expect(spec.LeafNodeType.Is(types.NodeTypeIt) && !slices.ContainsFunc(places, isElsewhere)).
			To(BeFalse(), "%s stands in %s alone; call Describe in its package", spec.FullText(), here)
	}
}

// start starts the control plane and the hub, which end with the suite.
func start(ctx SpecContext, options Options) {
	ctrl.SetLogger(klog.NewKlogr())
	var (
		err      error
		giveBack func() error
	)

	if options.Plane == nil {
		ControlPlane, giveBack, err = planes.Take(ctx, GinkgoWriter)
	} else {
		ControlPlane, err = localplane.Start(ctx, *options.Plane)
		giveBack = func() error { return ControlPlane.Stop() }
	}
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(func() { Expect(giveBack()).To(Succeed()) })

	if options.Plane != nil && !options.Bare {
		Expect(manifests.Install(ctx, ControlPlane.AdminConfig())).To(Succeed())
	}
	admin := rest.CopyConfig(ControlPlane.AdminConfig())
	admin.WarningHandler = rest.NoWarnings{} // Specs that are about them listen for themselves.
	Client, err = client.New(admin, client.Options{Scheme: system.Scheme()})
	Expect(err).NotTo(HaveOccurred())
	if options.BeforeHub != nil {
		options.BeforeHub(ctx)
	}

	if options.Start != nil {
		options.Start(ctx)
		DeferCleanup(func() { StopHub() })
	}
}

// SPDX-License-Identifier: Apache-2.0

package system

import (
	"cmp"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"

	"go.opentelemetry.io/otel/trace"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	apiruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/placement-hub/placement-hub/pkg/apis/scheme"
	"github.com/placement-hub/placement-hub/pkg/clusterrequest"
	"github.com/placement-hub/placement-hub/pkg/clustersets"
	"github.com/placement-hub/placement-hub/pkg/clustersets/managedcluster"
	"github.com/placement-hub/placement-hub/pkg/history/recorder"
	"github.com/placement-hub/placement-hub/pkg/hub/leftfinalizers"
	"github.com/placement-hub/placement-hub/pkg/hub/queue"
	"github.com/placement-hub/placement-hub/pkg/hub/sharedinventory"
	"github.com/placement-hub/placement-hub/pkg/hub/systems"
	"github.com/placement-hub/placement-hub/pkg/hub/webhookserver"
	"github.com/placement-hub/placement-hub/pkg/placement/controller"
	"github.com/placement-hub/placement-hub/pkg/removalbudget"
)

// defaultReconcileTimeout is the timeout of one reconcile unless Options set another one.
const defaultReconcileTimeout = time.Minute

// defaultNamespace is the namespace of the hub unless Options set another one.
const defaultNamespace = "open-cluster-management-hub"

// Options say which controllers run and how.
type Options struct { //nolint:recvcheck // Systems returns references to the fields, for flags. The other methods read a copy.
	// Controllers are patterns over Names: "*" all that have no system, "system/*" all of a system, "name" that one, "-name" not that one.
	Controllers []string
	// Namespace is where the ConfigMap of the vocabulary and the certificates of the webhook are kept; empty means
	// open-cluster-management-hub.
	Namespace string
	// Workers is how many Placements are reconciled at the same time; 0 means DefaultWorkers.
	Workers int
	// ProfileDecisions writes the decisions of v1beta1 placements as PlacementDecisions of multicluster.x-k8s.io too.
	ProfileDecisions bool
	// RemovalLimit says which share of the clusters in the decisions of a placement may leave them within ten minutes for causes outside of
	// the Placement; its annotations win over it. A larger removal is held. Nil is off for Setup, and unknown for Observe.
	RemovalLimit removalbudget.Limit
	// WarnRemovalPercent is the share, from 0 to 100, above which an event warns that the decisions of a placement have lost so many of their
	// clusters at once, for whatever cause. Nil means controller.DefaultWarnRemovalPercent, and 100 never.
	WarnRemovalPercent *int
	// TaintGracePeriod is how long the condition of a cluster is not True before the controller managedcluster-taints adds a taint to it.
	TaintGracePeriod time.Duration
	// ReconcileTimeout limits one reconcile with all its writes, and of a Placement its evaluation and each of its writes; 0 means a minute. A
	// request without a response occupies its worker no longer.
	ReconcileTimeout time.Duration
	// Clock is the time by which tolerations and scores expire; nil means the system's.
	Clock clock.PassiveClock
	// Tracing takes the spans of evaluations; nil for no traces.
	Tracing trace.TracerProvider
	// Webhook says how webhooks are served; its Listener is needed when ServesWebhook.
	Webhook webhookserver.Options
	// PolicyFailure is the failure policy of the webhooks of pod scheduling policies; empty means Ignore.
	PolicyFailure admissionregistrationv1.FailurePolicyType
	// FederatedKinds are kinds of objects that are delivered to member clusters beyond federation.DefaultKinds, as federation.ParseKinds takes
	// them.
	FederatedKinds []string
	// ClusterRequests say how ClusterRequests choose among Clusters.
	ClusterRequests clusterrequest.Options
	// ClusterDrainTimeout is how long the ManagedCluster of a Cluster that is deleted waits for its decisions and works; 0 means
	// clusterrequest.DefaultDrainTimeout.
	ClusterDrainTimeout time.Duration
	// ClustersInventorySet is the ManagedClusterSet of published Clusters that name none; empty means clusterrequest.DefaultClusterSet.
	ClustersInventorySet string
	// ClusterProfileClaims are the patterns of the claims that are properties of ClusterProfiles, as clusterprofiles.ParsePatterns takes them; nil
	// means all.
	ClusterProfileClaims []string
	// ClusterProfileFormerWriters are the field managers from which ClusterProfiles are taken over.
	ClusterProfileFormerWriters []string
	// AddSystem registers an enabled opt-in system for reports whether it is on; nil for no reports.
	AddSystem func(*systems.System)
	// FormerRenewal returns, once this process is the leader, when the former leader has renewed the lease last, and zero if there was none: the
	// problems that it has reported get no Event again. Nil means that nothing is known of a former leader.
	FormerRenewal func() time.Time
	// Explanations returns what is served to users beside the webhooks, once the manager is made; nil for nothing. It is not called by a hub
	// without webhooks.
	Explanations func(manager.Manager) (*webhookserver.Published, error)
	// View is what Setup and Observe connect to what the placement controllers know; nil without explanations.
	View *controller.View

	// History is how the history of decisions is kept, and Recorder keeps it once StartHistory has made it; nil for none.
	History  HistoryOptions
	Recorder *recorder.Recorder

	// settingsBySystem are the settings that systems keep themselves: see settingsOf.
	settingsBySystem map[string]any
}

// DefaultOptions returns the settings of a hub without flags, which enable no controllers.
func DefaultOptions() Options {
	return Options{
		PolicyFailure:   admissionregistrationv1.Ignore,
		ClusterRequests: DefaultRequests(), ClusterDrainTimeout: clusterrequest.DefaultDrainTimeout,
		ClustersInventorySet: clusterrequest.DefaultClusterSet,
		History:              HistoryOptions{Mode: HistoryMemory, Bytes: DefaultHistoryBytes},
	}
}

// Scheme returns the types of all objects that the hub reads or writes.
func Scheme() *apiruntime.Scheme { return scheme.New() }

// CacheOptions returns the informer settings that the enabled controllers rely on. Objects are kept in the smallest form that does (see
// compact). Of the kinds of which a cluster may have many or secret ones only the objects of the hub are listed and found, and of all
// ServiceAccounts those whose rights bind their namespaces.
//
// The Secrets of Tenants are read where their controller runs, because a hub without it has no right to. The kinds of
// opt-in systems are not in this cache.
func (o Options) CacheOptions() cache.Options {
	ours := func(name string) cache.ByObject {
		return cache.ByObject{Namespaces: map[string]cache.Config{
			cmp.Or(o.Namespace, defaultNamespace): {FieldSelector: fields.OneTermEqualSelector(metav1.ObjectNameField, name)},
		}}
	}

	enabled, err := o.Enabled()
	if err != nil {
		enabled = nil // Setup returns the error.
	}
	options := cache.Options{DefaultTransform: o.Recorder.Transform(compact()), ByObject: map[client.Object]cache.ByObject{
		&corev1.ConfigMap{}:      ours(managedcluster.VocabularyConfigMap),
		&corev1.Secret{}:         ours(webhookserver.Secret),
		&corev1.ServiceAccount{}: {Field: fields.OneTermEqualSelector(metav1.ObjectNameField, clustersets.Account)},
	}}

	for _, system := range o.Systems() {
		if system.HubCache != nil {
			system.HubCache(&options, enabled)
		}
	}
	return options
}

// addReports adds what reports about systems that are off.
func (o Options) addReports(mgr manager.Manager, all []member, enabled []string) error {
	off := slices.DeleteFunc(o.Systems(), func(system systems.Entry) bool {
		return system.Name == "" || len(membersOf(all, system.Name, enabled)) > 0
	})
	if err := leftfinalizers.Add(mgr, off); err != nil {
		return fmt.Errorf("preparing to report what systems that are off have left: %w", err)
	}
	return o.addProfileCheck(mgr, enabled)
}

// Setup adds the selected controllers to the manager.
func Setup(mgr manager.Manager, o Options) error {
	enabled, err := o.Enabled()
	if err != nil {
		return err
	}
	settings, shared := o.settings(), newInventory(enabled)

	optIn, webhooks, err := o.optIn(enabled, shared, settings)
	if err != nil {
		return err
	}
	all := o.allSharing(enabled, shared)
	reads := func(system systems.Entry) bool {
		return system.ReadsInventory && len(membersOf(all, system.Name, enabled)) > 0
	}
	if slices.ContainsFunc(o.Systems(), reads) { // The inventory outlives a system.
		if err := shared.Connect(mgr); err != nil {
			return fmt.Errorf("preparing proofs: %w", err)
		}
	}

	if err := systems.Add(mgr, optIn...); err != nil {
		return err
	}
	if err := o.addReports(mgr, all, enabled); err != nil {
		return err
	}
	for _, member := range membersOf(all, "", enabled) {
		if member.Setup != nil {
			if err := member.Setup(mgr, settings); err != nil {
				return fmt.Errorf("setting up controller %s: %w", member.Name, err)
			}
		}

		if member.Webhook != nil {
			served, err := member.Webhook(mgr, settings)
			if err != nil {
				return fmt.Errorf("setting up controller %s: %w", member.Name, err)
			}
			webhooks = append(webhooks, served)
		}
	}

	if len(webhooks) == 0 {
		return nil
	}
	o.Webhook.Off = pathsOff(all, enabled)
	return o.setupWebhooks(mgr, settings, webhooks)
}

// newInventory returns the inventory of a hub with these controllers, whose writes it assumes.
func newInventory(enabled []string) *sharedinventory.Shared {
	shared := sharedinventory.New()
	shared.Inventory.SetAssumptions(clustersets.Assumptions(enabled))
	return shared
}

// pathsOff returns the paths of the webhooks of opt-in systems that are not enabled, with what to do about configurations that are left.
func pathsOff(all []member, enabled []string) map[string]error {
	off := map[string]error{}
	for _, member := range all {
		if slices.Contains(enabled, member.Name) {
			continue
		}
		var left []string
		if name := member.Served.Mutating; name != "" {
			left = append(left, "mutatingwebhookconfiguration/"+name)
		}
		if name := member.Served.Validating; name != "" {
			left = append(left, "validatingwebhookconfiguration/"+name)
		}
		for _, path := range member.Served.Paths {
			off[path] = fmt.Errorf("the controller %s of the hub is off; an administrator enables it, or runs: kubectl delete %s",
				member.Name, strings.Join(left, " "))
		}
	}
	return off
}

// setupWebhooks serves the webhooks, and the explanations beside them.
func (o Options) setupWebhooks(mgr manager.Manager, settings queue.Settings, webhooks []webhookserver.Webhook) (err error) {
	if o.Explanations != nil {
		if o.Webhook.Published, err = o.Explanations(mgr); err != nil {
			return fmt.Errorf("setting up the explanations: %w", err)
		}
	}
	if err := webhookserver.Setup(mgr, settings, o.Webhook, webhooks); err != nil {
		return fmt.Errorf("setting up the webhooks: %w", err)
	}
	return nil
}

// Workers mostly wait for the API server. Before a removal they wait for consistent lists, which an API server answers every 100 ms while there
// are writes of other resources: the 20 objects of the benchmark lose a cluster after 83 ms if each of them has a worker, and with 4 workers for
// each of two CPUs after 231 ms.
const (
	workersPerCPU = 16
	// maxDefaultWorkers bounds the concurrent requests of a hub on many CPUs.
	maxDefaultWorkers = 128
)

// DefaultWorkers returns how many Placements are reconciled at the same time unless Options set another number.
func DefaultWorkers() int { return min(workersPerCPU*runtime.GOMAXPROCS(0), maxDefaultWorkers) }

// settings returns the settings of all controllers, with defaults for zero fields.
func (o Options) settings() queue.Settings {
	settings := queue.Settings{
		Namespace: cmp.Or(o.Namespace, defaultNamespace), Workers: max(o.Workers, 0), Timeout: max(o.ReconcileTimeout, 0), Clock: o.Clock,
		Tracing: o.Tracing, FormerRenewal: o.FormerRenewal,
	}
	settings.Workers = cmp.Or(settings.Workers, DefaultWorkers())
	settings.Timeout = cmp.Or(settings.Timeout, defaultReconcileTimeout)
	if settings.Clock == nil {
		settings.Clock = clock.RealClock{}
	}
	return settings
}

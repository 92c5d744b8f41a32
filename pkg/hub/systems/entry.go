// SPDX-License-Identifier: Apache-2.0

package systems

import (
	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/placement-hub/placement-hub/pkg/hub/queue"
	"github.com/placement-hub/placement-hub/pkg/hub/webhookserver"
)

// Entry is a system in the list of package system: everything that the hub and its commands know of one system. Zero fields are for a system
// that has no such thing.
//
// The objects that a system needs on the API server are in manifests/<name>, and those of its sample in deploy/samples.
type Entry struct {
	// Name is the word of an opt-in system, in directories, flags and pages: "<name>/*" in --controllers enables all of its controllers. It is
	// empty for what every hub has, which "*" enables.
	Name string
	// Groups are the API groups of the kinds that the system has for itself. An opt-in system is off while the API server does not serve what its
	// controllers read of them.
	Groups []Group
	// Controllers are the controllers of the system. They keep what they share from their first setup, so that each start needs a new Entry.
	Controllers []Controller
	// Flags adds the flags of the system to those of `placement controller`. Validate returns what is wrong with their values, and Unused which of
	// them have no effect because a controller is not enabled.
	Flags    func(*pflag.FlagSet)
	Validate func() error
	Unused   func(enabled []string) error
	// Added are kinds of users that the system watches, because a flag names them.
	Added *AddedKinds
	// Finalizers are those that the system puts on objects.
	Finalizers []Finalizer
	// Cache changes the settings of the cache of the system, and HubCache those of the cache that all systems share.
	Cache    func(*cache.Options)
	HubCache func(options *cache.Options, enabled []string)
	// Compact makes an object of the system small before it is cached; it leaves those of others alone.
	Compact func(object any)
	// ReadsInventory reports whether the controllers ask the shared inventory, which outlives the system, whether its view is fresh.
	ReadsInventory bool
	// Explains reports whether the hub explains objects of the system to users, for which it has the role <name>-explanations.
	Explains bool
	// Sample is what `placement run --sample` shows of the system.
	Sample *Sample
}

// Group is an API group of a system.
type Group struct {
	Name string
	// Hint says what to do while the API server does not serve the group: "apply X, or leave the controllers Y off".
	Hint string
}

// Access is what a controller needs on the hub.
type Access struct {
	// Reads are the resources that the controller lists and watches everywhere: without one of them its caches never sync.
	Reads []schema.GroupVersionResource
	// Required are those of Reads that the hub does not start without, although an opt-in system has their group.
	Required []schema.GroupVersionResource
	// Rules are the rules of manifests/rbac that the controller needs beyond Reads.
	Rules []Rules
}

// Rules are rules of one role of the manifests.
type Rules struct {
	// Role is the name of a ClusterRole, a Role or both, without the prefix open-cluster-management:placement-hub:.
	Role string
	// Resources are the resources of the rules, such as "placements/status". Empty means every rule of the role.
	Resources []string
}

// Controller is a controller of a system.
type Controller struct {
	// Name is what --controllers takes.
	Name string
	// Setup adds the controller to the manager; nil for one that only serves a webhook.
	Setup func(manager.Manager, queue.Settings) error
	// Webhook returns what the controller serves to API servers; nil for none.
	Webhook func(manager.Manager, queue.Settings) (webhookserver.Webhook, error)
	// Served are the configurations and paths of the webhook of an opt-in system, which are known while the system is off.
	Served webhookserver.Webhook
	// Access is what the controller needs on the hub.
	Access Access
}

// AddedKinds are kinds of namespaced objects that a flag adds to those of a system.
type AddedKinds struct {
	// Flag is the name of the flag.
	Flag string
	// Parse returns the kinds.
	Parse func() ([]schema.GroupVersionKind, error)
	// Resources returns the resources of the kinds that the API server serves, and the other kinds.
	Resources func(meta.RESTMapper) ([]schema.GroupVersionResource, []schema.GroupVersionKind, error)
	// Verbs are the rights that the hub needs on each resource, and Hint says how to grant them.
	Verbs []string
	Hint  string
}

// Sample is what `placement run --sample` shows of a system. The objects are in deploy/samples/<name>.
type Sample struct {
	// Name is the name of the sample; empty means that of its system.
	Name string
	// Short is for the help of the flag, such as "pods has nodes and workloads". Text is a paragraph for the help of the command, in lines of at
	// most 120 characters; Example is a part of its examples. Both have no line break at their ends.
	Short, Text, Example string
	// Controllers are the patterns of --controllers that run; empty means the bare star and all controllers of the system.
	Controllers []string
	// Alone says why the sample needs a control plane of its own, such as "which starts members of its own"; empty for one that does not.
	Alone string
	// NoPlacements reports that the hub has no Placements, Scheduler that it needs kube-scheduler, and WorkAgent that it needs the work agent of
	// Open Cluster Management.
	NoPlacements, Scheduler, WorkAgent bool
	// Shows are the kinds of the objects in a table that is not made for this sample.
	Shows []schema.GroupVersionKind
}

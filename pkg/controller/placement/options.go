package placement

import (
	"slices"

	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/placement-hub/placement-hub/pkg/controller/queue"
	"github.com/placement-hub/placement-hub/pkg/decision/api"
	"github.com/placement-hub/placement-hub/pkg/decision/removalbudget"
)

// The names of the controllers, as --controllers takes them.
const (
	Name         = "placement"
	V1alpha1Name = "placement-v1alpha1"
)

// Options say which placements are served and how.
type Options struct {
	// Controllers are the names of the enabled controllers; those of this package count.
	Controllers []string
	// ProfileDecisions writes the decisions of v1beta1 placements as PlacementDecisions of multicluster.x-k8s.io too.
	ProfileDecisions bool
	// RemovalLimit says which share of the clusters in the decisions of a placement may leave them within ten minutes for causes outside of
	// the placement; annotations of the placement win over it. Nil is off for Setup, and not known for Observe.
	RemovalLimit removalbudget.Limit
	// WarnRemovalPercent is the share, from 0 to 100, above which an event warns that the decisions of a placement have lost so many of their
	// clusters at once. Nil means DefaultWarnRemovalPercent, and 100 never.
	WarnRemovalPercent *int
	// View is connected to what the controllers know; nil when nobody asks.
	View *View
}

// Setup adds the controllers to the manager.
func (o Options) Setup(mgr manager.Manager, settings queue.Settings) error {
	return service{o.outputs(), o.View}.setup(mgr, settings)
}

// outputs returns the APIs to serve and the formats to write.
func (o Options) outputs() servedAPIs {
	limit := removalbudget.Limit{
		Percent:       ptr.To(ptr.Deref(o.RemovalLimit.Percent, removalbudget.NoLimit)),
		CountReplaced: ptr.To(ptr.Deref(o.RemovalLimit.CountReplaced, false)),
	}
	written := servedAPIs{limit: limit, warned: o.WarnRemovalPercent}

	if slices.Contains(o.Controllers, Name) {
		written.apis = append(written.apis, api.V1beta1)
		written.profiles = o.ProfileDecisions
	}

	if slices.Contains(o.Controllers, V1alpha1Name) {
		written.apis = append(written.apis, api.V1alpha1)
	}

	return written
}

// SPDX-License-Identifier: Apache-2.0

package debug_test

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/apiserver/pkg/authorization/authorizer"

	"github.com/placement-hub/placement-hub/manifests"
	"github.com/placement-hub/placement-hub/pkg/explain"
	"github.com/placement-hub/placement-hub/pkg/explain/debug"
	"github.com/placement-hub/placement-hub/pkg/explain/hubstate/statefile"
	"github.com/placement-hub/placement-hub/pkg/inventory"
	"github.com/placement-hub/placement-hub/pkg/placement"
	"github.com/placement-hub/placement-hub/pkg/placement/api"
	"github.com/placement-hub/placement-hub/pkg/selector"
)

// noon is the time of every question.
var noon = time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)

// definitions are those that the hub installs.
var definitions = sync.OnceValues(manifests.Definitions)

var admission = sync.OnceValues(func() (*statefile.Admission, error) {
	crds, err := definitions()
	if err != nil {
		return nil, err
	}
	return statefile.NewAdmission(crds)
})

// hub is the State of a file, and counts the lookups in it.
type hub struct {
	state     *explain.State
	inventory *inventory.Inventory
	apis      []api.Adapter
	syncing   bool
	broken    error
	lookups   int
	options   placement.Options
}

var _ debug.Hub = (*hub)(nil)

func newHub(t *testing.T) *hub {
	t.Helper()
	crds, err := definitions()
	must(t, err)
	reader, err := statefile.NewReader(crds)
	must(t, err)
	content, err := os.ReadFile("testdata/world.yaml")
	must(t, err)
	reader.Read("world.yaml", content)
	state, err := reader.State()
	must(t, err)

	h := &hub{state: state, inventory: inventory.New(selector.NewCompiler()), apis: api.Adapters()}
	for _, set := range state.ClusterSets {
		h.inventory.SetClusterSet(set)
	}
	for _, binding := range state.Bindings {
		h.inventory.SetBinding(binding)
	}
	for _, scores := range state.Scores {
		h.inventory.SetScores(scores)
	}

	for _, cluster := range state.Clusters {
		h.inventory.SetCluster(cluster)
	}
	for _, object := range state.Decisions {
		h.inventory.SetDecision(api.InventoryPage(api.V1beta1, api.V1beta1.Codec().Read(object)))
	}
	return h
}

func (h *hub) Serves(adapter api.Adapter) bool { return slices.Contains(h.apis, adapter) }

func (h *hub) Synced() bool { return !h.syncing }

func (h *hub) Snapshot() *inventory.Snapshot {
	h.lookups++
	return h.inventory.Snapshot()
}

func (h *hub) Options() placement.Options { return h.options }

func (h *hub) Placement(_ context.Context, key inventory.Key) (*api.Placement, error) {
	h.lookups++
	for _, object := range h.state.Placements {
		if placement := api.Read(object); placement.Key() == key {
			return placement, h.broken
		}
	}
	return nil, h.broken
}

func (h *hub) Present(_ context.Context, p *api.Placement) (placement.Existing, error) {
	h.lookups++
	var pages []*api.Page
	for _, object := range h.state.Decisions {
		if page := p.API.Codec().Read(object); page != nil && page.Namespace == p.Namespace &&
			slices.Contains(placement.PlacementsOf(p.API.Codec(), page), p.Name) {
			pages = append(pages, page)
		}
	}
	return placement.NewExisting(p.API.Codec(), p, pages), h.broken
}

// rights are what everybody may do, as "verb namespace/name.group", and what was asked.
type rights struct {
	allowed []string
	broken  error
	asked   []authorizer.Attributes
}

func (r *rights) Authorize(_ context.Context, asked authorizer.Attributes) (authorizer.Decision, string, error) {
	r.asked = append(r.asked, asked)
	if r.broken != nil {
		return authorizer.DecisionNoOpinion, "", r.broken
	}
	if slices.Contains(r.allowed, question(asked)) {
		return authorizer.DecisionAllow, "", nil
	}
	return authorizer.DecisionNoOpinion, "nobody said so", nil
}

func question(asked authorizer.Attributes) string {
	return asked.GetVerb() + " " + asked.GetNamespace() + "/" + asked.GetName() + "." + asked.GetAPIGroup()
}

func (r *rights) questions() string {
	texts := make([]string, 0, len(r.asked))
	for _, asked := range r.asked {
		texts = append(texts, question(asked))
	}
	return strings.Join(texts, ", ")
}

var errDown = errors.New("connection refused by 10.0.0.1")

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// locked answers one question at a time.
func locked(r *rights) debug.Access { return &oneByOne{rights: r} }

type oneByOne struct {
	mu     sync.Mutex
	rights *rights
}

func (o *oneByOne) Authorize(ctx context.Context, asked authorizer.Attributes) (authorizer.Decision, string, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.rights.Authorize(ctx, asked)
}

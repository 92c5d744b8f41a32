// SPDX-License-Identifier: Apache-2.0

package casetests

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/term"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/cmd/placement/internal/exit"
	"github.com/placement-hub/placement-hub/cmd/placement/internal/hubflags"
	"github.com/placement-hub/placement-hub/cmd/placement/internal/objectnames"
	"github.com/placement-hub/placement-hub/pkg/explain"
	"github.com/placement-hub/placement-hub/pkg/explain/admission"
	"github.com/placement-hub/placement-hub/pkg/explain/dryrun"
	"github.com/placement-hub/placement-hub/pkg/explain/hubstate"
	"github.com/placement-hub/placement-hub/pkg/explain/hubstate/statefile"
	"github.com/placement-hub/placement-hub/pkg/explain/placementtest/cases"
	"github.com/placement-hub/placement-hub/pkg/explain/placementtest/evaluate"
	"github.com/placement-hub/placement-hub/pkg/explain/whatif"
	"github.com/placement-hub/placement-hub/pkg/explain/writes"
	"github.com/placement-hub/placement-hub/pkg/placement/api"
	pods "github.com/placement-hub/placement-hub/pkg/podscheduling/explain"
)

// namespaceOf returns the one namespace that all cases are about, so that its users need no rights in others; empty for several.
func namespaceOf(read []*cases.Case) string {
	namespaces := map[string]bool{}
	for _, c := range read {
		objects := &c.Spec.Objects
		namespace, _, _ := strings.Cut(objects.Placement+objects.ClusterRequest, "/")
		if parts := strings.Split(objects.Federated+objects.Workload, "/"); len(parts) > 1 {
			namespace = parts[1]
		}
		if objects.Placements != nil {
			namespace = objects.Placements.Namespace
		}
		namespaces[namespace] = true
	}
	if names := slices.Collect(maps.Keys(namespaces)); len(names) == 1 {
		return names[0]
	}
	return ""
}

// readLiveSystems reads what cases about delivered objects, workloads and ClusterRequests need.
func (o *Options) readLiveSystems(ctx context.Context, hub hubstate.Source, state *explain.State, read []*cases.Case) error {
	var (
		delivered, requested bool
		workloads            []hubstate.Workload
		names, namespaces    []string
	)
	for _, c := range read {
		objects := &c.Spec.Objects
		delivered, requested = delivered || objects.Federated != "", requested || objects.ClusterRequest != ""
		if objects.Workload == "" || slices.Contains(names, objects.Workload) {
			continue
		}
		workload, err := workloadOf(objects.Workload)
		if err != nil {
			return exit.InFiles(fmt.Errorf("%s: spec.objects.workload: %w", c.Place(), err))
		}
		names, workloads, namespaces = append(names, objects.Workload), append(workloads, workload), append(namespaces, workload.Namespace)
	}
	if delivered {
		if err := hub.AddDelivery(ctx, state, namespaceOf(read)); err != nil {
			return err
		}
		if state.Federated.Forbidden {
			return fmt.Errorf("spec.objects.federated: it is not known where objects are delivered: %s; "+
				"ask an administrator of the hub for these rights",
				strings.Join(state.Federated.Missing, "; "))
		}
	}
	if len(workloads) > 0 {
		slices.Sort(namespaces)
		objects, err := hub.Workloads(ctx, workloads, slices.Compact(namespaces)...)
		if err != nil {
			return err
		}
		state.Pods = *objects
	}
	if requested {
		objects, err := hub.Requests(ctx)
		if err != nil {
			return err
		}
		state.ClusterRequests = *objects
	}
	return nil
}

// readLiveObjects reads the objects that changes of cases apply, and their Namespaces, as the API server has them: its fields and their owners decide
// what a write does. Objects that may not be listed are as the State has them.
func (o *Options) readLiveObjects(ctx context.Context, hub client.Reader, read []*cases.Case) error {
	var all []statefile.Manifest
	for next := range o.eachApplied(read) {
		if manifests, err := next.changes.Manifests(); err == nil { // Otherwise it is an error of the case.
			all = append(all, manifests...)
		}
	}
	var err error
	if o.writes.Asked, err = dryrun.Live(ctx, hub, all); err != nil {
		return err
	}
	o.Live = o.writes.Asked
	return dryrun.Namespaces(ctx, hub, all, &o.writes)
}

// workloadOf returns the workload of a name such as "Deployment.apps/team-a/web".
func workloadOf(text string) (hubstate.Workload, error) {
	parts := strings.Split(text, "/")
	kind, known := pods.FindKind(parts[0])
	if !known {
		return hubstate.Workload{}, fmt.Errorf("%q is no kind of workloads; use one of %s", parts[0], strings.Join(objectnames.WorkloadTypes(), ", "))
	}
	return hubstate.Workload{Kind: kind, Namespace: parts[1], Name: parts[2]}, nil
}

// changed are the objects of a file or directory that a change names: those that placement simulate --add takes, or those that placement diff
// compares.
type changed struct {
	// fleet is nil for objects that are compared.
	fleet   *explain.State
	given   *explain.State
	changes *statefile.ChangeReader
	// added has read the objects of fleet.
	added *statefile.Reader
}

// readChanged reads a file or directory, relative to the file of a case.
func (o *Options) readChanged(c *cases.Case, field, path string) (*changed, error) {
	if !filepath.IsAbs(path) && c.File != "stdin" {
		path = filepath.Join(filepath.Dir(c.File), path)
	}
	namespace, err := o.FileNamespace()
	if err != nil {
		return nil, err
	}
	fleet, err := hubflags.Definitions.Reader(statefile.Applied, statefile.Namespace{Name: namespace}, o.Delivered)
	if err != nil {
		return nil, err
	}
	read := &changed{added: fleet}
	if read.changes, err = hubflags.Definitions.ChangeReader(statefile.Namespace{Name: namespace}, o.Delivered); err != nil {
		return nil, err
	}
	take := func(name string, content []byte) {
		fleet.Read(name, content)
		read.changes.Read(name, content)
	}
	if err := hubflags.ReadPaths(field, []string{path}, strings.NewReader(""), take); err != nil {
		return nil, err
	}
	if read.fleet, err = fleet.Additions(); err == nil {
		read.given = read.fleet
		return read, nil
	}
	read.fleet = nil
	read.given, err = read.changes.State()
	return read, err
}

// eachApplied yields what changes of cases apply, each file once. A file that cannot be read is an error of its case.
func (o *Options) eachApplied(read []*cases.Case) iter.Seq[*changed] {
	return func(yield func(*changed) bool) {
		known := map[[2]string]bool{}
		for _, c := range read {
			if c.Spec.When == nil {
				continue
			}
			for _, change := range c.Spec.When.Changed {
				id := [2]string{c.File, change.Apply} // The path is relative to the file of the case.
				if change.Apply == "" || known[id] {
					continue
				}
				known[id] = true
				if next, err := o.readChanged(c, "apply", change.Apply); err == nil && !yield(next) {
					return
				}
			}
		}
	}
}

// applied reports which objects changes of cases apply, by their identities.
func (o *Options) applied(read []*cases.Case) func(identity string) bool {
	var all []*statefile.Reader
	for next := range o.eachApplied(read) {
		all = append(all, next.added)
	}
	return func(identity string) bool {
		return slices.ContainsFunc(all, func(next *statefile.Reader) bool { return next.Has(identity) })
	}
}

// each yields the objects.
func (c *changed) each() iter.Seq2[*explain.Kind, api.Object] {
	return c.given.Each(explain.OfPlacements | explain.OfDelivery | explain.OfPods | explain.OfRequests)
}

// without yields the objects that others are not.
func (c *changed) without(others *changed) iter.Seq2[*explain.Kind, api.Object] {
	stay := map[string]bool{}
	for kind, object := range others.each() {
		stay[kind.Name(object)] = true
	}
	return func(yield func(*explain.Kind, api.Object) bool) {
		for kind, object := range c.each() {
			if !stay[kind.Name(object)] && !yield(kind, object) {
				return
			}
		}
	}
}

// applying carries out changes that name files or directories.
type applying struct {
	*Options
	// review evaluates the admission policies for objects that are added.
	review func(reader *statefile.Reader, hub *explain.State) error
	// world has the objects before all changes, of which Live has some as files have them.
	world *explain.State
	// unknown has a text for each object of which it is not known how it is written.
	unknown []string
}

// newApplying returns an applying that works until ctx ends.
func (o *Options) newApplying(ctx context.Context) *applying {
	o.writes.Review = admission.NewReviewer(ctx, hubflags.Definitions.Policies)
	return &applying{
		Options: o,
		review: func(reader *statefile.Reader, hub *explain.State) error {
			_, err := reader.Review(ctx, hub) // A case has no warnings.
			return err
		},
	}
}

// run evaluates cases. A case whose result depends on how files are written, which is not known, has an error.
func (a *applying) run(world evaluate.World, read []*cases.Case) evaluate.Results {
	world.Files, a.world = a.change, world.State
	results := evaluate.Run(world, read)
	if unknown := a.unknown; len(unknown) > 0 {
		world.Coverage, a.writes.InDoubt = false, writes.ServerSide
		otherwise := evaluate.Run(world, read)
		results.Doubt(&otherwise, unknown[0])
	}
	return results
}

// change returns a State after a change.
func (a *applying) change(state *explain.State, c *cases.Case, change *cases.Change, now time.Time) (*explain.State, error) {
	if change.Delete != "" {
		gone, err := a.readChanged(c, "delete", change.Delete)
		if err != nil {
			return nil, err
		}
		return state.Without(gone.each())
	}
	next, err := a.readChanged(c, "apply", change.Apply)
	if err != nil {
		return nil, err
	}
	if change.Old != "" {
		old, err := a.readChanged(c, "old", change.Old)
		if err != nil {
			return nil, err
		}
		if state, err = state.Without(old.without(next)); err != nil {
			return nil, fmt.Errorf("old: %w", err)
		}
	}
	live := a.unchanged(state, next)
	if next.fleet != nil {
		next.added.Update(live)
		if err := a.review(next.added, state); err != nil {
			return nil, err
		}
		return replaceFleet(state, next.fleet, now)
	}
	how := a.writes
	how.Asked = live
	after, applied, err := next.changes.Apply(state, &how)
	for _, one := range applied {
		if one.Doubt != "" {
			a.unknown = append(a.unknown, fmt.Sprintf("apply: it is not known how %s is written, so placement diff has two results: %s",
				one.Result.Object, one.Doubt))
		}
	}
	return after, errors.Join(err, refusedOf(applied))
}

// unchanged returns the objects that files have and that a State still has as it was before all changes.
func (a *applying) unchanged(state *explain.State, next *changed) map[string]*statefile.Asked {
	live := map[string]*statefile.Asked{}
	for kind, object := range next.each() {
		identity := statefile.Identity(kind, object)
		if asked := a.Live[identity]; asked != nil && kind.Find(state, object) == kind.Find(a.world, object) {
			live[identity] = asked
		}
	}
	return live
}

// refusedOf returns an error about the first object that admission would refuse.
func refusedOf(applied []explain.Applied) error {
	for _, one := range applied {
		if len(one.Result.Refused) > 0 {
			return fmt.Errorf("%s would be refused: %s", one.Result.Object, strings.Join(one.Result.Refused, "; "))
		}
	}
	return nil
}

// replaceFleet returns a State with clusters and other objects, which replace those of the same names.
func replaceFleet(state, added *explain.State, now time.Time) (*explain.State, error) {
	present := map[string]bool{}
	for _, cluster := range state.Clusters {
		present[cluster.Name] = true
	}
	isPresent := func(cluster *clusterv1.ManagedCluster) bool { return present[cluster.Name] }
	created := slices.DeleteFunc(slices.Clone(added.Clusters), isPresent)
	replaced := *added
	replaced.Clusters = slices.DeleteFunc(slices.Clone(added.Clusters), func(cluster *clusterv1.ManagedCluster) bool { return !isPresent(cluster) })
	state, err := whatif.Apply(state, now, whatif.Add{Clusters: created})
	if err != nil {
		return nil, err
	}
	after, applied, err := state.With(replaced.Each(explain.OfPlacements | explain.OfDelivery | explain.OfPods | explain.OfRequests))
	return after, errors.Join(err, refusedOf(applied))
}

// writeRecord writes the cases of the present decisions into the file of --record.
func (o *Options) writeRecord(ctx context.Context, state *explain.State, now time.Time) error {
	content, err := os.ReadFile(o.Record)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return exit.InFiles(fmt.Errorf("--record: %w", err))
	}
	settings := o.HubSettings()
	settings.Configure(state)
	state.Done = ctx.Done()
	decisions := evaluate.Decisions(evaluate.World{State: state, Now: now})
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("--record: nothing was written, because the command was interrupted: %w", err)
	}
	if len(decisions) == 0 {
		return errors.New("--record: there is no Placement with a valid result, so that there is nothing to record")
	}
	recorded, err := cases.Record(content, decisions)
	if err != nil {
		return exit.InFiles(fmt.Errorf("--record: %s: %w", o.Record, err))
	}
	if bytes.Equal(content, recorded) {
		return nil
	}
	const mode = 0o644                                             // as other files of a repository
	if err := os.WriteFile(o.Record, recorded, mode); err != nil { //nolint:gosec // The user names the file.
		return fmt.Errorf("--record: %w", err)
	}
	return nil
}

// testProgress shows on a terminal how many combinations of clusters were tried.
type testProgress struct {
	out   io.Writer
	shown bool
}

// newTestProgress returns a progress that shows nothing unless the output is a terminal.
func newTestProgress(out io.Writer) *testProgress {
	if file, is := out.(*os.File); !is || !term.IsTerminal(int(file.Fd())) || os.Getenv("TERM") == "dumb" {
		out = nil
	}
	return &testProgress{out: out}
}

// progressEvery is the number of combinations between two lines.
const progressEvery = 100

func (p *testProgress) show(names []string, tried, of uint64) {
	if p.out == nil || tried%progressEvery != 0 || of <= progressEvery {
		return
	}
	p.shown = true
	p.print(fmt.Sprintf("\r\x1b[K%s: tried %d of %d combinations", strings.Join(names[:min(len(names), 2)], ", "), tried, of))
}

func (p *testProgress) end() {
	if p.shown {
		p.print("\r\x1b[K")
	}
}

// print writes to the terminal. Without a terminal that can be written to, there is no progress.
func (p *testProgress) print(text string) {
	if _, err := io.WriteString(p.out, text); err != nil {
		p.out, p.shown = nil, false
	}
}

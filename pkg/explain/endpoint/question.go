// SPDX-License-Identifier: Apache-2.0

package endpoint

import (
	"errors"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/placement-hub/placement-hub/pkg/explain/writes"
)

// Path is the path of the endpoint.
const Path = "/explanations"

// The ConfigMap in the namespace of the hub with the address of the endpoint, which authenticated users may read.
const (
	ConfigMap = "placement-explanations"
	// URLKey has the URL of the endpoint, and AuthoritiesKey the certificate authorities that have signed its certificate, in PEM.
	URLKey         = "url"
	AuthoritiesKey = "ca.crt"
	// ControllersKey has the controllers that the hub runs, separated by commas.
	ControllersKey = "controllers"
)

const (
	// maxBodyBytes bounds a Question.
	maxBodyBytes = 1 << 20
	// maxKinds bounds the kinds of a Question, maxClusters the clusters to explain in full, and maxBindings the bindings that are left out.
	maxKinds    = 30
	maxClusters = 20
	maxBindings = 20
	// maxNameBytes bounds each name of an object, a namespace, a kind or a group, and maxWordBytes a command and a format.
	maxNameBytes = 253
	maxWordBytes = 63
	// maxManager bounds a field manager, as an API server does.
	maxManager = 128
	// maxWidth bounds the columns of a terminal.
	maxWidth = 10000
)

// The writes that a Question may name.
const (
	writeClientSide = string(writes.ClientSide)
	writeServerSide = string(writes.ServerSide)
	writeReplace    = string(writes.Replace)
)

// MaxNames bounds the objects of a Question.
const MaxNames = 20

// MaxWorkloads bounds the Workloads of a Question. The API server reviews the rights on each of their kinds, and not on each of them.
const MaxWorkloads = 100

// The commands of placement that a Question asks for.
const (
	CommandExplain   = "explain"
	CommandDiff      = "diff"
	CommandSimulate  = "simulate"
	CommandFederated = "federated"
	CommandHistory   = "history"
)

// Question asks for the explanation of objects of one namespace. Its JSON names are stable.
type Question struct {
	// Command is what the hub does for the user; empty means CommandExplain, or with Manifests CommandDiff.
	Command   string `json:"command,omitempty"`
	Namespace string `json:"namespace"`
	// Objects are the objects to explain, all Placements, all ClusterRequests, or others; those of Manifests to compare; or the Placements to
	// simulate. An explanation of none lists the unsatisfied Placements.
	Objects []Object `json:"objects,omitempty"`
	// Kinds are those whose objects the user may list in the namespace. The answer of simulate, diff and federated shows only objects of these
	// kinds, besides Objects. Explanations have none.
	Kinds []KindRef `json:"kinds,omitempty"`
	// Clusters are explained in full; a history is of the rows that name one of them.
	Clusters []string `json:"clusters,omitempty"`
	// Manifests are the Objects in YAML or JSON, to compare with the hub as placement diff does, or to add to it as placement simulate --add does.
	// ShowKept lists the clusters that stay.
	Manifests string `json:"manifests,omitempty"`
	ShowKept  bool   `json:"showKept,omitempty"`
	// Write is how Manifests are compared: client-side, server-side or replace; empty for as each object says that it was written. FieldManager and
	// ForceConflicts are those of server-side.
	Write          string `json:"write,omitempty"`
	FieldManager   string `json:"fieldManager,omitempty"`
	ForceConflicts bool   `json:"forceConflicts,omitempty"`
	// Workloads are those for which PodSchedulingPolicies of Manifests are compared; their kinds are among Kinds. WorkloadsLeftOut counts the others
	// of the namespace, for a note in the answer.
	Workloads        []Object `json:"workloads,omitempty"`
	WorkloadsLeftOut int      `json:"workloadsLeftOut,omitempty"`
	// WithoutBindings are sets: simulate reports what changes if they are not bound to the namespace.
	WithoutBindings []string `json:"withoutBindings,omitempty"`
	// Since is the time before which rows of the history are left out. A history of all namespaces has no Namespace.
	Since *metav1.Time `json:"since,omitempty"`
	// Limit is the number of the latest rows of the history to answer; 0 for as many as the hub answers.
	Limit int `json:"limit,omitempty"`
	// Output is a format of the command, and Color adds terminal colours to tables.
	Output string `json:"output"`
	Color  bool   `json:"color,omitempty"`
	// AllClusters lists all clusters in tables, in place of the causes of many rejected ones. Width is the number of columns of the terminal, in
	// which tables are wrapped; 0 for no limit.
	AllClusters bool `json:"allClusters,omitempty"`
	Width       int  `json:"width,omitempty"`
}

// KindRef names a kind of objects.
type KindRef struct {
	Group string `json:"group,omitempty"`
	Kind  string `json:"kind"`
}

// GroupKind returns the kind as the API machinery names it.
func (k KindRef) GroupKind() schema.GroupKind { return schema.GroupKind{Group: k.Group, Kind: k.Kind} }

// Object names an object of the namespace of a Question.
type Object struct {
	Group string `json:"group,omitempty"`
	Kind  string `json:"kind"`
	Name  string `json:"name"`
}

// GroupKind returns the kind of an Object.
func (o Object) GroupKind() schema.GroupKind { return schema.GroupKind{Group: o.Group, Kind: o.Kind} }

// Answer is an explanation.
type Answer struct {
	// Output is in the format that the Question asks for. It may come with an Error.
	Output string `json:"output,omitempty"`
	// Differs reports a difference between the Manifests and the hub, or one that the simulated changes make.
	Differs bool `json:"differs,omitempty"`
	// Error says why there is no explanation, or what of it is missing.
	Error string `json:"error,omitempty"`
}

// complete fills in the command.
func (q *Question) complete() {
	switch {
	case q.Command != "":
	case q.Manifests != "":
		q.Command = CommandDiff
	default:
		q.Command = CommandExplain
	}
}

// validate returns what is wrong with a complete Question.
func (q *Question) validate() error {
	if q.Namespace == "" && (q.Command != CommandHistory || len(q.Objects) > 0) {
		return errors.New("namespace: it is required, because rights are those in a namespace")
	}
	if q.Width < 0 || q.Width > maxWidth {
		return fmt.Errorf("width: %d is no number of columns; give one from 0 to %d", q.Width, maxWidth)
	}

	if q.Limit < 0 {
		return fmt.Errorf("limit: %d is no number of rows; give 0 or more", q.Limit)
	}

	if err := errors.Join(
		atMost("objects", len(q.Objects), MaxNames), atMost("kinds", len(q.Kinds), maxKinds),
		atMost("clusters", len(q.Clusters), maxClusters), atMost("withoutBindings", len(q.WithoutBindings), maxBindings),
		atMost("workloads", len(q.Workloads), MaxWorkloads),
	); err != nil {
		return err
	}
	if err := errors.Join(q.validateLengths(), q.validateNames()); err != nil {
		return err
	}
	return q.validateCommand()
}

// validateLengths returns which texts are too long to be what they name. Errors may repeat the others.
func (q *Question) validateLengths() error {
	tooLong := func(field string, most int, texts ...string) error {
		for _, text := range texts {
			if len(text) > most {
				return fmt.Errorf("%s: %d bytes are too many; it has at most %d", field, len(text), most)
			}
		}
		return nil
	}
	errs := make([]error, 0, 4+len(q.Objects)+len(q.Kinds)+len(q.Workloads))
	errs = append(errs,
		tooLong("command, output, write", maxWordBytes, q.Command, q.Output, q.Write), tooLong("namespace", maxNameBytes, q.Namespace),
		tooLong("clusters", maxNameBytes, q.Clusters...), tooLong("withoutBindings", maxNameBytes, q.WithoutBindings...),
	)
	for i, object := range q.Objects {
		errs = append(errs, tooLong(fmt.Sprintf("objects[%d]", i), maxNameBytes, object.Group, object.Kind, object.Name))
	}
	for i, kind := range q.Kinds {
		errs = append(errs, tooLong(fmt.Sprintf("kinds[%d]", i), maxNameBytes, kind.Group, kind.Kind))
	}
	for i, workload := range q.Workloads {
		errs = append(errs, tooLong(fmt.Sprintf("workloads[%d]", i), maxNameBytes, workload.Group, workload.Kind, workload.Name))
	}
	return errors.Join(errs...)
}

// validateNames returns which name of an object, a kind or a set is missing.
func (q *Question) validateNames() error {
	for i, object := range q.Objects {
		if object.Kind == "" || object.Name == "" {
			return fmt.Errorf("objects[%d]: kind and name are required", i)
		}
	}
	for i, kind := range q.Kinds {
		if kind.Kind == "" {
			return fmt.Errorf("kinds[%d]: kind is required", i)
		}
	}

	for i, workload := range q.Workloads {
		if workload.Name == "" || !slices.Contains(q.Kinds, KindRef{Group: workload.Group, Kind: workload.Kind}) {
			return fmt.Errorf("workloads[%d]: a workload has a name, and a kind of those in kinds", i)
		}
	}
	if slices.Contains(q.WithoutBindings, "") {
		return errors.New("withoutBindings: a set has a name")
	}
	return nil
}

// validateCommand returns which field does not belong to the command.
func (q *Question) validateCommand() error {
	switch {
	case !slices.Contains([]string{CommandExplain, CommandDiff, CommandSimulate, CommandFederated, CommandHistory}, q.Command):
		return fmt.Errorf("command: unknown command %q; use %s, %s, %s, %s or %s",
			q.Command, CommandExplain, CommandDiff, CommandSimulate, CommandFederated, CommandHistory)
	case len(q.Clusters) > 0 && q.Command != CommandHistory && (q.Command != CommandExplain || len(q.Objects) != 1):
		return errors.New("clusters: they are explained for one object; name one in objects")
	case len(q.Kinds) > 0 && q.Command == CommandExplain:
		return errors.New("kinds: an explanation is of objects; name them in objects")
	case q.WorkloadsLeftOut < 0:
		return errors.New("workloadsLeftOut: it is a number of workloads; give 0 or more")
	case q.Command != CommandExplain && len(q.Objects)+len(q.Kinds) == 0:
		return errors.New("objects, kinds: name what is asked about")
	}
	for _, field := range []struct {
		name string
		set  bool
		of   string
	}{
		{"since", q.Since != nil, CommandHistory},
		{"limit", q.Limit > 0, CommandHistory},
		{"withoutBindings", len(q.WithoutBindings) > 0, CommandSimulate},
		{"workloads", len(q.Workloads) > 0, CommandDiff},
	} {
		if field.set && q.Command != field.of {
			return fmt.Errorf("%s: only the command %s has it; leave it out", field.name, field.of)
		}
	}
	return q.validateManifests()
}

func (q *Question) validateManifests() error {
	switch {
	case q.Manifests == "" && q.Command == CommandDiff:
		return errors.New("manifests: they are required by the command diff")
	case q.Manifests != "" && q.Command != CommandDiff && q.Command != CommandSimulate:
		return errors.New("manifests: they are of the commands diff and simulate; leave them out")
	case q.Manifests != "" && len(q.Objects) == 0:
		return errors.New("manifests: name their objects in objects")
	case q.Manifests != "" && q.Command == CommandSimulate && len(q.Kinds)+len(q.WithoutBindings) > 0:
		return errors.New("manifests: what they add is simulated by itself; leave out kinds and withoutBindings")
	default:
		return q.validateWrite()
	}
}

func (q *Question) validateWrite() error {
	serverSide := q.Write == writeServerSide
	switch {
	case !slices.Contains([]string{"", writeClientSide, writeServerSide, writeReplace}, q.Write), q.Write != "" && q.Command != CommandDiff:
		return fmt.Errorf("write: it is %s, %s or %s of the command diff", writeClientSide, writeServerSide, writeReplace)
	case (q.FieldManager == "" || len(q.FieldManager) > maxManager) == serverSide, q.ForceConflicts && !serverSide:
		return fmt.Errorf("fieldManager, forceConflicts: they are of the write %s, whose field manager has at most %d bytes",
			writeServerSide, maxManager)
	default:
		return nil
	}
}

func atMost(field string, count, most int) error {
	if count > most {
		return fmt.Errorf("%s: %d are too many; ask for at most %d at once", field, count, most)
	}
	return nil
}

package endpoint

import (
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Path is the path of the endpoint.
const Path = "/explanations"

// The ConfigMap in the namespace of the hub with the address of the endpoint, which authenticated users may read.
const (
	ConfigMap = "placement-explanations"
	// URLKey has the URL of the endpoint, and AuthoritiesKey the certificate authorities that have signed its certificate, in PEM.
	URLKey         = "url"
	AuthoritiesKey = "ca.crt"
)

const (
	// maxBodyBytes bounds a Question.
	maxBodyBytes = 1 << 20
	// maxNames bounds the objects of a Question, and maxClusters the clusters to explain in full.
	maxNames    = 20
	maxClusters = 20
	// maxWidth bounds the columns of a terminal.
	maxWidth = 10000
)

// Question asks for the explanation of objects of one namespace. Its JSON names are stable.
type Question struct {
	Namespace string `json:"namespace"`
	// Objects are the objects to explain, all Placements, all ClusterRequests, or others. Empty lists the unsatisfied Placements.
	Objects []Object `json:"objects,omitempty"`
	// Clusters are explained in full.
	Clusters []string `json:"clusters,omitempty"`
	// Manifests are the Placements of Objects, in YAML or JSON, to compare with the hub as placement diff does. ShowKept lists the clusters that
	// stay.
	Manifests string `json:"manifests,omitempty"`
	ShowKept  bool   `json:"showKept,omitempty"`
	// Output is a format of placement explain or diff, and Color adds terminal colours to tables.
	Output string `json:"output"`
	Color  bool   `json:"color,omitempty"`
	// AllClusters lists all clusters in tables, in place of the causes of many rejected ones. Width is the number of columns of the terminal, in
	// which tables are wrapped; 0 for no limit.
	AllClusters bool `json:"allClusters,omitempty"`
	Width       int  `json:"width,omitempty"`
}

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
	// Differs reports a difference between the Manifests and the hub.
	Differs bool `json:"differs,omitempty"`
	// Error says why there is no explanation, or what of it is missing.
	Error string `json:"error,omitempty"`
}

// validate returns what is wrong with a Question.
func (q *Question) validate() error {
	switch {
	case q.Namespace == "":
		return errors.New("namespace: it is required, because rights are those in a namespace")
	case len(q.Objects) > maxNames:
		return fmt.Errorf("objects: %d are too many; ask for at most %d at once", len(q.Objects), maxNames)
	case q.Width < 0 || q.Width > maxWidth:
		return fmt.Errorf("width: %d is no number of columns; give one from 0 to %d", q.Width, maxWidth)
	case len(q.Clusters) > maxClusters:
		return fmt.Errorf("clusters: %d are too many; ask for at most %d at once", len(q.Clusters), maxClusters)
	case q.Manifests != "" && (len(q.Objects) == 0 || len(q.Clusters) > 0):
		return errors.New("manifests: name their objects in objects, and no clusters")
	case len(q.Clusters) > 0 && len(q.Objects) != 1:
		return errors.New("clusters: they are explained for one object; name one in objects")
	}

	for i, object := range q.Objects {
		if object.Kind == "" || object.Name == "" {
			return fmt.Errorf("objects[%d]: kind and name are required", i)
		}
	}

	return nil
}

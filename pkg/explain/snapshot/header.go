// SPDX-License-Identifier: Apache-2.0

package snapshot

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// FormatVersion is the version of the documents that are written. The two minor versions of placement after one that writes a version read it.
const FormatVersion = 1

// Kind is the kind of the first document. No API server has it.
var Kind = schema.GroupVersionKind{Group: "placement-hub.open-cluster-management.io", Version: "v1alpha1", Kind: "PlacementSnapshot"}

// Header is the first document of a snapshot.
type Header struct {
	metav1.TypeMeta `json:",inline"`

	// FormatVersion is that of the writer.
	FormatVersion int `json:"formatVersion"`
	// Time is when the first list was requested.
	Time metav1.Time `json:"time"`
	// Namespace is that of the objects that were asked for; empty for all namespaces.
	Namespace string `json:"namespace,omitempty"`
	// Controllers are those that the hub says it runs; empty if it says nothing.
	Controllers []string `json:"controllers,omitempty"`
	// Kinds are those that were read.
	Kinds []Read `json:"kinds"`
	// Unread are those that were not read.
	Unread []Unread `json:"unread,omitempty"`
}

// Read is a kind that was read.
type Read struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	// Namespaces are those in which it was listed; empty for the whole hub.
	Namespaces []string `json:"namespaces,omitempty"`
	// ResourceVersion is that of the list, and of the first one if there are several.
	ResourceVersion string `json:"resourceVersion,omitempty"`
	Objects         int    `json:"objects"`
}

// Unread is a kind that was not read, or not in all namespaces.
type Unread struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	// Namespace is where it was not read; empty for the whole hub.
	Namespace string `json:"namespace,omitempty"`
	Reason    string `json:"reason"`
	// Absent reports that the hub does not serve the kind, so that nothing is missing.
	Absent bool `json:"absent,omitempty"`
}

// Check returns an error about a version that this package does not read.
func (h *Header) Check() error {
	if h.FormatVersion != FormatVersion {
		return fmt.Errorf("formatVersion: %d is not read by this version of placement, which reads %d; use the version that wrote the snapshot, or "+
			"take another one", h.FormatVersion, FormatVersion)
	}
	return nil
}

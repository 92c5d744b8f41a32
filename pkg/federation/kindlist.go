// SPDX-License-Identifier: Apache-2.0

package federation

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation"
)

var (
	kindVersion = regexp.MustCompile(`^v[1-9]\d*((alpha|beta)[1-9]\d*)?$`)
	kindName    = regexp.MustCompile(`^[A-Z][A-Za-z0-9]*$`)
)

const groupOCM = "open-cluster-management.io"

// undeliverable has the reasons for which kinds of Kubernetes are never delivered.
var undeliverable = map[schema.GroupKind]string{
	{Kind: kindNamespace}:        "each member gets the Namespace with the first object in it",
	{Kind: "Pod"}:                "it is bound to a Node of the hub; deliver the Deployment that makes it",
	{Kind: "Event"}:              "it says what happened on the hub",
	{Kind: "Endpoints"}:          "each member makes those of its own Pods",
	{Kind: "ServiceAccount"}:     "the annotation " + PropagateDependenciesAnnotation + " of a workload creates it, without rights",
	{Kind: "Binding"}:            notStored,
	{Kind: "PodTemplate"}:        "no member runs it; deliver a Deployment",
	{Kind: "ControllerRevision"}: "the controllers of each member make their own",

	{Group: "events.k8s.io", Kind: "Event"}:            "it says what happened on the hub",
	{Group: "discovery.k8s.io", Kind: "EndpointSlice"}: "each member makes those of its own Pods",
	{Group: "coordination.k8s.io", Kind: "Lease"}:      "it is a lock of the processes that use the hub",
}

const notStored = "API servers do not store it"

// undeliverableGroups has the reasons for which no kind of a group is delivered.
var undeliverableGroups = map[string]string{
	"multicluster.x-k8s.io":   "it is about the fleet of the hub",
	"cluster.openmcp.cloud":   "it is about the fleet of the hub",
	"authorization.k8s.io":    notStored,
	"authentication.k8s.io":   notStored,
	"metrics.k8s.io":          notStored,
	"custom.metrics.k8s.io":   notStored,
	"external.metrics.k8s.io": notStored,
}

// ParseKinds returns the kinds in values of the form group/version/Kind, or version/Kind for the core group, each once. It returns an error
// that names every value that is malformed, every kind that is never delivered with the reason, and a kind with two versions. It does not
// know which kinds are namespaced.
func ParseKinds(values []string) ([]schema.GroupVersionKind, error) {
	var (
		kinds []schema.GroupVersionKind
		errs  []error
	)
	versions := map[schema.GroupKind]string{}
	for _, kind := range DefaultKinds() {
		versions[kind.GroupKind()] = kind.Version
	}

	for _, value := range values {
		kind, err := parseKind(value)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		version, known := versions[kind.GroupKind()]

		switch reason := neverDelivered(kind); {
		case reason != "":
			errs = append(errs, fmt.Errorf("%q is never delivered: %s", value, reason))
		case !known:
			versions[kind.GroupKind()] = kind.Version
			kinds = append(kinds, kind)
		case version != kind.Version:
			errs = append(errs, fmt.Errorf("%q is delivered in version %s; leave one of them out", value, version))
		}
	}

	return kinds, errors.Join(errs...)
}

// parseKind returns the kind in a value.
func parseKind(value string) (schema.GroupVersionKind, error) {
	parts := strings.Split(value, "/")
	if len(parts) == len("vk") {
		parts = slices.Insert(parts, 0, "")
	}
	if len(parts) != len("gvk") || !kindVersion.MatchString(parts[1]) || !kindName.MatchString(parts[2]) ||
		(parts[0] == "") != (strings.Count(value, "/") == 1) || parts[0] != "" && len(validation.IsDNS1123Subdomain(parts[0])) > 0 {
		return schema.GroupVersionKind{}, fmt.Errorf(
			"%q must be group/version/Kind, such as batch/v1/CronJob, or v1/PersistentVolumeClaim for a kind of the core group", value)
	}
	return schema.GroupVersionKind{Group: parts[0], Version: parts[1], Kind: parts[2]}, nil
}

// neverDelivered returns why no object of a kind is delivered, or "".
func neverDelivered(kind schema.GroupVersionKind) string {
	switch {
	case kind == placements:
		return "" // A hub of hubs delivers them: docs/scaling.md.
	case undeliverable[kind.GroupKind()] != "":
		return undeliverable[kind.GroupKind()]
	case kind.Group == groupOCM || strings.HasSuffix(kind.Group, "."+groupOCM):
		return "it is about the fleet of the hub"
	default:
		return undeliverableGroups[kind.Group]
	}
}

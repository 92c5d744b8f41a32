// SPDX-License-Identifier: Apache-2.0

package workagent

import (
	"context"
	"embed"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"

	"github.com/placement-hub/placement-hub/manifests"
)

//go:generate sh -c "cp $(go list -f {{.Dir}} open-cluster-management.io/api/work/v1)/*_appliedmanifestworks.crd.yaml manifests/work.open-cluster-management.io_appliedmanifestworks.yaml"

//go:embed manifests/*.yaml
var files embed.FS

// MemberUser is the user in the member with the rights of a work agent: the ServiceAccount of OCM, as which a certificate authenticates too.
const MemberUser = "system:serviceaccount:open-cluster-management-agent:klusterlet-work-sa"

// MemberRoles returns the names of the ClusterRoles that PrepareMember binds MemberUser to, for agents that authenticate as another user.
func MemberRoles() []string {
	return []string{
		"open-cluster-management:klusterlet-work:agent", "open-cluster-management:klusterlet-work:execution",
		"system:aggregate-to-admin", "system:aggregate-to-edit", "system:aggregate-to-view",
	}
}

// HubUser returns the user and the groups as which the agents of a registered ManagedCluster authenticate on the hub.
func HubUser(cluster string) (user string, groups []string) {
	group := "system:open-cluster-management:" + cluster
	return group + ":" + cluster, []string{"system:open-cluster-management", group}
}

// GrantHub lets the agents of a ManagedCluster work on the hub that config administers. They may read and report on the ManifestWorks of the
// cluster's namespace, which must exist, and nothing elsewhere.
func GrantHub(ctx context.Context, config *rest.Config, cluster string) error {
	content, err := files.ReadFile("manifests/hub.yaml")
	if err == nil {
		err = apply(ctx, config, "hub.yaml", strings.ReplaceAll(string(content), "CLUSTER", cluster))
	}
	if err != nil {
		return fmt.Errorf("granting the agents of cluster %s their rights on the hub: %w", cluster, err)
	}
	return nil
}

// PrepareMember installs the definition of AppliedManifestWorks, the namespace of the agent and the rights of MemberUser in the member that
// config administers. It may be repeated.
func PrepareMember(ctx context.Context, config *rest.Config) error {
	for _, name := range []string{"work.open-cluster-management.io_appliedmanifestworks.yaml", "member.yaml"} {
		content, err := files.ReadFile("manifests/" + name)
		if err == nil {
			err = apply(ctx, config, name, string(content))
		}
		if err != nil {
			return fmt.Errorf("preparing a member for its work agent: %w", err)
		}
	}
	return nil
}

// apply applies the objects in a manifest.
func apply(ctx context.Context, config *rest.Config, name, content string) error {
	objects, err := manifests.Decode(strings.NewReader(content), name)
	if err != nil {
		return err
	}
	for _, object := range objects {
		// The empty status at the end of the upstream definition belongs to the API server.
		unstructured.RemoveNestedField(object.Object, "status")
	}
	return manifests.Apply(ctx, config, objects)
}

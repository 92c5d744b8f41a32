// SPDX-License-Identifier: Apache-2.0

package manifests

import (
	"fmt"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// rolePrefix begins the name of every role of the hub.
const rolePrefix = "open-cluster-management:placement-hub:"

// Role has the rules of the ClusterRole and of the Role with one name. Either may be absent.
type Role struct {
	Cluster    []rbacv1.PolicyRule
	Namespaced []rbacv1.PolicyRule // in the namespace of the hub
}

// Roles returns the roles in rbac, multicluster, history and the systems by their names without the prefix open-cluster-management:placement-hub:.
func Roles() (map[string]Role, error) {
	objs, err := objectsIn(append([]string{"rbac", multicluster, history}, Systems()...)...)
	if err != nil {
		return nil, err
	}
	roles := map[string]Role{}

	for _, obj := range objs {
		name, found := strings.CutPrefix(obj.GetName(), rolePrefix)
		if !found {
			continue
		}
		var decoded struct {
			Rules []rbacv1.PolicyRule `json:"rules"`
		}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(obj.Object, &decoded); err != nil {
			return nil, fmt.Errorf("%s: %w", describe(obj), err)
		}

		role := roles[name]
		switch obj.GetKind() {
		case "ClusterRole":
			role.Cluster = decoded.Rules
		case "Role":
			role.Namespaced = decoded.Rules
		default:
			continue
		}
		roles[name] = role
	}

	return roles, nil
}

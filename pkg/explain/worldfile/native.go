package worldfile

import (
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/validate/content"
	metavalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// natives are the kinds of a world that an API server knows without a CustomResourceDefinition: they say who may bind which sets.
var natives = map[schema.GroupVersionKind]admitter{
	rbacv1.SchemeGroupVersion.WithKind("ClusterRole"): &native{identified: identified{kind: "ClusterRole", nameRule: pathSegment}},
	rbacv1.SchemeGroupVersion.WithKind("ClusterRoleBinding"): &native{
		identified: identified{kind: "ClusterRoleBinding", nameRule: pathSegment}, check: checkRoleRef,
	},
	corev1.SchemeGroupVersion.WithKind("ServiceAccount"): &native{identified: identified{
		kind: "ServiceAccount", namespaced: true, nameRule: metavalidation.NameIsDNSSubdomain,
	}},
}

// native checks the metadata; unknown fields and wrong types show when the object is read.
type native struct {
	identified
	check func(object map[string]any) []finding // of the rest; nil: nothing to check
}

func (n *native) admit(object map[string]any) []finding {
	findings := n.checkMetadata(object)
	if n.check != nil {
		findings = append(findings, n.check(object)...)
	}

	return findings
}

// checkRoleRef finds what would make a ClusterRoleBinding grant nothing.
func checkRoleRef(object map[string]any) []finding {
	ref, _ := object["roleRef"].(map[string]any)
	if _, hasName := text(ref, "name"); !hasName {
		return []finding{{"roleRef.name", "is required: name the ClusterRole"}}
	}

	if kind, _ := text(ref, "kind"); kind != "ClusterRole" {
		return []finding{{"roleRef.kind", "must be ClusterRole: a ClusterRoleBinding can refer to nothing else"}}
	}

	return nil
}

// pathSegment is the rule for names in RBAC, which may have colons.
func pathSegment(name string, _ bool) []string {
	return content.IsPathSegmentName(name)
}
